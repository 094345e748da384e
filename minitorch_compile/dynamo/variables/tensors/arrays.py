"""NumPy's arrays of known numbers: sizes and tables that a program computes on the way, such as np.cumsum(lengths).

An array made while tracing, of constants only, is computed at once by NumPy itself. Where it enters the graph, by
torch.from_numpy or torch.tensor, it becomes a tensor of numbers. A small array of integers from outside is guarded by
its numbers. All other arrays, above all x.numpy(), are tensors of the graph (`graph_arrays.py`).

>>> import numpy as np
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import from_numpy, ones
>>> print(captured(lambda x, lengths: x * int(np.cumsum(lengths)[-1]) + from_numpy(np.eye(2)), ones(2), [1, 2]))
x -> ((x * 3) + tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64),)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, UNARY
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import NUMPY_SCALARS, ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import ItemsIterator, IteratorVariable
from minitorch_compile.dynamo.variables.containers.sequences import SliceVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template
from minitorch_compile.dynamo.variables.tensors.array_polyfills import POLYFILLS, WRITTEN_OUT
from minitorch_compile.dynamo.variables.tensors.graph_arrays import GraphArrayVariable, call_on_arrays, has_graph_array
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.tensor import from_numpy, tensor
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, as_dtype

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

LARGEST = 4096  # numbers that are written into a graph
LARGEST_GUARDED = 64  # integers of an array from outside that are compared at each call

# Functions and methods that compute from their arguments and do nothing else.
FUNCTION_NAMES = """
    abs absolute add all any arange arctan2 argmax argmin argsort around array asarray ceil clip concatenate cos cumprod
    cumsum deg2rad diag diff divide dot exp expand_dims eye flip floor floor_divide full gcd geomspace hypot identity
    isinf isnan lcm linspace log log10 log2 logspace max maximum mean meshgrid min minimum mod multiply ones outer power
    prod rad2deg ravel repeat reshape rint roll round sign sin sort sqrt square squeeze stack std subtract sum tan tanh
    tile transpose tri tril triu unique var where zeros
"""
METHOD_NAMES = """
    all any argmax argmin argsort astype clip copy cumprod cumsum dot flatten item max mean min nonzero prod ravel
    repeat reshape round squeeze std sum tolist transpose var
"""
PURE_METHODS = frozenset(METHOD_NAMES.split())
KNOWN_ATTRIBUTES = frozenset(("shape", "ndim", "size", "itemsize", "nbytes"))


class Memory:
    """What an array and its views share. `is_shared`: with a tensor of the graph, too."""

    is_shared = False


class ArrayVariable(VariableTracker):
    """An array of known numbers that nobody changes."""

    def __init__(self, value: np.ndarray, memory: Memory | None = None, source: Source | None = None) -> None:
        super().__init__(source)
        self.value = value
        self.memory = memory or Memory()

    @classmethod
    def from_outside(cls, output: Output, value: np.ndarray, source: Source) -> ArrayVariable:
        """A small array; its type is guarded already."""
        dtype = AttrSource(source, "dtype")
        output.guards.add(
            guards.Guard(dtype, "EQUALS_MATCH", f"{{0}} == {value.dtype.str!r}", value.dtype.str),
            guards.Guard(source, "EQUALS_MATCH", f"{{0}}.tolist() == {value.tolist()!r}", "the same numbers"),
        )
        return cls(value.copy(), source=source)

    def python_type(self) -> type:
        return np.ndarray

    def of_result(self, tracer: Tracer, value: Any) -> Value:
        """What NumPy gave for this array."""
        if isinstance(value, np.ndarray):
            is_view = np.may_share_memory(value, self.value)
            if is_view and self.source is not None:
                self.unsupported("a view")
            return ArrayVariable(value, self.memory if is_view else None)
        return tracer.output.from_python(value)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name in KNOWN_ATTRIBUTES:
            return tracer.output.from_python(getattr(self.value, name))
        if name == "T":
            return self.of_result(tracer, self.value.T)
        if name in PURE_METHODS:
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}'")

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__getitem__":
            return self.of_result(tracer, tracer.compute(lambda: self.value[plain(args[0])]))
        if name not in PURE_METHODS or "out" in kwargs:
            self.unsupported(f"the method {name}()")
        values = [plain(arg) for arg in args]
        named = {key: plain(arg) for key, arg in kwargs.items()}
        return self.of_result(tracer, tracer.compute(getattr(self.value, name), *values, **named))

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return None if not is_known(other) else self.of_result(tracer, BINARY[op](self.value, plain(other)))

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return None if not is_known(other) else self.of_result(tracer, BINARY[op](plain(other), self.value))

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        self.unsupported(f"the operator {op}=")

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return None if not is_known(other) else self.of_result(tracer, COMPARE[op](self.value, plain(other)))

    def unary(self, tracer: Tracer, op: str) -> Value:
        return self.of_result(tracer, tracer.compute(UNARY[op], self.value))

    def truth(self, tracer: Tracer) -> bool:
        return bool(tracer.compute(bool, self.value))

    def length(self, tracer: Tracer) -> int:
        return int(tracer.compute(len, self.value))

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        return ItemsIterator([self.of_result(tracer, item) for item in tracer.compute(list, self.value)])

    def reconstruct(self, output: Output) -> Template:
        if self.memory.is_shared:
            raise Unsupported("unrebuildable-value", "an array that shares its memory with a tensor lives on.")
        return Template(Held(self.value, "array"), ".copy()")


def is_known(value: VariableTracker) -> bool:
    return isinstance(value, ArrayVariable) or value.is_constant()


def plain(value: Value) -> Any:
    """The Python or NumPy value of an argument; a break if it is not known."""
    tracked = value.realize()
    if isinstance(tracked, ArrayVariable):
        return tracked.value
    if tracked.is_constant():
        constant = tracked.as_constant()
        return constant.numpy if hasattr(constant, "numpy") else constant
    if tracked.python_type() in (list, tuple):
        return tracked.python_type()(plain(item) for item in tracked.items)  # type: ignore[attr-defined]
    if isinstance(tracked, SliceVariable):
        return tracked.as_constant()
    raise Unsupported("unsupported-call", f"a NumPy function of {tracked.describe()}.")


def _computed(function: Any) -> Any:
    def rule(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
        given = [_of_tensor(tracer, arg) for arg in args] if function in CONVERTING else list(args)
        if has_graph_array((*given, *kwargs.values())):
            return call_on_arrays(tracer, function, given, kwargs)
        if "out" in kwargs:
            raise Unsupported("unsupported-call", f"np.{function.__name__}(out=...) is not followed.")
        values = [plain(arg) for arg in args]
        named = {name: plain(arg) for name, arg in kwargs.items()}
        result = tracer.compute(function, *values, **named)
        if isinstance(result, (list, tuple)):
            return tracer.build(type(result).__name__, [_of_inputs(tracer, args, item) for item in result])
        return _of_inputs(tracer, args, result)

    return rule


def _of_inputs(tracer: Tracer, args: tuple[Value, ...], result: Any) -> Value:
    """The result; it may be a view of an array among the arguments."""
    for arg in args:
        tracked = arg.realize()
        if isinstance(tracked, ArrayVariable) and result is tracked.value:
            return tracked
        if isinstance(tracked, ArrayVariable) and isinstance(result, np.ndarray):
            if np.may_share_memory(result, tracked.value):
                return tracked.of_result(tracer, result)
    return ArrayVariable(result) if isinstance(result, np.ndarray) else tracer.output.from_python(result)


CONVERTING = (np.asarray, np.array, np.ascontiguousarray)


def _of_tensor(tracer: Tracer, value: Value) -> Value:
    """The array that np.asarray makes of a tensor."""
    tracked = value.realize()
    return tracked.call_method(tracer, "numpy", [], {}) if isinstance(tracked, TensorVariable) else tracked


def _written_out(function: Callable[..., Any], body: Callable[..., Any]) -> Callable[..., Value]:
    """The rule of a function of which `body` says what it does with arrays of the graph."""
    computed = _computed(function)

    def rule(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
        if has_graph_array([*args, *kwargs.values()]):
            return tracer.call(tracer.polyfill(body), list(args), kwargs)
        return computed(tracer, *args, **kwargs)

    return rule


for _function in dict.fromkeys([*(getattr(np, name) for name in FUNCTION_NAMES.split()), *POLYFILLS]):
    handles(_function)(_computed(_function))
for _function, _body in WRITTEN_OUT.items():
    handles(_function)(_written_out(_function, _body))
for _type in NUMPY_SCALARS:
    handles(_type)(_computed(_type))


# --- arrays as tensors ------------------------------------------------------------------------------------------------


def as_numbers(array: ArrayVariable) -> ConstantVariable:
    """The numbers as nested lists, to be written into the graph."""
    if not 0 < array.value.size <= LARGEST or array.value.dtype not in FROM_NUMPY:
        array.unsupported("a tensor of it")
    return ConstantVariable(array.value.tolist())


def tensor_of(tracer: Tracer, array: ArrayVariable, dtype: Value | None = None) -> Value:
    """A node that makes a tensor with a copy of the numbers."""
    kept = dtype or ConstantVariable(FROM_NUMPY[array.value.dtype])
    return tracer.output.call("call_function", tensor, [as_numbers(array)], {"dtype": kept})


def tensor_sharing(tracer: Tracer, array: ArrayVariable, dtype: Value | None = None) -> Value:
    """The same for functions that give a tensor on the array's own memory."""
    if array.source is not None:
        array.unsupported("a tensor that shares its memory")
    if dtype is None or as_dtype(tracer.constant(dtype)).numpy == array.value.dtype:
        array.memory.is_shared = True
    return tensor_of(tracer, array, dtype)


@handles(from_numpy)
def _from_numpy(tracer: Tracer, ndarray: Value) -> Value:
    tracked = ndarray.realize()
    if isinstance(tracked, GraphArrayVariable) and not tracked.is_scalar:
        return tracked.tensor.call_method(tracer, "detach", [], {})
    if not isinstance(tracked, ArrayVariable):
        tracked.unsupported("torch.from_numpy()", "unsupported-call")
    assert isinstance(tracked, ArrayVariable)
    return tensor_sharing(tracer, tracked)
