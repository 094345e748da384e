"""Rows and columns of the same elements in one kernel: what goes along each row, and sums down the columns beside it.

A layer norm's gradient is made row by row, those of its weight and bias are sums over all rows of the same elements.
Rows are cut into pieces, and each piece has its own sums, which a later kernel adds up:

    for piece:                       kept
        for row of it:               kept, but what goes down the columns is carried from row to row
            for column:              reduced

>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> buffers = (("x", (64, 32)), ("total", (64,)), ("down", (4, 32)))
>>> x, total, down = (Buffer.contiguous(name, sizes, float32) for name, sizes in buffers)
>>> rows = Group.of(Loop(total, (64, 32), lambda ops, at: ops.load(x, x.address(at)), (1,), "sum"))
>>> line = lambda ops, at: ops.load(x, x.address((16 * at[0] + at[1], at[2])))
>>> beside(rows.merged(), Group.of(Loop(down, (4, 16, 32), line, (1,), "sum")).merged())
Group(i0:4, i1:16, r0:32 reduced; stage 0: total, down)
"""

from __future__ import annotations

from collections.abc import Iterable

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, Position
from minitorch_compile.inductor.schedule.group import Group, Member, WhyNot


class RowsAndColumns(Group):
    """A group whose axes are pieces, rows of a piece, and what is reduced of a row. `down`: the results of those
    members that reduce the rows of a piece instead, and leave a number for each column."""

    def __init__(self, axes: Axes, members: Iterable[Member], down: frozenset[Buffer]) -> None:
        super().__init__(axes, members)
        self.down = down


def beside(rows: Group, columns: Group) -> RowsAndColumns | WhyNot:
    """One group that does the work of both, which are merged. The sums may read what is made of the rows; rows that
    nothing is reduced of may be points."""
    refused = WhyNot("they don't go along and down the same elements")
    if rows.has_scan or columns.has_scan or [axis.reduced for axis in columns.axes] != [False, True, False]:
        return refused
    piece, line, column = columns.axes
    i, j, r = symbol("i0", piece.size), symbol("i1", line.size), symbol("r0", column.size)
    row = line.size * i + j
    places = position_of(rows.axes, piece.size * line.size, column.size, row, r)
    if places is None or not all(member.inner and member.loop.is_reduction for member in columns.members):
        return refused
    first, second = moved(rows, places), moved(columns, (i, j, r))
    if any(buffer in rows.inputs for buffer in columns.outputs):
        return WhyNot("the rows need what is summed")
    written = {member.loop.buffer: member.write.address for member in first}
    reads = {access[:2] for member in second for access in member.reads}
    if any(written.get(buffer, address) != address for buffer, address in reads):
        return WhyNot("the sums read other places than are written")
    touched = {access[:2] for member in first if member.inner for access in [*member.reads, member.write]}
    if touched.isdisjoint(reads):
        return WhyNot("they read nothing at the same place")
    axes = Axis(i, piece.size, False), Axis(j, line.size, False), Axis(r, column.size, True)
    return RowsAndColumns(axes, [*first, *second], frozenset(columns.outputs))


def position_of(axes: Axes, rows: int, columns: int, row: Index, column: Index) -> Position | None:
    """Where the variables of rows, or of as many points, went; None for others."""
    if len(axes) == 1 and not axes[0].reduced and axes[0].size == rows * columns:
        return (columns * row + column,)
    is_same = [(axis.size, axis.reduced) for axis in axes] == [(rows, False), (columns, True)]
    return (row, column) if is_same else None


def moved(group: Group, position: Position) -> list[Member]:
    """The members on other axes, of which the group's are expressions."""
    places = {axis.variable: place for axis, place in zip(group.axes, position)}
    return [member.moved(places, member.inner) for member in group.members]
