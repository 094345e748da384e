"""NumPy's arrays as tensors of the graph: `x.numpy()`, arrays from outside, and what NumPy's functions make of them.

The graph computes with tensors; where an array lives on, it is `tensor.numpy()`. What NumPy would give, a number or an
array, of which dtype and shape, NumPy itself says for ones of the same shapes; where the tensor operation gives
something else, it is converted, or the graph breaks.

>>> import numpy as np
>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda x: np.sin(x.numpy()).sum(axis=0), ones(2, 3)))
(out_0,) = graph(x)
return out_0.numpy()
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, INPLACE
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import ChainedSource, Source
from minitorch_compile.dynamo.variables.base import ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import ItemsIterator, IteratorVariable
from minitorch_compile.dynamo.variables.containers.sequences import SliceVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Template
from minitorch_compile.dynamo.variables.tensors.array_polyfills import (
    LISTING_METHODS,
    METHODS,
    OF_TENSORS_ONLY,
    POLYFILLS,
    Operands,
    get_item,
    same,
)
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.tensor_members import METHODS as TENSOR_METHODS
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import from_numpy, grad_mode, tensor
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

LARGEST_TRIED = 1 << 20  # elements of the ones that NumPy is asked with
OPERATORS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "@": np.matmul,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
UNARY_OPERATORS = {"-": np.negative, "+": np.positive}


@dataclass(frozen=True)
class ArrayTensorSource(ChainedSource):
    """A tensor on the memory of the array origin, made at each call. `function` is its name in the generated code."""

    function: str

    def read(self, base: str) -> str:
        return f"{self.function}({base})"


class GraphArrayVariable(VariableTracker):
    """An array, or with `is_scalar` a number of NumPy's, whose elements are a tensor of the graph.

    One from outside becomes an input of the graph when something is computed with it.
    """

    def __init__(self, tensor: TensorVariable | None, is_scalar: bool = False, source: Source | None = None) -> None:
        super().__init__(source)
        self._tensor = tensor
        self.is_scalar = is_scalar
        self.real: np.ndarray | None = None
        self.output: Output | None = None

    @classmethod
    def from_outside(cls, output: Output, value: np.ndarray, source: Source) -> GraphArrayVariable:
        made = cls(None, source=source)
        made.real, made.output = value, output
        return made

    def real_value(self) -> Any:
        return super().real_value() if self.real is None else self.real

    @property
    def tensor(self) -> TensorVariable:
        if self._tensor is None:
            assert self.output is not None and self.real is not None and self.source is not None
            names = self.output.names
            layout = "({0}.dtype.str, {0}.shape, {0}.strides)"
            seen = repr((self.real.dtype.str, self.real.shape, self.real.strides))
            self.output.guards.add(guards.Guard(self.source, "ARRAY_MATCH", f"{layout} == {seen}", seen, actual=layout))
            source = ArrayTensorSource(self.source, names.install(from_numpy, "from_numpy"))
            self._tensor = self.output.graph_input(from_numpy(self.real), source)
        return self._tensor

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.tensor.fake.dtype.numpy

    def python_type(self) -> type:
        return self.dtype.type if self.is_scalar else np.ndarray

    def example(self) -> Any:
        """Ones of the same shape and dtype, for NumPy to try itself on."""
        sizes = [size.hint if isinstance(size, SymInt) else size for size in self.tensor.fake.sizes]
        if math.prod(sizes) > LARGEST_TRIED:
            raise Unsupported("unsupported-call", f"an array of more than {LARGEST_TRIED} numbers is not followed.")
        made = np.ones(sizes, self.dtype)
        return made[()] if self.is_scalar else made

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name in ("shape", "ndim", "size", "itemsize", "nbytes"):
            sizes = self.tensor.fake.sizes
            known = {"shape": tuple(sizes), "ndim": len(sizes), "size": math.prod(sizes)}
            return tracer.output.from_python(known[name] if name in known else getattr(self.example(), name))
        if name == "T":
            return call_on_arrays(tracer, np.transpose, [self], {})
        if name in METHODS or name in ("astype", "flatten", "__getitem__", "__setitem__"):
            return BuiltinMethodVariable(self, name)
        self.unsupported(f"the attribute '{name}'")

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__getitem__":
            return self._item(tracer, args[0])
        if name == "__setitem__":
            return self._store(tracer, *args)
        if name == "astype" and len(args) == 1 and not kwargs:
            wanted = tracer.compute(self.example().astype, plain_or_class(tracer, args[0]))
            made = self.tensor if wanted.dtype != self.dtype else self.tensor.call_method(tracer, "clone", [], {})
            return array_like(tracer, made.realize(), wanted)
        if name == "flatten" and not args and not kwargs:
            return call_on_arrays(tracer, np.copy, [call_on_arrays(tracer, np.ravel, [self], {})], {})
        if name not in METHODS:
            self.unsupported(f"the method {name}()")
        if name in LISTING_METHODS and len(args) > 1:
            args = [tracer.build("tuple", args)]
        return call_on_arrays(tracer, getattr(np, name), [self, *args], kwargs)

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operated(tracer, op, [self, other])

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operated(tracer, op, [other, self])

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operated(tracer, op, [self, other])

    def _operated(self, tracer: Tracer, op: str, operands: list[VariableTracker]) -> Value | None:
        if op not in OPERATORS or not all(map(is_operand, operands)):
            self.unsupported(f"the operator {op}")
        tried = BINARY.get(op) or COMPARE[op]  # a ** 2 gives other dtypes than np.power(a, 2)
        return call_on_arrays(tracer, OPERATORS[op], [*operands], {}, tried)

    def unary(self, tracer: Tracer, op: str) -> Value:
        if op == "~" and self.dtype == np.bool_:
            return call_on_arrays(tracer, np.logical_not, [self], {})
        if op not in UNARY_OPERATORS:
            return super().unary(tracer, op)
        return call_on_arrays(tracer, UNARY_OPERATORS[op], [self], {})

    def length(self, tracer: Tracer) -> int:
        return int(tracer.compute(len, self.example()))

    def truth(self, tracer: Tracer) -> bool:
        raise Unsupported("data-dependent-jump", "bool() of an array needs its data, which does not exist yet.")

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        count = len(tracer.compute(list, self.example()))
        return ItemsIterator([self._item(tracer, ConstantVariable(i)) for i in range(count)])

    # --- items and writes ---------------------------------------------------------------------------------------------

    def _item(self, tracer: Tracer, index: Value) -> Value:
        wanted = tracer.compute(lambda: self.example()[example_of(tracer, index, as_index=True)])
        made = _traced(tracer, get_item, [self.tensor, unwrapped(tracer, index)], {})
        return array_like(tracer, made, wanted)

    def _store(self, tracer: Tracer, index: Value, value: Value) -> Value:
        self._check_written()

        stored = unwrapped(tracer, value).realize()
        is_number = stored.is_constant() and isinstance(stored.as_constant(), (int, float))
        if not is_number and not isinstance(stored, TensorVariable):
            self.unsupported("a store of this value", "unsupported-store")

        def tried() -> None:
            places = example_of(tracer, index, as_index=True, allow_masks=is_number)
            self.example()[places] = example_of(tracer, value)

        tracer.compute(tried)
        if isinstance(stored, TensorVariable):
            stored = _converted(tracer, stored, self.dtype)
        tracer.setitem(self.tensor, unwrapped(tracer, index), stored)
        return ConstantVariable(None)

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if self.is_scalar:
            return None
        if op not in OPERATORS or op == "@" or not is_operand(other):
            self.unsupported(f"the operator {op}=")
        self._check_written()
        tracer.compute(INPLACE[op], self.example(), example_of(tracer, other))
        tracer.inplace(op, self.tensor, _operand(tracer, unwrapped(tracer, other), self.dtype))
        return self

    def _check_written(self) -> None:
        if self.source is not None:
            self.unsupported("a write to an array from outside", "unsupported-store")

    def reconstruct(self, output: Output) -> Template:
        return Template(self.tensor, ".numpy()[()]" if self.is_scalar else ".numpy()")


def is_operand(value: VariableTracker) -> bool:
    """Whether an array takes it as the other side of an operator."""
    return isinstance(value, GraphArrayVariable) or _is_known(value)


def _is_known(value: VariableTracker) -> bool:
    from minitorch_compile.dynamo.variables.tensors.arrays import ArrayVariable

    return isinstance(value, ArrayVariable) or (value.is_constant() and not isinstance(value, TensorVariable))


def has_graph_array(values: Any) -> bool:
    """Whether one of these trackers is an array of the graph, or a list or tuple with one."""
    for value in values:
        tracked = value.realize()
        if isinstance(tracked, GraphArrayVariable):
            return True
        if tracked.python_type() in (list, tuple) and has_graph_array(getattr(tracked, "items", ())):
            return True
    return False


def plain_or_class(tracer: Tracer, value: Value) -> Any:
    """A dtype, as NumPy takes it: a class, a name."""
    tracked = value.realize()
    known = tracked.as_constant() if tracked.is_constant() else tracked.real_value()
    return tracer.compute(np.dtype, known)


def example_of(tracer: Tracer, value: Value, as_index: bool = False, allow_masks: bool = False) -> Any:
    """What NumPy is tried with in place of a value. An index of the graph is 0; one of truth values has no shape."""
    from minitorch_compile.dynamo.variables.tensors.arrays import ArrayVariable

    tracked = value.realize()
    if isinstance(tracked, GraphArrayVariable):
        made = tracked.example()
        if as_index and made.dtype.kind == "b" and not allow_masks:
            raise Unsupported("data-dependent-shape", "an array of truth values chooses elements of another.")
        return made * 0 if as_index and made.dtype.kind in "iu" else made
    if isinstance(tracked, ArrayVariable):
        return tracked.value
    if isinstance(tracked, SliceVariable):
        return tracer.constant(tracked)
    if tracked.python_type() in (list, tuple):
        items = tracked.items  # type: ignore[attr-defined]
        return tracked.python_type()(example_of(tracer, item, as_index, allow_masks) for item in items)
    if isinstance(tracked, TensorVariable):
        raise Unsupported("unsupported-call", "a NumPy function of a tensor.")
    known = tracer.constant(tracked)
    return known.numpy if hasattr(known, "numpy") else known


def unwrapped(tracer: Tracer, value: Value) -> Value:
    """The tensors of the arrays in a value; numbers of NumPy as numbers."""
    from minitorch_compile.dynamo.variables.tensors.arrays import ArrayVariable, tensor_of

    tracked = value.realize()
    if isinstance(tracked, GraphArrayVariable):
        return tracked.tensor
    if isinstance(tracked, ArrayVariable):
        return tensor_of(tracer, tracked)
    if tracked.python_type() in (list, tuple):
        items = [unwrapped(tracer, item) for item in tracked.items]  # type: ignore[attr-defined]
        return tracer.build(tracked.python_type().__name__, items)
    if tracked.is_constant() and isinstance(tracked.as_constant(), np.generic):
        return ConstantVariable(tracked.as_constant().item())
    return tracked


def call_on_arrays(
    tracer: Tracer, function: Any, args: list[Value], kwargs: dict[str, Value], tried: Callable[..., Any] | None = None
) -> Value:
    """A function of NumPy's on arrays of which one is in the graph; `tried` tells what it gives."""
    row = POLYFILLS.get(function)
    name = getattr(function, "__name__", str(function))
    if row is None or "out" in kwargs or "where" in kwargs:
        raise Unsupported("unsupported-call", f"np.{name} is not followed for arrays that the graph computes.")
    examples = [example_of(tracer, arg) for arg in args]
    named = {
        key: plain_dtype(tracer, arg) if key == "dtype" else example_of(tracer, arg) for key, arg in kwargs.items()
    }
    with np.errstate(all="ignore"):
        wanted = tracer.compute(tried or function, *examples, **named)
    if not isinstance(wanted, (np.ndarray, np.generic)):
        raise Unsupported("unsupported-call", f"np.{name} gives a {type(wanted).__name__}.")
    polyfill, operands = row
    dtype = _operand_dtype(operands, wanted, [*examples, *named.values()])
    given = [_operand(tracer, unwrapped(tracer, arg), dtype) for arg in args]
    if function in OF_TENSORS_ONLY:
        given = [_as_tensor(tracer, value, dtype) for value in given]
    first = args[0].realize() if args else None
    if polyfill is same and isinstance(first, GraphArrayVariable) and wanted.dtype == first.dtype:
        return first
    options = {k: _operand(tracer, unwrapped(tracer, v), dtype) for k, v in kwargs.items() if k != "dtype"}
    return array_like(tracer, _traced(tracer, polyfill, given, options), wanted)


def plain_dtype(tracer: Tracer, value: Value) -> Any:
    return None if tracer.is_none(value) else plain_or_class(tracer, value)


def _operand_dtype(operands: Operands, wanted: Any, examples: list[Any]) -> np.dtype[Any] | None:
    if operands is Operands.OWN:
        return None
    if operands is Operands.OF_RESULT:
        return wanted.dtype
    return np.result_type(*(x for x in examples if isinstance(x, (np.ndarray, np.generic, int, float, complex))))


def _operand(tracer: Tracer, value: Value, dtype: np.dtype[Any] | None) -> Value:
    """A tensor, or a list of such, in the dtype that is computed with."""
    tracked = value.realize()
    if isinstance(tracked, TensorVariable) and dtype is not None:
        return _converted(tracer, tracked, dtype)
    if tracked.python_type() in (list, tuple) and dtype is not None:
        items = [_operand(tracer, item, dtype) for item in tracked.items]  # type: ignore[attr-defined]
        return tracer.build(tracked.python_type().__name__, items)
    return tracked


def _as_tensor(tracer: Tracer, value: Value, dtype: np.dtype[Any] | None) -> Value:
    """A number as a tensor without dimensions."""
    if isinstance(value.realize(), TensorVariable) or dtype is None:
        return value
    return tracer.output.call("call_function", tensor, [value], {"dtype": ConstantVariable(FROM_NUMPY[dtype])})


def _converted(tracer: Tracer, tensor: TensorVariable, dtype: np.dtype[Any]) -> TensorVariable:
    if dtype not in FROM_NUMPY:
        raise Unsupported("unsupported-call", f"tensors of {dtype} are not followed.")
    if FROM_NUMPY[dtype] is tensor.fake.dtype:
        return tensor
    made = tensor.call_method(tracer, "to", [ConstantVariable(FROM_NUMPY[dtype])], {}).realize()
    assert isinstance(made, TensorVariable)
    return made


def _traced(tracer: Tracer, polyfill: Callable[..., Any], args: list[Any], kwargs: dict[str, Value]) -> VariableTracker:
    """What the tensor operations give; where they raise, and NumPy did not, the graph breaks."""
    try:
        return tracer.call(tracer.polyfill(polyfill), args, kwargs).realize()
    except ObservedException as error:
        name = polyfill.__name__
        raise Unsupported("unsupported-call", f"NumPy's {name} with these arguments is not followed.") from error


def array_like(tracer: Tracer, made: VariableTracker, wanted: Any) -> Value:
    """The array that a tensor stands for, of the shape and dtype that NumPy gave for ones."""
    if not isinstance(made, TensorVariable):
        made.unsupported("as an array")
    assert isinstance(made, TensorVariable)
    sizes = tuple(size.hint if isinstance(size, SymInt) else size for size in made.fake.sizes)
    if sizes != np.shape(wanted):
        raise Unsupported("unsupported-call", f"an array of shape {np.shape(wanted)}, where tensors give {sizes}.")
    return GraphArrayVariable(_converted(tracer, made, wanted.dtype), isinstance(wanted, np.generic))


def _numpy(tracer: Tracer, subject: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """x.numpy(), x.__array__(): an array on the same memory."""
    forced = name == "numpy" and "force" in kwargs and tracer.truth(kwargs["force"])
    has_gradient = subject.fake.requires_grad and grad_mode.state.enabled and not forced
    if args or kwargs.keys() - {"force"} or has_gradient or subject.fake.dtype not in FROM_NUMPY.values():
        raise Unsupported("data-dependent-value", f".{name}() of this tensor is refused, or not followed.")
    detached = subject.call_method(tracer, "detach", [], {}).realize()
    assert isinstance(detached, TensorVariable)
    return GraphArrayVariable(detached)


TENSOR_METHODS.update({"numpy": _numpy, "__array__": _numpy})
