"""Guards: compiled code is used again exactly as long as it would do the same; and a failing guard is named."""

import enum

import pytest

import minitorch_compile as torch
from minitorch_compile import config, logs
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.guards.failures import failure
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import entry_count, matrix, observed

SCALE = 2


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def versions(function, *argument_lists):
    """Calls the compiled function with each list, comparing with the plain one; how many versions there are after
    each."""
    compiled = optimize(function, eager)
    counts = []
    for arguments in argument_lists:
        assert observed(compiled, *arguments) == observed(function, *arguments)
        counts.append(entry_count(region_of(compiled)))
    return counts


def test_the_same_kind_of_tensor_is_compiled_once():
    assert versions(lambda x: x * 2, [matrix()], [matrix() + 1], [-matrix()]) == [1, 1, 1]


@pytest.mark.parametrize(
    "other",
    [
        matrix(3, 3),
        torch.zeros(2, 3, dtype=torch.float64),
        matrix(3, 2).T,
        matrix().requires_grad_(),
        matrix(3, 2)[0:1],
        None,
        2.0,
        [1],
    ],
    ids=["sizes", "dtype", "strides", "requires_grad", "view", "None", "float", "list"],
)
def test_another_kind_of_argument_is_compiled_again(other):
    assert versions(lambda x: (x,) if x is None else x * 2, [matrix()], [other], [matrix()], [other]) == [1, 2, 2, 2]


def test_a_new_offset_into_the_storage_is_no_new_kind():
    x = matrix(4, 3)
    assert versions(lambda x: x * 2, [x[0:2]], [x[1:3]]) == [1, 1]


def test_leaf_or_not_matters_only_with_gradients():
    leaf = matrix().requires_grad_()
    assert versions(lambda x: x.is_leaf, [leaf], [leaf * 2], [matrix()]) == [1, 2, 3]


def test_a_value_that_is_only_passed_on_is_not_guarded():
    class Anything:
        pass

    assert (
        versions(lambda x, other: (x + 1, other), *[[matrix(), v] for v in (1, "a", None, Anything, [matrix()])])[-1]
        == 1
    )


def test_numbers_are_guarded_as_far_as_they_matter():
    assert versions(lambda n: n + 1, [1], [2], [300]) == [1, 1, 1]
    assert versions(lambda n: "big" if n * 2 > 10 else "small", [1], [5], [6], [100]) == [1, 1, 2, 2]
    assert versions(lambda x, n: x * n, [matrix(), 1], [matrix(), 2], [matrix(), 1]) == [1, 2, 2]
    assert versions(lambda n: n + 1, [1], [1.0], [True]) == [1, 2, 3]


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        -0.0,
        float("nan"),
        float("inf"),
        True,
        10**400,
        "text",
        b"bytes",
        1j,
        ...,
        range(3),
        Color.RED,
        torch.float32,
    ],
)
def test_constants_of_every_kind(value):
    def f(x, value):
        return x * 1, [value], {value: 1}, value == value, str(value)

    assert versions(f, [matrix(), value], [matrix(), 5], [matrix(), value]) == [1, 2, 2]


def test_zero_and_minus_zero_are_two_values():
    assert versions(lambda x, k: x * 0 + k, [matrix(), 0.0], [matrix(), -0.0]) == [1, 2]


def test_a_global_is_guarded():
    global SCALE
    SCALE = 2
    compiled = optimize(lambda x: x * SCALE, eager)
    assert compiled(matrix())[0, 1] == 0.5
    SCALE = 3
    assert compiled(matrix())[0, 1] == 0.75


def test_a_builtin_that_is_hidden_by_a_global(monkeypatch):
    compiled = optimize(lambda x: x + len([1]), eager)
    assert compiled(matrix())[0, 0] == 1
    monkeypatch.setitem(globals(), "len", lambda items: 5)
    assert compiled(matrix())[0, 0] == 5


def test_closures_and_defaults_are_guarded():
    def make(k):
        def f(x, j=1, *, i=2):
            return x * k + j + i

        def change(value):
            nonlocal k
            k = value

        return f, change

    f, change = make(2)
    compiled = optimize(f, eager)
    assert compiled(matrix())[0, 0] == 3
    change(torch.zeros(3) + 5)
    f.__defaults__, f.__kwdefaults__ = (10,), {"i": 20}
    assert compiled(matrix())[0, 1] == 31.25


def test_two_closures_of_one_function_share_what_fits_both():
    def make(k):
        return lambda x: x * k

    first = optimize(make(2), eager)
    assert first(matrix())[0, 1] == 0.5
    assert optimize(make(3), eager)(matrix())[0, 1] == 0.75


def test_attributes_methods_and_classes_are_guarded():
    class Base:
        k = 2

        def apply(self, x):
            return x * self.k

    class Derived(Base):
        pass

    thing = Derived()
    compiled = optimize(lambda x, thing: thing.apply(x), eager)

    def now():
        return compiled(matrix(), thing)[0, 1].item() * 4

    assert now() == 2
    Base.k = 3
    assert now() == 3
    thing.k = 4
    assert now() == 4
    Derived.apply = lambda self, x: x * 100
    assert now() == 100
    thing.apply = lambda x: x * 1000
    assert now() == 1000


def test_containers_are_guarded_by_what_was_read():
    read_one = lambda x, d: x * d["a"]
    assert versions(read_one, [matrix(), {"a": 1}], [matrix(), {"b": 5, "a": 1}], [matrix(), {"a": 2}]) == [1, 1, 2]
    read_all = lambda d: list(d)
    assert versions(read_all, [{"a": 1}], [{"a": 2}], [{"a": 1, "b": 2}], [{"b": 2, "a": 1}]) == [1, 1, 2, 3]
    assert versions(read_all, [{1: 0}], [{True: 0}], [{1.0: 0}], [{1: 5}]) == [1, 2, 3, 3]
    assert versions(lambda s: list(s), [{Color.RED}], [{Color.BLUE}], [{1}], [{True}]) == [1, 2, 3, 4]
    assert versions(lambda d: "k" in d, [{}], [{"a": 1}], [{"k": 1}]) == [1, 2, 3]
    assert versions(lambda items: len(items), [[1]], [["a"]], [[1, 2]], [(1,)]) == [1, 1, 2, 3]


def test_functions_as_arguments_are_guarded_by_their_code():
    def make(k):
        return lambda x: x * k

    assert versions(lambda x, f: f(x), *[[matrix(), make(2)] for _ in range(3)])[-1] == 1
    assert versions(lambda x, f: f(x), [matrix(), torch.sin], [matrix(), torch.cos], [matrix(), torch.sin]) == [1, 2, 2]


def test_methods_of_containers_as_arguments_are_guarded_by_name():
    items = [3, 1, 2]
    assert versions(lambda f: f(1), [items.index], [items.count], [[1, 5].index], [[3, 1, 2].index]) == [1, 2, 3, 3]


def test_grad_mode_is_guarded():
    compiled = optimize(lambda x: x * 2, eager)
    x = matrix().requires_grad_()
    assert compiled(x).requires_grad
    with torch.no_grad():
        assert not compiled(x).requires_grad
    assert compiled(x).requires_grad


def test_the_last_matching_version_is_tried_first():
    compiled = optimize(lambda x: x * 2, eager)
    for x in (matrix(), matrix(3, 3), matrix()):
        compiled(x)
    dispatcher = compiled._dynamo_dispatcher
    first_entry, first_bound = dispatcher.bound[0]
    assert dispatcher.run is first_bound
    assert not failure(first_entry.guards, dispatcher.scope(first_entry, (matrix(),)))


def test_a_recompile_names_the_guard_and_both_values():
    compiled = optimize(lambda x: x * 2, eager)
    compiled(matrix())
    with logs.capture("recompiles") as records:
        compiled(matrix(4, 3))
    (record,) = records
    assert "x.sizes == (2, 3)  (expected (2, 3), now torch.Size([4, 3]))" in record.text
    assert record.text.startswith(
        "Recompiling `test_a_recompile_names_the_guard_and_both_values.<locals>.<lambda>, test_symbolic_guards.py:"
    )


def test_the_logs_show_guards_code_and_graph():
    with logs.capture("guards", "bytecode", "graph_code") as records:
        optimize(lambda x: x * 2, eager)(matrix())
    texts = {record.name: record.text for record in records}
    assert "x.sizes == (2, 3)" in texts["guards"]
    assert "BINARY_OP" in texts["bytecode"] and "return MISS" in texts["bytecode"]
    assert "mul" in texts["graph_code"]


def test_a_guard_knows_its_source_its_code_and_its_reason():
    compiled = optimize(lambda x: x * 2, eager)
    compiled(matrix())
    guards = list(region_of(compiled).caches[0].entries[0].guards)
    sizes = next(guard for guard in guards if "sizes" in guard.code)
    assert (str(sizes.source), sizes.code, sizes.reason) == (
        "x",
        "x.sizes == (2, 3)",
        "TENSOR_MATCH: x.sizes == (2, 3)",
    )


def test_the_recompile_limit_is_an_option():
    with config.patch(recompile_limit=1):
        compiled = optimize(lambda x: x * 2, CompileCounter())
        compiled(matrix())
        with pytest.warns(UserWarning, match="recompile_limit"):
            compiled(matrix(3, 3))
    assert entry_count(region_of(compiled)) == 1


def test_inside_a_trace_the_plain_function_runs():
    from minitorch_compile.dynamo.fakes.fake_mode import FakeMode
    from minitorch_compile.tensor import fake_like

    counter = CompileCounter()
    compiled = optimize(lambda x: x * 2, counter)
    with FakeMode().active():
        assert compiled(fake_like(matrix())).is_fake
    assert counter.frame_count == 0


def test_the_default_dtype_is_guarded():
    compiled = torch.compile(lambda x: x + torch.ones(2), backend="aot_eager")
    assert compiled(torch.ones(2)).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert compiled(torch.ones(2)).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
