"""Every kind of guard: it fails for the change that it is about, and for no other; what was not read is not guarded.

A case is a function, a world for it, changes of the world that must not matter, and one that must. The plain function,
run in the same world, says what is right.
"""

import enum
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.guards.failures import failure
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import entry_count, matrix

SCALE, UNREAD = 2, 1


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Settings:
    shared = 1

    def __init__(self):
        self.used, self.unused = 3, 4


def inner(x, by=2, *, shift=0):
    return x * by + shift


def closing_over(cell, other):
    def function(world):
        return world.x * cell[0] if other else world.x

    return function


@dataclass
class Case:
    """`change` fails a guard of this kind; `harmless` changes fail none. `world` makes the argument."""

    function: Any
    change: Any
    kind: str
    harmless: list[Any] = field(default_factory=list)
    world: Any = SimpleNamespace


def assign(**values):
    """A change of the world: these attributes."""
    return lambda world: vars(world).update(values)


def set_global(name, value):
    return lambda world: globals().__setitem__(name, value)


def set_default(function, value):
    return lambda world: setattr(function, "__defaults__", value)


CASES = {
    "global": Case(
        lambda w: w.x * str(SCALE).count("2"), set_global("SCALE", 3), "CONSTANT_MATCH", [set_global("UNREAD", 5)]
    ),
    "type of a global": Case(lambda w: w.x * SCALE, set_global("SCALE", 2.0), "TYPE_MATCH", [set_global("UNREAD", 5)]),
    "argument's type": Case(lambda w: w.x if w.n else -w.x, assign(n="a"), "TYPE_MATCH", [assign(n=1), assign(m=2)]),
    "constant": Case(lambda w: w.x + len(w.name), assign(name="other"), "CONSTANT_MATCH", [assign(name="na" + "me")]),
    "None": Case(lambda w: w.x if w.flag is None else -w.x, assign(flag=1), "CONSTANT_MATCH", [assign(flag=None)]),
    "enum": Case(
        lambda w: w.x if w.color is Color.RED else -w.x, assign(color=Color.BLUE), "ID_MATCH", [assign(color=Color.RED)]
    ),
    "identity of a class": Case(lambda w: w.x + w.cls().used, assign(cls=type("Other", (Settings,), {})), "ID_MATCH"),
    "length of a list": Case(
        lambda w: w.x * len(w.items), lambda w: w.items.append(1), "LENGTH", [assign(items=[7, 8])]
    ),
    "item of a list": Case(
        lambda w: w.x * str(w.items[0]).count("1"), assign(items=[2, 2]), "CONSTANT_MATCH", [assign(items=[1, 3])]
    ),
    "order of keys": Case(
        lambda w: [w.x * len(key) for key in w.table],
        assign(table={"bb": 2, "a": 1}),
        "DICT_KEYS",
        [assign(table={"a": 5, "bb": 6})],
    ),
    "dict contains": Case(
        lambda w: w.x if "z" in w.table else -w.x,
        lambda w: w.table.update(z=1),
        "DICT_CONTAINS",
        [lambda w: w.table.update(y=1), assign(table={})],
    ),
    "set": Case(
        lambda w: w.x * len(w.members), lambda w: w.members.add("c"), "SET_MATCH", [assign(members={"a", "b"})]
    ),
    "range": Case(
        lambda w: [w.x * i for i in w.numbers],
        assign(numbers=range(3)),
        "RANGE_MATCH",
        [assign(numbers=range(0, 3, 2)), assign(numbers=range(0, 4, 2))],
    ),
    "slice": Case(
        lambda w: w.x[w.part], assign(part=slice(0, 2)), "CONSTANT_MATCH", [assign(part=slice(0, 1))]
    ),
    "attribute absent": Case(
        lambda w: w.x * w.settings.shared,
        lambda w: setattr(w.settings, "shared", 7),
        "ATTRIBUTE_ABSENT",
        [lambda w: setattr(w.settings, "unused", 7), lambda w: setattr(w.settings, "new", 7)],
    ),
    "attribute": Case(
        lambda w: w.x * str(w.settings.used).count("3"),
        lambda w: setattr(w.settings, "used", 7),
        "CONSTANT_MATCH",
        [lambda w: setattr(w.settings, "unused", 7)],
    ),
    "tensor's sizes": Case(lambda w: w.x + 1, assign(x=matrix(4, 3)), "TENSOR_MATCH", [assign(x=-matrix())]),
    "tensor's dtype": Case(lambda w: w.x + 1, assign(x=matrix().double()), "TENSOR_MATCH", [assign(unread=matrix(4))]),
    "tensor's strides": Case(
        lambda w: w.x + 1, assign(x=matrix(3, 2).T), "TENSOR_MATCH", [assign(x=matrix(4, 3)[1:3])]
    ),
    "requires_grad": Case(
        lambda w: w.x + 1, lambda w: w.x.requires_grad_(), "TENSOR_MATCH", [lambda w: w.y.requires_grad_()]
    ),
    "leaf": Case(
        lambda w: w.x + (1 if w.x.is_leaf else 2),
        assign(x=matrix().requires_grad_() * 1),
        "TENSOR_MATCH",
        world=lambda **values: SimpleNamespace(**{**values, "x": matrix().requires_grad_()}),
    ),
    "two arguments, one object": Case(
        lambda w: w.x + w.y,
        lambda w: setattr(w, "y", matrix()),
        "DUPLICATE_INPUT",
        [lambda w: (setattr(w, "x", matrix()), setattr(w, "y", w.x))],
        world=lambda **values: SimpleNamespace(**{**values, "y": values["x"]}),
    ),
    "two arguments, two objects": Case(
        lambda w: w.x.add_(1) + w.y, lambda w: setattr(w, "y", w.x), "NO_ALIAS", [lambda w: setattr(w, "y", matrix())]
    ),
    "function's code": Case(
        lambda w: w.function(w.x), assign(function=lambda x: x * 5), "FUNCTION_MATCH", [assign(function=inner)]
    ),
    "defaults": Case(
        lambda w: inner(w.x), set_default(inner, (3.5,)), "TYPE_MATCH", [lambda w: setattr(inner, "unread", 1)]
    ),
    "keyword defaults": Case(
        lambda w: inner(w.x), lambda w: setattr(inner, "__kwdefaults__", {"shift": 1.5}), "TYPE_MATCH"
    ),
    "closure cell": Case(
        closing_over(CELL := [2.5], OTHER := [1]),
        lambda w: CELL.__setitem__(0, 4),
        "TYPE_MATCH",
        [lambda w: OTHER.__setitem__(0, 2)],
    ),
    "grad mode": Case(lambda w: w.x + 1, lambda w: torch.set_grad_enabled(False), "GRAD_MODE"),
    "default dtype": Case(
        lambda w: w.x + 1, lambda w: torch.set_default_dtype(torch.float64), "DEFAULT_DTYPE"
    ),
    "default device": Case(
        lambda w: (w.x + 1, torch.ones(2), torch.tensor([1, 2])),
        lambda w: torch.set_default_device("meta"),
        "DEFAULT_DEVICE",
    ),
    "default device of what makes nothing": Case(
        lambda w: (w.x + 1, torch.zeros_like(w.x), torch.ones(2, device="cpu")),
        lambda w: (torch.set_default_device("meta"), setattr(w, "x", w.x[:1])),
        "TENSOR_MATCH",
        [lambda w: torch.set_default_device("cpu")],
    ),
    "deterministic algorithms": Case(
        lambda w: w.x + 1 if torch.are_deterministic_algorithms_enabled() else w.x + 2,
        lambda w: torch.use_deterministic_algorithms(True),
        "DETERMINISTIC_ALGORITHMS",
        [lambda w: torch.set_float32_matmul_precision("high")],
    ),
    "matmul precision": Case(
        lambda w: w.x + len(torch.get_float32_matmul_precision()),
        lambda w: torch.set_float32_matmul_precision("high"),
        "MATMUL_PRECISION",
        [lambda w: torch.use_deterministic_algorithms(True)],
    ),
}  # fmt: skip


def new_world(case):
    return case.world(
        x=matrix(), y=matrix(), n=1, m=1, name="name", flag=None, color=Color.RED, cls=Settings, items=[1, 2],
        table={"a": 1, "bb": 2}, members={"a", "b"}, numbers=range(0, 3, 2), part=slice(0, 1), settings=Settings(),
        function=inner,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def everything_as_it_was():
    yield
    globals().update(SCALE=2, UNREAD=1)
    inner.__defaults__, inner.__kwdefaults__ = (2,), {"shift": 0}
    CELL[0], OTHER[0] = 2.5, 1
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("highest")


def copied(world):
    """The same world, so that writing to its tensors does not show in the other's."""
    clones = {}
    for value in vars(world).values():
        if isinstance(value, torch.Tensor):
            clones[id(value)] = value if value.requires_grad else value.clone(memory_format=torch.preserve_format)
    return SimpleNamespace(**{name: clones.get(id(value), value) for name, value in vars(world).items()})


@pytest.mark.parametrize("name", CASES)
def test_a_guard_fails_for_its_change_and_no_other(name):
    case = CASES[name]
    compiled = optimize(case.function, eager, dynamic=False)
    world = new_world(case)

    def check(versions):
        expected = repr(case.function(copied(world)))
        assert repr(compiled(copied(world))) == expected
        assert entry_count(region_of(compiled)) == versions

    check(1)
    for change in case.harmless:
        change(world)
        check(1)
    case.change(world)
    (entry,) = region_of(compiled).caches[0].entries
    found = failure(entry.guards, compiled._dynamo_dispatcher.scope(entry, (copied(world),)))
    assert found.guard.kind == case.kind
    check(2)
    check(2)


def test_inference_mode_is_guarded():
    counter = CompileCounter()
    compiled = optimize(lambda x: x + 1, counter)
    with torch.no_grad():
        assert not compiled(matrix()).is_inference()
    with torch.inference_mode():
        assert compiled(matrix()).is_inference()
    with torch.no_grad():
        assert not compiled(matrix()).is_inference()
    assert counter.frame_count == 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_results_in_inference_mode_are_inference_tensors(backend):
    compiled = torch.compile(lambda x: (x * 2, x.view(-1), x), backend=backend)
    with torch.inference_mode():
        x = torch.tensor([1.0, 2.0])
        doubled, view, same = compiled(x)
    assert [doubled.is_inference(), view.is_inference(), same.is_inference()] == [True, False, False]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_device_that_the_program_enters_reaches_its_graph(backend):
    def program(x):
        with torch.device("cpu"):
            return x + torch.ones(2)

    compiled = torch.compile(program, backend=backend, fullgraph=True)
    with torch.device("meta"):
        assert compiled(torch.zeros(2, device="cpu")).tolist() == [1, 1]


def test_toggling_grad_mode_compiles_twice_and_then_hits():
    counter = CompileCounter()
    weight = torch.ones(3, 3, requires_grad=True)
    compiled = optimize(lambda x: x @ weight, counter)
    for _ in range(3):
        assert compiled(matrix()).requires_grad
        with torch.no_grad():
            assert not compiled(matrix()).requires_grad
    assert counter.frame_count == 2


def test_what_is_not_read_is_not_guarded():
    counter = CompileCounter()

    def function(x, settings, unread, table):
        return x * settings.used + table["a"]

    compiled = optimize(function, counter)
    settings = Settings()
    for number, unread in enumerate([1, "text", None, matrix(5, 5), [1], object()]):
        settings.unused = unread
        globals()["UNREAD"] = unread
        compiled(matrix(), settings, unread, {"a": 1, number: unread})
    assert counter.frame_count == 1
    kinds = {guard.source.name() for guard in region_of(compiled).caches[0].entries[0].guards}
    assert not any("unread" in name or "unused" in name or "UNREAD" in name for name in kinds)


def test_there_are_at_least_15_kinds():
    assert len({case.kind for case in CASES.values()} | {"INFERENCE_MODE"}) >= 15


def test_new_code_for_a_compiled_function():
    def function(x):
        return x + 1

    compiled = optimize(function, CompileCounter())
    compiled(matrix())
    function.__code__ = (lambda x: x - 5).__code__
    assert compiled(matrix()).tolist() == (matrix() - 5).tolist()
    function.__code__ = (lambda x, y: x - y).__code__
    with pytest.raises(RuntimeError, match="other parameters"):
        compiled(matrix())
