"""Concatenation: each element comes from the one tensor whose stretch of the dimension it lies in.

A kernel has loops and an argument for each tensor that it reads, so there can't be hundreds. The first of many are
concatenated in rows of sixteen, which are stored; concatenations that grow, as those of a densely connected network,
share the rows with which they begin.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x = TensorBox.of(Buffer("x", (2, 3), (3, 1), float32))
>>> [box.sizes for box in in_rows(GraphLowering(), [x] * 34, dim=0)]
[(32, 3), (32, 3), (2, 3), (2, 3)]
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Position
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.shape import is_outside, within
from minitorch_compile.inductor.lowering.table import lowering
from minitorch_compile.tensor.numerics.dtype import int64

ROW = 16  # tensors that are stored as one, once there are more
Row = tuple[tuple[TensorBox, ...], int]

_rows: WeakKeyDictionary[GraphLowering, dict[Row, TensorBox]] = WeakKeyDictionary()


@lowering(prims.cat)
def _(graph: GraphLowering, tensors: Sequence[TensorBox], dim: int) -> TensorBox:
    filled = [x for x in tensors if x.sizes[dim]]
    return joined(in_rows(graph, filled, dim) if len(filled) > ROW else filled, dim)


def in_rows(graph: GraphLowering, tensors: list[TensorBox], dim: int) -> list[TensorBox]:
    """At most two rows' tensors of which the concatenation is the same."""
    whole = len(tensors) - len(tensors) % ROW
    rows = [stored_row(graph, tensors[start : start + ROW], dim) for start in range(0, whole, ROW)]
    fewer = rows + tensors[whole:]
    return fewer if len(fewer) <= 2 * ROW else in_rows(graph, fewer, dim)


def stored_row(graph: GraphLowering, tensors: list[TensorBox], dim: int) -> TensorBox:
    """A row as one tensor in memory, made at its first use in the graph."""
    rows = _rows.setdefault(graph, {})
    row = (tuple(tensors), dim)
    if row not in rows:
        rows[row] = joined(tensors, dim)
        graph.realize(rows[row])
    return rows[row]


def joined(tensors: Sequence[TensorBox], dim: int) -> TensorBox:
    """The concatenation of tensors that aren't empty, found out element by element."""
    parts, start = [], 0
    for x in tensors:
        parts.append((x, start))
        start += x.sizes[dim]
    sizes = [start if d == dim else n for d, n in enumerate(tensors[0].sizes)]

    def inner(ops: Handler, at: Position) -> object:
        result: object | None = None
        here = [(x, first) for x, first in parts if not is_outside(at[dim], first, first + x.sizes[dim])]
        for x, first in reversed(here):
            result = _before(ops, x, first, at, result)
        return result

    def _before(ops: Handler, x: TensorBox, first: int, at: Position, later: object | None) -> object:
        place = [i - first if d == dim else i for d, i in enumerate(at)]
        inside = within(ops, at[dim], first, first + x.sizes[dim]) if len(parts) > 1 else None
        if inside is None:
            return x.load(ops, place)
        value = ops.masked(inside, lambda: x.load(ops, place), 0, x.dtype)
        if later is None:
            return value
        end = ops.constant(first + x.sizes[dim], int64)
        return ops.apply("where", ops.apply("lt", ops.index_value(at[dim], int64), end), value, later)

    return TensorBox(sizes, tensors[0].dtype, inner, inputs=tensors, operations=3 * len(tensors))
