"""Views as index rewrites: the element at a position is the element of x at another position. No memory moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Ints, Position
from minitorch_compile.inductor.ir.handler import Handler, Number
from minitorch_compile.inductor.ir.index import ZERO, Index, flatten, unflatten
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import EXPENSIVE_OPERATION, GraphLowering
from minitorch_compile.inductor.lowering.half_precision import widened
from minitorch_compile.inductor.lowering.table import lowering
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import int64


def reindexed(x: TensorBox, sizes: Sequence[int], position_in_x: Callable[[Position], Position]) -> TensorBox:
    """The box whose element at `at` is x's element at `position_in_x(at)`."""
    box = TensorBox(sizes, x.dtype, lambda ops, at: x.load(ops, position_in_x(at)), inputs=[x])
    box.constant_value = x.constant_value
    box.view_of, box.channels_last = x, False
    if x.unrounded is not None:
        wide = widened(x)  # which looks, whenever it is asked, whether x has been stored
        box.unrounded = TensorBox(sizes, wide.dtype, lambda ops, at: wide.load(ops, position_in_x(at)), inputs=[wide])
    return box


def insert_zeros(at: Position, dims: Ints) -> list[Index]:
    """A position with a 0 put in at each of `dims`.

    >>> from minitorch_compile.inductor.ir.index import variables
    >>> insert_zeros(variables("i", [4, 5]), (1,))
    [i0, 0, i1]
    """
    rest = iter(at)
    return [ZERO if dim in dims else next(rest) for dim in range(len(at) + len(dims))]


@lowering(prims.broadcast_in_dim)
def _(graph: GraphLowering, x: TensorBox, sizes: Ints, broadcast_dimensions: Ints) -> TensorBox:
    # What is computed once for many results is worth storing, unless it is a number or an addition.
    if x.operations >= EXPENSIVE_OPERATION and numel(sizes) >= 2 * x.numel:
        graph.realize(x)
    return reindexed(x, sizes, lambda at: [ZERO if n == 1 else at[d] for n, d in zip(x.sizes, broadcast_dimensions)])


@lowering(prims.transpose)
def _(graph: GraphLowering, x: TensorBox, permutation: Ints) -> TensorBox:
    inverse = [permutation.index(dim) for dim in range(len(permutation))]
    return reindexed(x, [x.sizes[dim] for dim in permutation], lambda at: [at[dim] for dim in inverse])


@lowering(prims.reshape)
def _(graph: GraphLowering, x: TensorBox, sizes: Ints) -> TensorBox:
    return reindexed(x, sizes, lambda at: unflatten(flatten(at, sizes), x.sizes))


@lowering(prims.slice)
def _(graph: GraphLowering, x: TensorBox, start_indices: Ints, limit_indices: Ints, strides: Ints) -> TensorBox:
    sizes = [-((start - limit) // step) for start, limit, step in zip(start_indices, limit_indices, strides)]
    return reindexed(x, sizes, lambda at: [i * step + start for i, start, step in zip(at, start_indices, strides)])


@lowering(prims.squeeze)
def _(graph: GraphLowering, x: TensorBox, dims: Ints) -> TensorBox:
    sizes = [size for dim, size in enumerate(x.sizes) if dim not in dims]
    return reindexed(x, sizes, lambda at: insert_zeros(at, dims))


@lowering(prims.rev)
def _(graph: GraphLowering, x: TensorBox, dims: Ints) -> TensorBox:
    return reindexed(x, x.sizes, lambda at: [x.sizes[d] - 1 - i if d in dims else i for d, i in enumerate(at)])


# ------------------------------------------------------------------------------------------ several regions


def is_outside(index: Index, low: int, high: int) -> bool:
    """Whether low <= index < high holds nowhere, as far as the ranges of the variables tell."""
    least, greatest = index.bounds()
    return greatest < low or least >= high


def within(ops: Handler, index: Index, low: int, high: int) -> object | None:
    """The condition low <= index < high, or None if it holds always."""
    least, greatest = index.bounds()
    conditions = []
    if least < low:
        conditions.append(ops.apply("ge", ops.index_value(index, int64), ops.constant(low, int64)))
    if greatest >= high:
        conditions.append(ops.apply("lt", ops.index_value(index, int64), ops.constant(high, int64)))
    return all_of(ops, conditions)


def all_of(ops: Handler, conditions: Sequence[object]) -> object | None:
    """Conditions joined by and; None stands for one that always holds."""
    result: object | None = None
    for condition in conditions:
        if condition is not None:
            result = condition if result is None else ops.apply("bitwise_and", result, condition)
    return result


@lowering(prims.pad)
def pad(graph: GraphLowering, x: TensorBox, low: Ints, high: Ints, value: Number) -> TensorBox:
    sizes = [a + n + b for a, n, b in zip(low, x.sizes, high)]

    def inner(ops: Handler, at: Position) -> object:
        if any(is_outside(i, a, a + n) for i, a, n in zip(at, low, x.sizes)):
            return ops.constant(value, x.dtype)
        inside = all_of(ops, [within(ops, i, a, a + n) for i, a, n in zip(at, low, x.sizes)])
        body = lambda: x.load(ops, [i - a for i, a in zip(at, low)])
        return body() if inside is None else ops.masked(inside, body, value, x.dtype)

    return TensorBox(sizes, x.dtype, inner, inputs=[x], operations=2)
