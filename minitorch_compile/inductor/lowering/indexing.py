"""Elements chosen by computed indices: loads from a computed address, and serial loops that store to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Ints, Position
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.ir.ordered_loops import Scatter
from minitorch_compile.inductor.lowering.graph_lowering import EXPENSIVE_OPERATION, GraphLowering
from minitorch_compile.inductor.lowering.table import lowering
from minitorch_compile.tensor.ops.indexing import index_sizes

Indices = Sequence[TensorBox | None]


@lowering(prims.gather)
def _(graph: GraphLowering, x: TensorBox, dim: int, index: TensorBox) -> TensorBox:
    _store_if_costly(graph, x)
    place = _along(x, dim, index)
    return TensorBox(index.sizes, x.dtype, lambda ops, at: x.load(ops, place(ops, at)), inputs=[x, index], operations=2)


@lowering(prims.scatter_add)
def _(graph: GraphLowering, x: TensorBox, dim: int, index: TensorBox, src: TensorBox) -> TensorBox:
    return scatter(graph, x, src, _along(x, dim, index), "sum")


@lowering(prims.scatter_reduce)
def _(graph: GraphLowering, x: TensorBox, dim: int, index: TensorBox, src: TensorBox, reduce: str) -> TensorBox:
    return scatter(graph, x, src, _along(x, dim, index), reduce)


def _along(x: TensorBox, dim: int, index: TensorBox) -> Callable[[Handler, Position], Position]:
    """For a position in `index`, the position in x that its element stands for."""

    def place(ops: Handler, at: Position) -> Position:
        chosen = ops.indirect(index.load(ops, at), x.sizes[dim], wrap=False)
        return [chosen if d == dim else i for d, i in enumerate(at)]

    return place


@lowering(prims.index)
def _(graph: GraphLowering, x: TensorBox, indices: Indices) -> TensorBox:
    _store_if_costly(graph, x)
    sizes, place = _by_tensors(x, indices)
    used = [i for i in indices if i is not None]
    return TensorBox(sizes, x.dtype, lambda ops, at: x.load(ops, place(ops, at)), inputs=[x, *used], operations=2)


@lowering(prims.index_put)
def _(graph: GraphLowering, x: TensorBox, indices: Indices, values: TensorBox, accumulate: bool) -> TensorBox:
    _, place = _by_tensors(x, indices)
    return scatter(graph, x, values, place, "sum" if accumulate else "")


def _by_tensors(x: TensorBox, indices: Indices) -> tuple[Ints, Callable[[Handler, Position], Position]]:
    """The sizes of x[indices], and for a position in it the position in x."""
    sizes = index_sizes(x.sizes, [None if i is None else i.sizes for i in indices])
    used = [dim for dim, i in enumerate(indices) if i is not None]
    common = len(indices[used[0]].sizes)  # type: ignore[union-attr]
    lead = used[0] if used == list(range(used[0], used[-1] + 1)) else 0

    def place(ops: Handler, at: Position) -> list[Index]:
        chosen, rest = at[lead : lead + common], iter([*at[:lead], *at[lead + common :]])
        result = []
        for dim, size in enumerate(x.sizes):
            index = indices[dim] if dim < len(indices) else None
            result.append(next(rest) if index is None else ops.indirect(index.load(ops, chosen), size, wrap=True))
        return result

    return sizes, place


def scatter(
    graph: GraphLowering,
    x: TensorBox,
    values: TensorBox,
    target: Callable[[Handler, Position], Position],
    combine: str,
) -> TensorBox:
    """x with values put at the targets, in place of what is there (""), or combined with it."""
    if 0 in values.sizes:  # nothing is stored; a loop over no elements would still look at the first index
        return TensorBox(x.sizes, x.dtype, x.load, inputs=[x], operations=1)
    buffer = graph.new_buffer(x.sizes, x.dtype)
    graph.add(Scatter(buffer, values.sizes, values.load, initial=x.load, target=target, combine=combine))
    return TensorBox.of(buffer)


def _store_if_costly(graph: GraphLowering, x: TensorBox) -> None:
    """One element may be chosen many times: don't compute it each time if that costs something."""
    if x.operations >= EXPENSIVE_OPERATION:
        graph.realize(x)
