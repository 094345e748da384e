"""Sizes and numbers that data decide, in one graph where the configuration asks for it.

The graphs were compared with PyTorch's, which have a node for each operation of ours, and more checks of ranges.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import _dynamo, tensor
from minitorch_compile.dynamo.errors import UserError
from minitorch_compile.dynamo.testing import CompileCounter

X = [0.0, 1.0, 2.0, 0.0, 3.0]
OTHERS = [[0.0, 1.0, 0.0, 0.0, 3.0], [5.0, 4.0, 3.0, 2.0, 1.0], [0.0] * 5, [0.0, 0.0, 7.0, 0.0, 0.0], X]


@pytest.fixture(autouse=True)
def _capturing() -> Iterator[None]:
    with _dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        yield
    _dynamo.reset()


def _count(x: Any) -> Any:
    return (x > 0).sum().item()


def _slice(x: Any) -> Any:
    return x[: _count(x)] * 2


def _in_place(x: Any) -> Any:
    y = x * 2
    z = y[y > 2]
    z.add_(1)
    y.mul_(3)
    return y, z, z.shape[0]


def _written_argument(x: Any) -> Any:
    x.add_(1)
    big = x[x > 2]
    x.mul_(2)
    return big + 1


def _without_grad(x: Any) -> Any:
    with torch.no_grad():
        places = (x > 1).nonzero()
    return x[places[:, 0]] * 2, places


def _stored(x: Any) -> Any:
    y = x.clone()
    y[x > 1] = x[x > 1] * 10
    return y


def _of_parts(x: Any) -> Any:
    n = _count(x)
    return torch.split(x, [n, 5 - n])


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "nonzero": lambda x: x.nonzero() + 1,
    "places": lambda x: x.nonzero(as_tuple=True)[0] + 1,
    "mask": lambda x: x[x > 0].sin().sum(),
    "masked_select": lambda x: torch.masked_select(x, x > 0) * 2,
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "repeat_interleave": lambda x: x.repeat_interleave(x.long()) * 2,
    "bincount": lambda x: torch.bincount(x.long()) + 1,
    "two masks": lambda x: x[x > 0] * (x + 1)[x + 1 > 1],
    "product": lambda x: x[x > 0].view(1, -1) @ x[x > 0].view(-1, 1),
    "cat": lambda x: torch.cat([x[x > 0], x]) + 1,
    "loss": lambda x: torch.nn.functional.mse_loss(x[x > 0], x[x > 0] + 1),
    "scatter": lambda x: torch.zeros(5).scatter(0, x.nonzero().squeeze(1), x[x > 0]),
    "size": lambda x: torch.zeros(x[x > 0].shape[0] * 2 + 1).add(1),
    "answer": lambda x: (x[x > 0].shape[0], f"{len(x[x > 0])} found", x[x > 0].shape[0] > 2),
    "item": lambda x: x * _count(x) + 1,
    "float": lambda x: x * (float(x.sum()) / 4 + 1),
    "number": lambda x: (x.sum().item() * 2, _count(x) - 1),
    "converted": lambda x: x[: int(x.mean())] + float(_count(x)),
    "tolist": lambda x: x * x.long().tolist()[2],
    "index": lambda x: x[_count(x) - 1] + 1,
    "slice": _slice,
    "in place": _in_place,
    "written argument": _written_argument,
    "without grad": _without_grad,
    "stored": _stored,
    "parts": _of_parts,
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "aot_eager_decomp_partition"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_is_one_graph_that_does_what_the_plain_program_does(name: str, backend: str) -> None:
    program = PROGRAMS[name]
    compiled = torch.compile(program, backend=backend, fullgraph=True)
    for values in (X, *OTHERS):
        mine, plain = tensor(values), tensor(values)
        if not any(values) and name in ("index", "loss"):  # x[-1] by the count 0; the mean of nothing is NaN
            continue
        _compare(compiled(mine), program(plain))
        _compare(mine, plain)


def _compare(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            _compare(*pair)
    elif isinstance(expected, torch.Tensor):
        torch.testing.assert_close(found, expected)
    else:
        assert type(found) is type(expected) and found == expected


def test_values_of_pytorch() -> None:
    """Recorded from torch 2.13."""

    def program(x: Any) -> Any:
        y = x[x > 0]
        return y * y.shape[0], torch.zeros(int(y.sum())).shape[0], float(y.mean())

    found = torch.compile(program, backend="eager", fullgraph=True)(tensor(X))
    assert found[0].tolist() == [3.0, 6.0, 9.0] and found[1:] == (6, 2.0)


@pytest.mark.slow
def test_the_default_backend_compiles_the_parts_around_what_needs_data() -> None:
    def loss(x: Any, w: Any) -> Any:
        y = (x * w).tanh()
        return ((y[y > 0] - 1) ** 2).mean() + y[y <= 0].sum()

    compiled = torch.compile(loss, fullgraph=True)
    for _ in range(3):  # a part behind the data is compiled when its sizes come for the second time
        x, w = torch.arange(-3.0, 4.0), torch.full((7,), 0.5, requires_grad=True)
        plain = w.detach().clone().requires_grad_()
        compiled(x, w).backward()
        loss(x, plain).backward()
        torch.testing.assert_close(w.grad, plain.grad)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_pass_what_needs_data(backend: str) -> None:
    def loss(x: Any, w: Any) -> Any:
        y = (x * w).tanh()
        return ((y[y > 0] - 1) ** 2).mean() + y[y <= 0].sum() * float(y.max())

    x, w = torch.arange(-3.0, 4.0), torch.full((7,), 0.5, requires_grad=True)
    plain = w.detach().clone().requires_grad_()
    torch.compile(loss, backend=backend, fullgraph=True)(x, w).backward()
    loss(x, plain).backward()
    torch.testing.assert_close(w.grad, plain.grad)


def test_a_training_step_is_one_graph() -> None:
    def step(x: Any, w: Any) -> Any:
        loss = (x * w)[x > 0].sum()
        loss.backward()
        return loss.detach() * loss.item()

    for backend in ("eager", "aot_eager"):
        w = torch.ones(5, requires_grad=True)
        assert torch.compile(step, backend=backend, fullgraph=True)(tensor(X), w).item() == 36.0
        assert w.grad.tolist() == X


# --- what is expected, and asked --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [lambda x: x[x > 0] * 2, lambda x: x * x.sum().item(), lambda x: x.nonzero(), lambda x: x + int(x[0])],
    ids=["mask", "item", "nonzero", "int"],
)
def test_both_options_are_off_at_first_and_on_for_a_whole_graph(program) -> None:
    with _dynamo.config.patch(capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False):
        assert torch._dynamo.explain(program)(tensor(X)).graph_break_count == 1
        counter = CompileCounter()
        compiled = torch.compile(program, backend=counter, fullgraph=True)
        for values in (X, *OTHERS):
            _compare(compiled(tensor(values)), program(tensor(values)))
    assert counter.frame_count == 1  # so in PyTorch 2.13


def test_a_branch_on_such_a_number_is_refused_with_advice() -> None:
    def program(x: Any) -> Any:
        return x + 1 if _count(x) > 2 else x - 1

    with pytest.raises(UserError, match=r"torch._check.*Could not guard on data-dependent expression 3 <= u0"):
        torch.compile(program, backend="eager", fullgraph=True)(tensor(X))
    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter)
    for values in (X, *OTHERS):
        _compare(compiled(tensor(values)), program(tensor(values)))
    assert counter.frame_count == 3  # up to the branch, and one for each way; so in PyTorch


def test_check_answers_the_branch() -> None:
    def program(x: Any) -> Any:
        n = _count(x)
        torch._check(n > 2, lambda: "too few")
        return x + 1 if n > 2 else x - 1

    compiled = torch.compile(program, backend="eager", fullgraph=True)
    assert compiled(tensor(X)).tolist() == [1.0, 2.0, 3.0, 1.0, 4.0]
    with pytest.raises(RuntimeError, match="too few"):
        compiled(tensor(OTHERS[0]))


def test_an_assertion_answers_it_too() -> None:
    def program(x: Any) -> Any:
        n = _count(x)
        if n != 3:
            raise AssertionError("not three")
        return x * torch.ones(n + 2)

    compiled = torch.compile(program, backend="eager", fullgraph=True)
    assert compiled(tensor(X)).tolist() == X
    with pytest.raises(AssertionError, match="not three"):
        compiled(tensor(OTHERS[0]))


def test_a_size_out_of_its_range_is_refused() -> None:
    def program(x: Any) -> Any:
        n = _count(x)
        torch._check_is_size(n, max=5)
        return x[:n]

    compiled = torch.compile(program, backend="eager", fullgraph=True)
    assert compiled(tensor(X)).tolist() == X[:3]


def test_data_that_nobody_expected_run_the_plain_program_after_what_was_written_is_put_back() -> None:
    def program(x: Any) -> Any:
        x.add_(1)
        return x[x > 2] + torch.ones(2)  # a single element broadcasts

    compiled = torch.compile(program, backend="eager", fullgraph=True)
    for values in (X, [0.0, 0.0, 0.0, 0.0, 3.0]):
        mine, plain = tensor(values), tensor(values)
        _compare(compiled(mine), program(plain))
        _compare(mine, plain)


def test_a_loop_over_such_a_number_breaks() -> None:
    def program(x: Any) -> Any:
        for _ in range(_count(x)):
            x = x + 1
        return x

    with pytest.raises(UserError, match="expression u0"):
        torch.compile(program, backend="eager", fullgraph=True)(tensor(X))
    assert torch.compile(program, backend="eager")(tensor(X)).tolist() == [3.0, 4.0, 5.0, 3.0, 6.0]


def test_one_mask_decides_one_size() -> None:
    counter = CompileCounter()

    def program(x: Any) -> Any:
        mask = x > 0
        return x[mask] + (x * 2)[mask]

    assert torch.compile(program, backend=counter, fullgraph=True)(tensor(X)).tolist() == [3.0, 6.0, 9.0]
    checks = [
        node for node in counter.graphs[0].graph.nodes if getattr(node.target, "__name__", "") == "check_expected"
    ]
    assert [node.args[1] for node in checks] == ["2 <= u0"]


@pytest.mark.parametrize(
    "function",
    [
        abs, math.sqrt, math.floor, round, lambda number: number**2, lambda number: number**-1,
        lambda number: round(number, 1), lambda number: max(number, 4.0), lambda number: min(1.5, number, number / 2),
    ],
    ids=["abs", "sqrt", "floor", "round", "square", "inverse", "digits", "greatest", "least"],
)  # fmt: skip
def test_functions_of_one_number_are_in_the_graph(function) -> None:
    def program(x):
        return x * function(x.sum().item())

    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter, fullgraph=True)
    for values in (X, OTHERS[0], OTHERS[1]):
        _compare(compiled(tensor(values)), program(tensor(values)))
    assert counter.frame_count == 1  # so in PyTorch 2.13


@pytest.mark.parametrize(
    "program",
    [
        lambda x: torch.tensor([x.sum(), 1.0]),
        lambda x: torch.tensor([[x.sum().long(), 1], [2, 3]]) * x[0],
        lambda x: torch.tensor(x.max(), dtype=torch.float64),
    ],
    ids=["floats", "nested", "one"],
)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_tensors_made_of_elements_are_in_the_graph(program, backend) -> None:
    compiled = torch.compile(program, backend=backend, fullgraph=True)
    for values in (X, OTHERS[0], OTHERS[1]):
        _compare(compiled(tensor(values)), program(tensor(values)))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: torch.full((2,), x.sum()),
        lambda x: torch.full((2,), fill_value=x.sum().long(), dtype=torch.float32),
        lambda x: torch.full(size=(2,), fill_value=x.sum()),
        lambda x: x * (x.sum() > 0).item(),
        lambda x: x * ((x.sum().item() > 0) + 2),
        lambda x: x * max(x.sum().item(), 2),
        lambda x: x.long() * max(2, x.sum().item(), 3.5),
        lambda x: x.long() * min(x.sum().long().item(), 2.5),
    ],
)
def test_numbers_of_the_data_among_others(program):
    compiled = torch.compile(program, backend="eager", fullgraph=True)
    for x in (torch.arange(4.0), -torch.arange(4.0)):  # where the whole number is the result, plain Python runs
        torch.testing.assert_close(compiled(x), program(x))
