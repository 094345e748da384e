"""What the loop IR means: every body computed with NumPy, at all positions at once.

This is the `loops` target, and the oracle that generated kernels are tested against. A loop variable is an array of its
values along its own axis, so an index expression is an integer array, a load is a gather, and elementwise primitives
are the kernels of `prims` themselves.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, total = Buffer("x", (2, 3), (3, 1), float32), Buffer("total", (2,), (1,), float32)
>>> memory = {"x": np.arange(6, dtype=np.float32)}
>>> body = lambda ops, at: ops.apply("mul", ops.load(x, x.address(at)), ops.constant(2, float32))
>>> run_operation(Loop(total, (2, 3), body, reduced=(1,), kind="sum"), memory)
>>> memory["total"]
array([ 6., 24.], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, whole
from minitorch_compile.inductor.ir.extern_reference import MEANINGS as PACKED_MEANINGS
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import Digit, Index, Symbol, symbol
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph, Operation
from minitorch_compile.inductor.ir.ordered_loops import Scatter
from minitorch_compile.prims import table as prims
from minitorch_compile.prims.reduction import COMBINES
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.random.philox import uniform

Memory = dict[str, np.ndarray]


class EvaluateHandler(Handler):
    """Computes a body at every position of an iteration space: values are arrays that broadcast over the space."""

    def __init__(
        self, memory: Memory, position: Sequence[Index], sizes: Sequence[int], row_dims: Sequence[int] = ()
    ) -> None:
        super().__init__()
        self.memory = memory
        self.sizes = tuple(sizes)
        self.row_dims = tuple(row_dims)  # those that are reduced or scanned
        self.values: dict[Symbol, np.ndarray] = {}
        self.masks: list[np.ndarray] = []
        for axis, (variable, size) in enumerate(zip(position, sizes)):
            for name in variable.symbols:
                self.values[name] = np.arange(size).reshape([-1 if d == axis else 1 for d in range(len(self.sizes))])

    def evaluate(self, index: Index) -> np.ndarray:
        return evaluate(index, self.values)

    def load(self, buffer: Buffer, address: Index) -> np.ndarray:
        where = self.evaluate(address)
        source = self.target(buffer)  # nothing fills an empty buffer
        if self.masks:  # addresses of positions that the mask excludes may lie outside
            where = np.clip(where, 0, max(len(source) - 1, 0))
        return source[where] if len(source) else np.zeros(np.shape(where), source.dtype)

    def constant(self, value: Number, dtype: dtype) -> np.ndarray:
        return np.asarray(value, dtype.numpy)

    def index_value(self, index: Index, dtype: dtype) -> np.ndarray:
        return np.asarray(self.evaluate(index)).astype(dtype.numpy)

    def apply(self, prim: str, *operands: np.ndarray) -> np.ndarray:
        return np.asarray(prims[prim].kernel(*operands))

    def convert(self, value: np.ndarray, dtype: dtype) -> np.ndarray:
        return np.asarray(prims["convert_element_type"].kernel(value, dtype))

    def random(self, seed: np.ndarray, counter: np.ndarray, dtype: dtype) -> np.ndarray:
        return random_at(seed, counter, dtype)

    def indirect(self, value: np.ndarray, size: int, wrap: bool) -> Index:
        wrapped = np.where(value < 0, value + size, value) if wrap else value
        active = np.logical_and.reduce(np.broadcast_arrays(*self.masks)) if self.masks else np.asarray(True)
        outside = ((wrapped < 0) | (wrapped >= size)) & active
        if np.any(outside):
            wrong = np.broadcast_to(value, np.shape(outside))[outside].flat[0]
            raise index_error(int(wrong), size, wrap)
        name = Symbol(f"indirect{len(self.values)}", size, True)
        self.values[name] = np.clip(wrapped, 0, max(size - 1, 0))
        return symbol(*name)

    def masked(self, condition: np.ndarray, body: Callable[[], np.ndarray], other: Number, dtype: dtype) -> np.ndarray:
        self.masks.append(condition)
        value = self.inside(body)
        self.masks.pop()
        return np.where(condition, value, np.asarray(other, dtype.numpy))

    def store(self, buffer: Buffer, address: Index, value: np.ndarray) -> None:
        self.target(buffer)[self.evaluate(address)] = value

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: np.ndarray) -> None:
        everywhere = np.broadcast_to(value, self.sizes)
        where = np.asarray(self.evaluate(address))
        if where.ndim:  # the address has size 1 along the reduced axes: drop them as the reduction does
            where = np.broadcast_to(where, [1 if d in self.row_dims else n for d, n in enumerate(self.sizes)])
            where = where.reshape([n for d, n in enumerate(self.sizes) if d not in self.row_dims])
        reduced = np.asarray(prims[kind].kernel(everywhere, self.row_dims))
        self.target(buffer)[where] = reduced.reshape(where.shape)

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: np.ndarray) -> None:
        everywhere = np.broadcast_to(value, self.sizes)
        (dim,) = self.row_dims
        self.store(buffer, address, prims["scan"].kernel(everywhere, dim, kind))

    def target(self, buffer: Buffer) -> np.ndarray:
        if buffer.name not in self.memory:
            self.memory[buffer.name] = np.zeros(buffer.length, buffer.dtype.numpy)
        return self.memory[buffer.name]


def index_error(value: int, size: int, wrap: bool) -> Exception:
    """The error for an index out of range: PyTorch's class for indexing, and for gather and its kin."""
    kind = IndexError if wrap else RuntimeError
    return kind(f"index {value} is out of bounds for dimension with size {size}")


def evaluate(index: Index, values: Mapping[Symbol, np.ndarray]) -> np.ndarray:
    """An index expression as an array, given the values of its variables.

    >>> i = symbol("i", 4)
    >>> evaluate(10 * (i // 2) + i, {Symbol("i", 4): np.arange(4)})
    array([ 0,  1, 12, 13])
    """
    total = np.asarray(index.constant)
    for atom, count in index.terms:
        total = total + count * _evaluate_atom(atom, values)
    return total


def _evaluate_atom(atom: Symbol | Digit, values: Mapping[Symbol, np.ndarray]) -> np.ndarray:
    if isinstance(atom, Symbol):
        return values[atom]
    quotient = evaluate(atom.base, values) // atom.divisor
    return quotient % atom.modulus if atom.modulus else quotient


def random_at(seed: np.ndarray, counter: np.ndarray, dtype: dtype) -> np.ndarray:
    """The random number of each counter: a run of the stream that covers them all, picked from.

    >>> from minitorch_compile.tensor.numerics.dtype import float32
    >>> random_at(np.int64(7), np.array([5, 3]), float32) == uniform(7, 3, 3, np.dtype("float32"))[[2, 0]]
    array([ True,  True])
    """
    if counter.size == 0:
        return np.zeros(counter.shape, dtype.numpy)
    first = int(counter.min())
    run = uniform(int(np.asarray(seed).flat[0]), first, int(counter.max()) - first + 1, dtype.numpy)
    return run[counter - first]


# ------------------------------------------------------------------------------------------------ whole loops


def run_operation(operation: Operation, memory: Memory) -> None:
    """Fills the buffers that an operation writes."""
    if isinstance(operation, ExternCall):
        _run_extern(operation, memory)
    elif isinstance(operation, Scatter):
        _run_scatter(operation, memory)
    else:
        position = loop_variables(operation)
        operation.run(EvaluateHandler(memory, position, operation.sizes, operation.row_dims), position)


def _run_scatter(loop: Scatter, memory: Memory) -> None:
    run_operation(Loop(loop.buffer, loop.buffer.sizes, loop.initial), memory)
    position = loop_variables(loop)
    handler = EvaluateHandler(memory, position, loop.sizes)
    values = np.broadcast_to(loop.inner_fn(handler, position), loop.sizes)
    where = np.broadcast_to(handler.evaluate(loop.buffer.address(loop.target(handler, position))), loop.sizes)
    if loop.combine:
        COMBINES[loop.combine].at(memory[loop.buffer.name], where.ravel(), values.ravel())
    else:
        memory[loop.buffer.name][where.ravel()] = values.ravel()


def window(view: StridedView, memory: Memory) -> np.ndarray:
    """The elements of a view, without a copy."""
    source = memory.get(view.buffer.name)
    if source is None:  # nothing fills an empty buffer
        source = np.zeros(view.buffer.length, view.buffer.dtype.numpy)
    strides = [s * source.itemsize for s in view.strides]
    return np.lib.stride_tricks.as_strided(source[view.offset :], view.sizes, strides)


def _run_extern(call: ExternCall, memory: Memory) -> None:
    meaning = prims[call.kernel].kernel if call.kernel in prims else PACKED_MEANINGS[call.kernel]
    results = meaning(*(window(view, memory) for view in call.inputs), *call.parameters)
    for buffer, result in zip(call.outputs, results if isinstance(results, tuple) else (results,)):
        memory[buffer.name] = np.zeros(buffer.length, buffer.dtype.numpy)
        window(whole(buffer), memory)[...] = result


def interpret(graph: LoopGraph, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a loop graph; `inputs` are the flat arrays behind its inputs and then its constants."""
    memory: Memory = {buffer.name: array for buffer, array in zip([*graph.inputs, *graph.constants], inputs)}
    with np.errstate(all="ignore"):
        for operation in graph.operations:
            run_operation(operation, memory)
    return [window(view, memory) for view in graph.outputs]
