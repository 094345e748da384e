"""Reductions, the two that find a place instead of a value, and running results."""

from __future__ import annotations

import numpy as np

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Buffer, Ints, Position
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.loops import Loop, TensorBox
from minitorch_compile.inductor.ir.ordered_loops import Scan
from minitorch_compile.inductor.lowering.graph_lowering import MOST_OPERATIONS, GraphLowering
from minitorch_compile.inductor.lowering.shape import insert_zeros
from minitorch_compile.inductor.lowering.table import Rule, lowering
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import dtype, int32, int64

# A reduction of everything is taken in parts from this many elements on, so that threads can share the parts.
LONG_REDUCTION, FEWEST_PARTS, MOST_PARTS = 1 << 16, 16, 1 << 12


def reduced(graph: GraphLowering, kind: str, x: TensorBox, dims: Ints, place_of: Buffer | None = None) -> TensorBox:
    """x combined over `dims`: a loop of its own, always. `place_of`: see `Loop`."""
    sizes = tuple(size for dim, size in enumerate(x.sizes) if dim not in dims)
    if numel(x.sizes) == 0:
        return reduced_nothing(kind, x.dtype, sizes)
    if numel([x.sizes[dim] for dim in dims]) == 1:  # nothing to combine
        return TensorBox(sizes, x.dtype, lambda ops, at: x.load(ops, insert_zeros(at, dims)), inputs=[x])
    if x.operations > MOST_OPERATIONS:
        graph.realize(x)
    parts = in_parts(x) if numel(sizes) == 1 else None
    if parts is not None:
        of_parts = reduced(graph, kind, parts, tuple(range(1, len(parts.sizes))))
        total = reduced(graph, kind, of_parts, (0,))
        result = TensorBox(sizes, x.dtype, lambda ops, at: total.load(ops, ()), inputs=[total])
        result.view_of = total
        return total if sizes == () else result
    buffer = graph.new_buffer(sizes, x.dtype)
    graph.add(Loop(buffer, x.sizes, x.load, reduced=tuple(dims), kind=kind, place_of=place_of))
    return TensorBox.of(buffer)


def reduced_nothing(kind: str, dtype: dtype, sizes: Ints) -> TensorBox:
    """What a reduction gives where it has nothing to combine: 0 for a sum, 1 for a product."""
    neutral = np.asarray(prims.table[kind].kernel(np.zeros((0,), dtype.numpy), (0,))).item()
    return TensorBox(sizes, dtype, lambda ops, at: ops.constant(neutral, dtype))


def in_parts(x: TensorBox) -> TensorBox | None:
    """A box with many elements as one whose first dimension counts parts of it; None if it is short or can't be cut."""
    if x.numel < LONG_REDUCTION:
        return None
    if len(x.sizes) > 1:
        return x if x.sizes[0] >= FEWEST_PARTS else None
    length = x.sizes[0]
    count = next((n for n in range(MOST_PARTS, FEWEST_PARTS - 1, -1) if length % n == 0), None)
    if count is None:
        return None
    step = length // count
    return TensorBox((count, step), x.dtype, lambda ops, at: x.load(ops, (at[0] * step + at[1],)), inputs=[x])


def _rule(kind: str) -> Rule:
    return lambda graph, x, dims: reduced(graph, kind, x, dims)


for _prim in (prims.sum, prims.prod, prims.amax, prims.amin):
    lowering(_prim)(_rule(_prim.name))


def first_place(graph: GraphLowering, x: TensorBox, dim: int, kind: str) -> TensorBox:
    """The least index along `dim` at which the extreme value stands: two reductions, both of which vectorise."""
    parts = in_parts(x) if len(x.sizes) == 1 else None
    return place_by_parts(graph, parts, kind) if parts is not None else extreme_and_place(graph, x, dim, kind)[1]


def place_by_parts(graph: GraphLowering, x: TensorBox, kind: str) -> TensorBox:
    """The least index into a vector that is cut into the rows of x: the first place in each row, then among these."""
    extremes, places = extreme_and_place(graph, x, 1, kind)
    _, part = extreme_and_place(graph, extremes, 0, kind)

    def index(ops: Handler, at: Position) -> object:
        chosen = ops.indirect(part.load(ops, ()), x.sizes[0], wrap=False)
        start = ops.apply("mul", part.load(ops, ()), ops.constant(x.sizes[1], int64))
        return ops.apply("add", start, places.load(ops, (chosen,)))

    graph.realize(places)
    graph.realize(part)
    return TensorBox((), int64, index, inputs=[part, places], operations=3)


def extreme_and_place(graph: GraphLowering, x: TensorBox, dim: int, kind: str) -> tuple[TensorBox, TensorBox]:
    """The extreme value along `dim`, and the least index at which it stands."""
    extreme = reduced(graph, kind, x, (dim,))
    none = x.sizes[dim]
    narrow = int32 if none < 2**31 else int64  # twice as many places in a vector

    def candidate(ops: Handler, at: Position) -> object:
        value = x.load(ops, at)
        best = extreme.load(ops, [i for d, i in enumerate(at) if d != dim])
        found = ops.apply("eq", value, best)
        if x.dtype.is_floating_point:  # if there is a NaN, the extreme is NaN, and the first NaN is meant
            found = ops.apply("bitwise_or", found, ops.apply("ne", value, value))
        return ops.apply("where", found, ops.index_value(at[dim], narrow), ops.constant(none, narrow))

    places = TensorBox(x.sizes, narrow, candidate, inputs=[x, extreme], operations=3)
    least = reduced(graph, "amin", places, (dim,), place_of=extreme.buffer)
    place = TensorBox(least.sizes, int64, lambda ops, at: ops.convert(least.load(ops, at), int64), inputs=[least])
    return extreme, place


@lowering(prims.argmax)
def _(graph: GraphLowering, x: TensorBox, dim: int) -> TensorBox:
    return first_place(graph, x, dim, "amax")


@lowering(prims.argmin)
def _(graph: GraphLowering, x: TensorBox, dim: int) -> TensorBox:
    return first_place(graph, x, dim, "amin")


@lowering(prims.scan)
def _(graph: GraphLowering, x: TensorBox, dim: int, kind: str) -> TensorBox:
    if x.sizes[dim] == 1:  # nothing to combine
        return TensorBox(x.sizes, x.dtype, x.load, inputs=[x], operations=1)
    buffer = graph.new_buffer(x.sizes, x.dtype)
    graph.add(Scan(buffer, x.sizes, x.load, kind=kind, dim=dim))
    return TensorBox.of(buffer)
