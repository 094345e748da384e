"""How a target loops over a group: which axis runs fastest, and whether rows or columns are reduced.

A reduction whose elements lie next to each other in memory is done row by row, in registers. If instead neighbouring rows
lie next to each other (a sum over the batch, say), walking down one row would touch a new cache line at every step, so a
stretch of rows is reduced together: the fast loop then runs over rows, with one accumulator each.
"""

from __future__ import annotations

from dataclasses import dataclass

from minitorch_compile.inductor.group import Group
from minitorch_compile.inductor.iteration import Axes, Axis, kept, reduced

SHORTEST_COLUMNS = 8  # fewer rows than this side by side are not worth a loop of their own


@dataclass(frozen=True)
class LoopOrder:
    """Kept and reduced axes, each from the outermost loop to the innermost; `columns` is a kept axis run inside them."""

    rows: Axes
    reduced: Axes
    columns: Axis | None = None


def choose_order(group: Group) -> LoopOrder:
    """The order in which memory is walked with the smallest steps."""
    fastest = contiguous_axis(group)
    rows, inner = kept(group.axes), reduced(group.axes)
    if fastest is None:
        return LoopOrder(rows, inner)
    if fastest.reduced or not inner:
        return LoopOrder(_last(rows, fastest), _last(inner, fastest))
    if fastest.size < SHORTEST_COLUMNS:
        return LoopOrder(rows, inner)
    return LoopOrder(tuple(axis for axis in rows if axis is not fastest), inner, fastest)


def _last(axes: Axes, fastest: Axis) -> Axes:
    return tuple(sorted(axes, key=lambda axis: axis is fastest))


def contiguous_axis(group: Group) -> Axis | None:
    """The axis along which most accesses at every point step by one element; ties go to what is written, then inwards."""
    votes = {axis: 0 for axis in reversed(group.axes)}
    for member in group.members:
        writes = [] if member.loop.is_reduction else [(member.write, 3)]
        for access, weight in [*((access, 2) for access in member.reads), *writes]:
            for axis in votes:
                if member.inner and abs(access.address.coefficient(axis.variable)) == 1:
                    votes[axis] += weight
    best = max(votes, key=lambda axis: votes[axis], default=None)
    return best if best is not None and votes[best] else None
