"""torch.jit.script: what is made, what it shows, what it refuses. Errors are PyTorch 2.13's, as are the results."""

import copy
import dataclasses
import math
import pickle
import typing
from typing import Optional

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.jit.frontend import FrontendError, NotSupportedError, UnsupportedNodeError

Tensor = torch.Tensor
X = torch.arange(6.0).reshape(2, 3)
A_NUMBER = 3


class Gate(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        else:
            return -x


class Cell(nn.Module):
    names: torch.jit.Final[int]

    def __init__(self):
        super().__init__()
        self.linear, self.gate = nn.Linear(3, 3), Gate()
        self.scale, self.names, self.list = 2.0, 3, [1, 2]
        self.layers = nn.ModuleList([nn.Linear(3, 3)])
        self.thing = object()

    def forward(self, x, h: Optional[Tensor] = None):  # noqa: UP045
        for layer in self.layers:
            x = layer(x)
        return self.helper(self.gate(self.linear(x))) * self.scale

    def helper(self, x):
        return torch.relu(x)

    def other(self, x):
        return nowhere(x)  # noqa: F821  never reached by a script

    @torch.jit.export
    def exported(self, x: int):
        return x + self.names

    @torch.jit.ignore
    def ignored(self, x):
        return not torch.jit.is_scripting()

    @torch.jit.unused
    def unused(self, x):
        return x


def doubled_until(x, limit: float):
    while x.sum() < limit:
        x = x * 2
    return x


def test_control_flow_that_depends_on_data_is_what_python_means_by_it():
    scripted = torch.jit.script(doubled_until)
    for limit in (10.0, 40.0, 200.0):  # the first run is Python's, the others are compiled
        assert torch.equal(scripted(X, limit), doubled_until(X, limit))
    assert isinstance(scripted, torch.jit.ScriptFunction) and scripted.name == "doubled_until"


def test_a_module_and_what_it_has():
    cell = Cell()
    scripted = torch.jit.script(cell)
    assert type(scripted) is torch.jit.RecursiveScriptModule and isinstance(scripted, torch.jit.ScriptModule)
    assert isinstance(scripted, nn.Module) and not isinstance(scripted, Cell) and scripted.original_name == "Cell"
    assert list(scripted.state_dict()) == list(cell.state_dict()) and scripted.linear.weight is cell.linear.weight
    for x in (X, -X, X * 2):
        torch.testing.assert_close(scripted(x), cell(x))
    assert scripted.exported(4) == 7 and torch.equal(scripted.helper(-X), X * 0)
    assert scripted.list == [1, 2] and scripted.list is not cell.list and scripted.ignored(X) is True
    for missing in ("other", "thing"):
        with pytest.raises(AttributeError, match=f"'RecursiveScriptModule' object has no attribute '{missing}'"):
            getattr(scripted, missing)


def test_attributes_are_its_own():
    cell = Cell()
    scripted = torch.jit.script(cell)
    before = scripted(X)
    cell.scale = 5.0
    assert scripted.scale == 2.0 and torch.equal(scripted(X), before)
    scripted.scale = 4.0
    assert cell.scale == 5.0 and torch.equal(scripted(X), before * 2)
    with pytest.raises(RuntimeError, match="Cannot re-assign modules in a ScriptModule with non-scripted module"):
        scripted.linear = nn.Linear(3, 3)
    with pytest.raises(RuntimeError, match="Can't set constant 'names' which has value:3"):
        scripted.names = 4
    with pytest.raises(RuntimeError, match="Could not cast attribute 'scale' to type float"):
        scripted.scale = "x"


def test_train_and_eval_reach_what_runs():
    scripted = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)))
    scripted.eval()
    assert torch.equal(scripted(X), scripted(X)) and len(scripted) == 2 and not scripted[1].training
    assert [module.original_name for module in scripted] == ["Linear", "Dropout"]
    scripted.double()
    assert scripted(X.double()).dtype == torch.float64


def test_is_scripting_inside_only():
    def asks(x):
        if torch.jit.is_scripting():
            return x + 1
        else:
            return nowhere(x)  # noqa: F821  a branch that no script has

    scripted = torch.jit.script(asks)
    assert torch.equal(scripted(X), X + 1) and torch.equal(scripted(X), X + 1) and not torch.jit.is_scripting()
    assert "nowhere" not in scripted.code


def test_code_and_graph():
    scripted = torch.jit.script(Cell())
    assert scripted.code == (
        "def forward(self,\n    x: Tensor,\n    h: Optional[Tensor]=None):\n  for layer in self.layers:\n"
        "    x = layer(x)\n  return self.helper(self.gate(self.linear(x))) * self.scale\n"
    )
    assert [node.kind() for node in scripted.gate.graph.nodes()] == [
        "aten::sum",
        "prim::Constant",
        "aten::gt",
        "prim::If",
    ]
    assert scripted.graph.findNode("prim::Loop") is not None and len(scripted.graph.findAllNodes("aten::mul")) == 1
    assert str(scripted).startswith("RecursiveScriptModule(\n  original_name=Cell\n  (linear): RecursiveScriptModule(")
    assert torch.jit.script(scripted) is scripted


def several(*xs):
    return xs[0]


def keywords(**xs):
    return xs


def with_default(x, *, y: int = 2):
    return x + y


def yields(x):
    yield x


def tries(x):
    try:
        return x
    finally:
        pass


def has_lambda(x):
    return (lambda y: y)(x)


def has_set(x):
    return {1, 2}


def says_global(x):
    global A_NUMBER
    return x


def imports(x):
    import operator

    return operator.neg(x)


def nests(x):
    def inner(y):
        return y

    return inner(x)


def walrus(x):
    if (n := x.size(0)) > 1:
        return n
    return 0


def loop_else(x):
    for _ in range(2):
        x = x + 1
    else:
        x = x + 2
    return x


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (several, NotSupportedError, "Compiled functions can't take variable number of arguments or use keyword-only"),
        (keywords, NotSupportedError, "Compiled functions can't take variable number of arguments"),
        (with_default, NotSupportedError, "Compiled functions can't take variable number of arguments"),
        (yields, UnsupportedNodeError, "Yield aren't supported"),
        (tries, UnsupportedNodeError, "try blocks aren't supported"),
        (has_lambda, UnsupportedNodeError, "Lambda aren't supported"),
        (has_set, UnsupportedNodeError, "Set aren't supported"),
        (says_global, UnsupportedNodeError, "global variables aren't supported"),
        (imports, UnsupportedNodeError, "import statements aren't supported"),
        (nests, UnsupportedNodeError, "function definitions aren't supported"),
        (walrus, UnsupportedNodeError, "NamedExpr aren't supported"),
        (loop_else, NotSupportedError, "else branches of for loops aren't supported"),
    ],
)  # fmt: skip
def test_statements_that_torchscript_leaves_out(function, kind, text):
    with pytest.raises(kind, match=text) as raised:
        torch.jit.script(function)
    assert "<--- HERE" in str(raised.value) and isinstance(raised.value, FrontendError)


def undefined(x):
    return foo(x)  # noqa: F821


def uses_global(x):
    return x + A_NUMBER


def opens(x):
    with open("x"):
        return x


def no_method(x):
    return x.foo()


def mutable(x, y=[1]):  # noqa: B006
    return x


def no_contents(x: typing.List):  # noqa: UP006
    return x


def calls_undefined(x):
    return undefined(x)


@pytest.mark.parametrize(
    "function, text",
    [
        (undefined, "undefined value foo"),
        (calls_undefined, "undefined value foo"),
        (
            uses_global,
            "python value of type 'int' cannot be used as a value.",
        ),
        (opens, "Python builtin <built-in function open> is currently not supported in Torchscript"),
        (no_method, "object has no attribute or method 'foo'."),
        (mutable, "Mutable default parameters are not supported because Python binds them to the function"),
        (no_contents, "Attempted to use List without a contained type. Please add a contained type, e.g. List[int]"),
        (lambda x: x, "Expected a single top-level function"),
    ],
)
def test_names_and_arguments_that_are_refused(function, text):
    with pytest.raises(RuntimeError) as raised:
        torch.jit.script(function)
    assert text in str(raised.value)


def module_with(forward):
    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            self.thing = object()

    Made.forward = forward
    return Made()


def reads_thing(self, x):
    return self.thing


def reads_nothing(self, x):
    return self.nothing


def sets_new(self, x):
    self.new = x
    return x


@pytest.mark.parametrize(
    "forward, text",
    [
        (
            reads_thing,
            "Module 'Made' has no attribute 'thing' (This attribute exists on the Python module",
        ),
        (reads_nothing, "Module 'Made' has no attribute 'nothing'"),
        (sets_new, "Tried to set nonexistent attribute: new. Did you forget to initialize it in __init__()?"),
    ],
)
def test_attributes_that_are_refused(forward, text):
    with pytest.raises(RuntimeError) as raised:
        torch.jit.script(module_with(forward))
    assert text in str(raised.value)


def scaled(x, times: int, name: str = "a"):
    return x * times


@pytest.mark.parametrize(
    "args, text",
    [
        ((X,), "scaled() is missing value for argument 'times'. Declaration: scaled(Tensor x, int times"),
        ((X, 2.5), "scaled() Expected a value of type 'int' for argument 'times' but instead found type 'float'."),
        ((3, 2), "argument 'x' but instead found type 'int'.\n"
                 "Inferred 'x' to be of type 'Tensor' because it was not annotated with an explicit type."),
        ((X, 1, "a", 3), "scaled() expected at most 3 argument(s) but received 4 argument(s)."),
    ],
)  # fmt: skip
def test_arguments_are_checked(args, text):
    with pytest.raises(RuntimeError) as raised:
        torch.jit.script(scaled)(*args)
    assert text in str(raised.value)
    assert torch.equal(torch.jit.script(scaled)(X, torch.tensor(2)), X * 2)


def given_back(pair: tuple[int, float], sizes: list[int], names: dict[str, bool], last: list[float] | None = None):
    return pair, sizes, names, last


def test_what_containers_hold_is_converted():
    script, names = torch.jit.script(given_back), {"a": True}
    assert script([True, np.float32(2)], (1, torch.tensor(2)), names) == ((1, 2.0), [1, 2], {"a": True}, None)
    assert script((i for i in (1, 2)), range(2), {"a": 1}, {3}) == ((1, 2.0), [0, 1], {"a": True}, [3.0])
    assert script((1, 2.0), [1], names)[2] is names
    misfits: list = [((1.5, 2), [1], {}), ((1, 2, 3), [1], {}), (torch.tensor(1), [1], {}), ((1, 2), [0.5], {})]
    for args in [*misfits, ((1, 2), torch.tensor([1]), {}), ((1, 2), [1], {1: True}), ((1, 2), [1], {}, [None])]:
        with pytest.raises(RuntimeError, match=r"given_back\(\) Expected a value of type"):
            script(*args)


def raises(x):
    raise ValueError("no")


def asserts(x):
    assert x.size(0) == 3, "bad"
    return x


def mismatched(x):
    return x @ x


@pytest.mark.parametrize(
    "function, kind, text",
    [
        (raises, torch.jit.Error, "builtins.ValueError: no"),
        (asserts, torch.jit.Error, "RuntimeError: AssertionError: bad"),
        (mismatched, RuntimeError, "The following operation failed in the TorchScript interpreter."),
    ],
)
def test_errors_while_a_script_runs(function, kind, text):
    with pytest.raises(kind) as raised:
        torch.jit.script(function)(X)
    assert text in str(raised.value) and not torch.jit.is_scripting()


@torch.jit.unused
def never(x):
    return x


def calls_never(x):
    if x.sum() > 100:
        return never(x)
    return x


def test_what_is_unused_must_not_be_called():
    scripted = torch.jit.script(calls_never)
    assert torch.equal(scripted(X), X) and torch.equal(never(X), X)
    with pytest.raises(torch.jit.Error, match="This Python function is annotated to be ignored and cannot be run"):
        scripted(X * 100)


def test_a_trace_keeps_the_branches_of_scripted_parts():
    class Traced(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.linear = torch.jit.script(Gate()), nn.Linear(3, 3)

        def forward(self, x):
            return self.gate(self.linear(x)) + 1

    model = Traced()
    traced = torch.jit.trace(model, X)
    for x in (X, -X, X - 2):
        torch.testing.assert_close(traced(x), model(x))
    looped = torch.jit.trace(lambda x: torch.jit.script_if_tracing(until_ten)(x) + 1, X)
    assert torch.equal(looped(X / 8), until_ten(X / 8) + 1)
    assert traced(X[:1]).shape == (1, 3)  # checking arguments reads no sizes


def until_ten(x):
    while x.sum() < 10:
        x = x * 2
    return x


def test_a_scripted_module_in_a_compiled_function():
    scripted = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    compiled = torch.compile(lambda x: scripted(x) + torch.jit.script(scaled)(x, 2), backend="eager")
    torch.testing.assert_close(compiled(X), scripted(X) + X * 2)


def test_copies_and_pickles():
    scripted = torch.jit.script(Cell())
    copied = copy.deepcopy(scripted)
    assert torch.equal(copied(X), scripted(X)) and copied.linear.weight is not scripted.linear.weight
    with torch.no_grad():
        copied.linear.weight.zero_()
    assert not torch.equal(copied(X), scripted(X))
    with pytest.raises(RuntimeError, match="Tried to serialize object __torch__.Cell"):
        pickle.dumps(scripted)
    with pytest.raises(pickle.PickleError, match="ScriptFunction cannot be pickled"):
        pickle.dumps(torch.jit.script(scaled))


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(RuntimeError, match="Cell is scripted, so its branches and loops are code"):
        torch.jit.script(Cell()).save(tmp_path / "x")
    with pytest.raises(RuntimeError, match="the trace calls scripted code"):
        torch.jit.trace(torch.jit.script(Gate()).eval(), X).save(tmp_path / "x")


def test_freezing():
    scripted = torch.jit.script(Cell())
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        torch.jit.freeze(scripted)
    expected = scripted(X)
    frozen = torch.jit.freeze(scripted.eval(), preserved_attrs=["exported"])
    with torch.no_grad():
        scripted.linear.weight.zero_()
    assert torch.equal(frozen(X), expected) and not list(frozen.parameters()) and frozen.exported(1) == 4
    with pytest.raises(AttributeError, match="has no attribute 'exported'"):
        torch.jit.freeze(scripted).exported(1)
    assert torch.equal(torch.jit.optimize_for_inference(scripted)(X), scripted(X))


@torch.jit.script
class Pair:
    def __init__(self, first: int, second: int):
        self.first, self.second = first, second

    def total(self) -> int:
        return self.first + self.second


def uses_class(n: int) -> int:
    return Pair(n, 2).total() + math.floor(1.5)


def test_classes():
    assert torch.jit.script(uses_class)(3) == 6
    with pytest.raises(RuntimeError, match="cannot be compiled since it inherits from nn.Module"):
        torch.jit.script(Cell)
    with pytest.raises(TypeError, match="is a built-in class"):
        torch.jit.script(3)


def test_type_comments():
    def commented(x, n):
        # type: (Tensor, int) -> Tensor
        return x * n

    assert torch.jit.script(commented).schema == "commented(Tensor x, int n) -> Tensor"


def test_the_last_executed_graph():
    scripted = torch.jit.script(scaled)
    scripted(X, 3)
    assert str(torch.jit.last_executed_optimized_graph()) == str(scripted.graph)
    with torch.jit.optimized_execution(False):
        assert torch.equal(scripted(X, 3), X * 3)


def test_a_dataclass_is_scripted_whatever_methods_it_writes_for_itself():
    @dataclasses.dataclass(init=False)
    class Selected:
        indices: Tensor
        count: int

        def __init__(self, indices: Tensor, count: int):
            self.indices = indices
            self.count = count

    assert torch.jit.script(Selected) is Selected
    assert repr(Selected(torch.arange(2), 2)).endswith("Selected(indices=tensor([0, 1]), count=2)")
