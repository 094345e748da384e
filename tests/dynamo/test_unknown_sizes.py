"""Programs traced for unknown sizes: what they may do with them, how they are guarded, what the user can ask for."""

from __future__ import annotations

import math

import pytest

import minitorch_compile as torch
from minitorch_compile import logs
from minitorch_compile.dynamo import mark_dynamic, mark_static, mark_unbacked, maybe_mark_dynamic, optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter, eager
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import ConstraintViolationError


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a.nan_to_num(), b.nan_to_num()) and a.stride() == b.stride()
    return type(a) is type(b) and a == b


def graphs_for(function, *calls, **settings):
    """How many graphs the calls need; each result is compared with the plain function's."""
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter, **settings)
    for arguments in calls:
        got, expected = tree_leaves(compiled(*arguments)), tree_leaves(function(*arguments))
        assert all(same(a, b) for a, b in zip(got, expected, strict=True)), (got, expected)
    return counter.frame_count


def rows(*counts, columns=4):
    return [(torch.arange(n * columns).view(n, columns) * 0.5,) for n in counts]


def size_guards(compiled, entry=0):
    return [g.code for g in region_of(compiled).caches[0].entries[entry].guards if g.kind == "SHAPE_ENV"]


# --- what programs do with sizes --------------------------------------------------------------------------------------

PROGRAMS = {
    "arithmetic": lambda x: x * ((x.shape[0] + 1) * 2 - 3 // x.shape[0]),
    "all ways to ask": lambda x: x * (len(x) + x.size(0) + x.size()[0] + x.shape[-2] + x.numel() + x.stride(0)),
    "returned": lambda x: (x + 1, x.shape, x.shape[0] // 2, x.numel() % 3, -len(x)),
    "in containers": lambda x: {"n": x.shape[0], "list": [x.size(0) * 2, (x + 1,)]},
    "sum of sizes": lambda x: x + sum(x.shape),
    "greatest": lambda x: x * max(x.shape[0], x.shape[1]) + min(2, x.shape[0]),
    "text": lambda x: (x + 1, f"{x.shape[0]:>4}|{len(x) * 2}"),
    "unpacked": lambda x: (lambda r, c: x.reshape(c, r) * r)(*x.shape),
    "new tensors": lambda x: torch.zeros(x.shape[0], 2) + torch.ones(x.size(0), 1) + torch.full((len(x), 2), 3.0),
    "counting": lambda x: x + torch.arange(x.shape[0]).unsqueeze(1),
    "views": lambda x: x.view(-1).view(x.shape[0] * 2, 2).unsqueeze(0).expand(3, -1, 2).permute(2, 0, 1),
    "flattened": lambda x: x.flatten().unflatten(0, (-1, 4)).T.reshape(-1),
    "slices": lambda x: (x[1:] + x[:-1], x[: len(x) // 2], x[-2:], x[..., 1::2], x[:, None]),
    "joined": lambda x: (torch.cat([x, x[1:]]), torch.stack([x, x], 1), x.repeat(2, 1)),
    "parts": lambda x: [part * 2 for part in (*x.split(2, 1), *x.chunk(2, 1), *x.unbind(1))],
    "reduced": lambda x: (x.mean(0), x.var(0), x.sum() / x.shape[0], x.amax(1, keepdim=True), x.std()),
    "products": lambda x: (x @ x.T, torch.einsum("ij,kj->ik", x, x), torch.outer(x[:, 0], x[0])),
    "normalised": lambda x: torch.softmax(x, 0) + torch.nn.functional.layer_norm(x, (4,)),
    "padded": lambda x: torch.nn.functional.pad(x, (1, 2, len(x), 0)),
    "masked": lambda x: torch.where(torch.ones(len(x), len(x)).tril() > 0, x @ x.T, -1.0),
    "by halves": lambda x: x / 2 if len(x) % 2 else x * 2,
    "equal to another": lambda x: x + 1 if x.shape[0] == x.shape[1] else x - 1,
    "square root": lambda x: x * math.sqrt(x.shape[0]),
    "true quotient": lambda x: x * (1 / x.shape[0]) + x.shape[0] / 2,
    "power": lambda x: x * x.shape[0] ** 2 + x.shape[0] ** 0.5,
    "in place": lambda x: torch.zeros(len(x), 4).add_(x).mul_(len(x)),
    "written slice": lambda x: torch.zeros(len(x) + 1, 4).index_copy(0, torch.arange(len(x)), x),
    "comprehension": lambda x: [x[i] * i for i in range(min(2, len(x)))],
    "list of so many": lambda x: [x.shape[1]] * len(x),
    "key of a dict": lambda x: ({4: "four"}.get(len(x), "other"), x + 1),
    "member": lambda x: x + 1 if len(x) in (3, 5) else x - 1,
}


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same_at_every_size(name, dynamic):
    assert graphs_for(PROGRAMS[name], *rows(3, 4, 5, 6, 2, 1, 7, 8), dynamic=dynamic) <= 9


ONE_FOR_ALL = set(PROGRAMS) - {
    *("by halves", "equal to another", "square root", "true quotient", "power", "comprehension", "list of so many"),
    *("key of a dict", "member", "slices", "in containers", "greatest"),
}


@pytest.mark.parametrize("name", sorted(ONE_FOR_ALL))
def test_most_programs_need_one_graph_for_all_sizes(name):
    assert graphs_for(PROGRAMS[name], *rows(5, 6, 7, 8, 9, 12, 31), dynamic=True) == 1


def test_sizes_that_broadcast_are_guarded():
    def f(x, y):
        return x + y

    sizes = ((3, 3), (4, 4), (5, 1), (1, 5), (6, 6), (1, 1), (0, 1))
    assert graphs_for(f, *((torch.ones(a), torch.ones(b)) for a, b in sizes), dynamic=True) <= 6
    compiled = optimize(f, eager, dynamic=True)
    compiled(torch.ones(3), torch.ones(3))
    with pytest.raises(RuntimeError, match="must match the size"):
        compiled(torch.ones(3), torch.ones(4))


def test_zero_one_and_many_are_three_versions():
    assert graphs_for(lambda x: x.sum(0) + 1, *rows(0, 1, 2, 3, 0, 1, 9), dynamic=True) == 3


def test_transposed_and_sliced_inputs_have_their_own_strides():
    inputs = [
        torch.randn(4, 3).T,
        torch.randn(5, 3).T,
        torch.randn(3, 6),
        torch.randn(3, 12)[:, ::2],
        torch.randn(3, 7),
    ]
    assert graphs_for(lambda x: x.contiguous().view(-1) * x.stride(0), *((x,) for x in inputs)) <= 4


def test_a_number_that_changes_is_an_input_of_the_graph():
    x = torch.ones(3)
    assert graphs_for(lambda x, n: x * n + (n - 1), *((x, n) for n in (5, 6, -7, 1, 0, 8))) == 2


def test_numbers_in_modules_stay_settings():
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = 3

        def forward(self, x):
            return x * self.factor

    counter = CompileCounter()
    compiled = torch.compile(Scale(), backend=counter, dynamic=True)
    compiled(torch.ones(3))
    assert "* 3" in counter.graphs[0].graph.compact()


# --- guards -----------------------------------------------------------------------------------------------------------


def test_guards_say_what_the_program_asked_about_sizes():
    def f(x, y):
        if x.shape[0] > 3 and y.shape[0] % 4 == 0:
            return x.sum() + y
        return x

    compiled = optimize(f, eager, dynamic=True)
    compiled(torch.ones(5), torch.ones(8))
    assert size_guards(compiled) == ["4 <= x.sizes[0]", "2 <= y.sizes[0]", "y.sizes[0] % 4 == 0"]


def test_equal_sizes_are_one_symbol_when_all_are_dynamic():
    compiled = optimize(lambda x, y: x + y, eager, dynamic=True)
    compiled(torch.ones(5), torch.ones(5))
    assert size_guards(compiled) == ["y.sizes[0] == x.sizes[0]", "2 <= x.sizes[0]"]


def test_a_guard_names_the_line_that_asked_and_the_value_that_came():
    def f(x):
        if x.shape[0] % 2 == 0:
            return x + 1
        return x

    compiled = optimize(f, eager, dynamic=True)
    with logs.capture("guards", "dynamic", "recompiles") as records:
        compiled(torch.ones(4))
        compiled(torch.ones(5))
    texts = {record.name: record.text for record in records}
    assert "x.sizes[0] % 2 == 0    # test_unknown_sizes.py:" in "\n".join(r.text for r in records)
    assert "x.sizes[0] % 2 == 0" in texts["recompiles"] and "now 5" in texts["recompiles"]


def test_a_divisor_that_becomes_zero_is_a_miss_and_not_an_error():
    def f(x):
        return x + 1, 12 // (x.shape[0] - 3) if x.shape[0] != 3 else 0

    assert graphs_for(f, *rows(5, 6, 3, 4, 7)) <= 4


# --- marks ------------------------------------------------------------------------------------------------------------


def marked(n, mark=mark_dynamic, columns=4, **limits):
    x = torch.ones(n, columns)
    mark(x, 0, **limits)
    return x


def test_a_marked_dimension_is_unknown_from_the_first_call_on():
    assert graphs_for(lambda x: x * 2, (marked(3),), (marked(4),), (torch.ones(5, 4),), (torch.ones(9, 4),)) == 1


def test_a_marked_dimension_that_is_specialised_names_the_line():
    def f(x):
        return x * len(list(range(x.shape[0])))

    with pytest.raises(ConstraintViolationError, match=r"x.sizes\[0\] was marked dynamic.*size 3.*test_unknown_sizes"):
        torch.compile(f, backend="eager")(marked(3))
    assert graphs_for(f, (marked(3, maybe_mark_dynamic),), (marked(4, maybe_mark_dynamic),)) == 2


def test_a_marked_dimension_with_limits_is_guarded_by_them():
    compiled = optimize(lambda x: x * 2, eager)
    compiled(marked(4, min=2, max=8))
    assert size_guards(compiled) == ["2 <= x.sizes[0] <= 8"]
    with pytest.raises(ConstraintViolationError, match=r"for sizes in \[2, 8\], but the program is for.*\[2, 5\]"):
        optimize(lambda x: x * 2 if len(x) < 6 else x, eager)(marked(4, min=2, max=8))


def test_a_marked_dimension_can_not_be_one():
    with pytest.raises(ConstraintViolationError, match=r"x.sizes\[0\] is 1"):
        torch.compile(lambda x: x * 2, backend="eager")(marked(1))


def test_a_static_dimension_is_compiled_for_each_size():
    assert graphs_for(lambda x: x * 2, *((marked(n, mark_static),) for n in (3, 4, 5)), dynamic=True) == 3


def test_marks_are_checked():
    with pytest.raises(IndexError, match="Dimension out of range"):
        mark_dynamic(torch.ones(3), 1)
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        mark_dynamic([1], 0)
    with pytest.raises(NotImplementedError, match="mark_dynamic"):
        mark_unbacked(torch.ones(3), 0)


# --- what can't be compiled for unknown sizes -------------------------------------------------------------------------


def test_a_backend_that_needs_numbers_gets_them():
    sizes = []

    def picky(module, example_inputs):
        if not all(isinstance(x, torch.Tensor) for x in example_inputs):
            raise NotImplementedError("no sizes here")
        sizes.append(tuple(example_inputs[0].shape))
        return module

    compiled = torch.compile(lambda x: x * 2, backend=picky)
    with logs.capture("dynamic") as records:
        for (x,) in rows(3, 4, 5):
            assert torch.equal(compiled(x), x * 2)
    assert sizes == [(3, 4), (4, 4), (5, 4)]
    assert any("can't compile for unknown sizes" in record.text for record in records)


def test_an_operation_that_needs_numbers_gets_them_and_is_guarded():
    f = torch.nn.functional.interpolate
    images = [(torch.randn(1, 1, n, n),) for n in (4, 5, 6)]
    with logs.capture("dynamic") as records:
        assert graphs_for(lambda x: f(x, size=(3, 3)), *images, dynamic=True) == 3
    assert any("is done with known sizes" in record.text for record in records)


def test_an_error_in_the_program_stays_the_programs():
    compiled = torch.compile(lambda x: x.view(3, -1), backend="eager", dynamic=True)
    compiled(torch.ones(6))
    with pytest.raises(RuntimeError, match=r"shape '\[3, -1\]' is invalid for input of size 7"):
        compiled(torch.ones(7))


def test_sizes_stay_known_where_the_option_says_so():
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        assert graphs_for(lambda x: x * 2, *rows(3, 4, 5)) == 3
    assert graphs_for(lambda x: x * 2, *rows(3, 4, 5)) == 2


def test_a_dimension_that_is_an_unknown_number_ties_nothing_but_itself():
    x = torch.ones(2, 3, 4)
    assert graphs_for(lambda x, dim: x.sum((dim, 0)), *((x, dim) for dim in (-1, 2, 1)), dynamic=True) == 3
    calls = [(torch.ones(n, 3, 4), 2) for n in (2, 3, 4)]
    assert graphs_for(lambda x, dim: x.sum((dim, 0)), *calls, dynamic=True) == 1


def test_sizes_of_real_tensors_stay_plain_numbers():
    """What is remembered about views and strides must not come from a trace."""

    def f(x):
        y = x.reshape(x.shape[0], 2, -1).permute(2, 0, 1)[:, 1:]
        return y.contiguous().view(-1)[: len(list(range(x.shape[0])))]  # the loop makes a constant of the size

    for n in (23, 29):
        torch.compile(f, backend="aot_eager", dynamic=True)(torch.ones(n, 38, requires_grad=True)).sum().backward()
        x = torch.ones(n, 38)
        for y in (
            x,
            x.reshape(n, 2, -1),
            x.reshape(n, 2, 19).permute(2, 0, 1),
            x.reshape(n, 2, 19).permute(2, 0, 1)[:, 1:],
        ):
            assert {type(number) for number in (*y.sizes, *y.strides, y.offset)} == {int}


def test_the_greatest_of_a_bool_and_a_whole_number_may_be_the_bool():
    def function(x, n):
        return x + 1, min(True, n), max(n, False), min(len(x), True)

    compiled = torch.compile(function, backend="eager", dynamic=True)
    for n in (2, 5, 1, 0, -3):
        assert repr(compiled(torch.ones(3), n)) == repr(function(torch.ones(3), n))
