"""How a target loops over a group: which axis runs fastest, and whether rows or columns are reduced.

A reduction whose elements lie next to each other in memory is done row by row, in registers. If instead neighbouring
rows lie next to each other (a sum over the batch, say), walking down one row would touch a new cache line at every
step, so a stretch of rows is reduced together: the fast loop then runs over rows, with one accumulator each.
"""

from __future__ import annotations

from dataclasses import dataclass

from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.iteration import Axes, Axis, kept, reduced
from minitorch_compile.inductor.schedule.group import Group

JUMP = 8  # a step to another cache line, against one step inside a line
SHORTEST_SQUARE = 15  # axes that are not longer need no walk square by square: all their cache lines are at hand
SHORTEST_COLUMNS = 8  # fewer rows than this side by side are not worth a loop of their own


@dataclass(frozen=True)
class LoopOrder:
    """Kept and reduced axes, each from the outermost loop inwards; `columns` is a kept axis run inside them."""

    rows: Axes
    reduced: Axes
    columns: Axis | None = None
    square: tuple[Axis, Axis] | None = None  # two rows' axes, of which one array prefers the first, another the second


def choose_order(group: Group, shortest_columns: int = SHORTEST_COLUMNS) -> LoopOrder:
    """The order in which memory is walked with the smallest steps. Fewer columns than `shortest_columns` are rows."""
    fastest = contiguous_axis(group)
    rows, inner = kept(group.axes), reduced(group.axes)
    if fastest is None:
        return LoopOrder(rows, inner)
    if not inner:
        other = transposed_axis(group, fastest)
        if other:
            return LoopOrder(_last(rows, fastest), (), square=(other, fastest))
        return LoopOrder((*outer_axes(group, fastest), fastest), ())
    if fastest.reduced:
        return LoopOrder(rows, inner if group.has_scan else _last(inner, fastest))
    if fastest.size < shortest_columns:
        return LoopOrder(rows, inner)
    return LoopOrder(tuple(axis for axis in rows if axis is not fastest), inner, fastest)


def _last(axes: Axes, fastest: Axis) -> Axes:
    return tuple(sorted(axes, key=lambda axis: axis is fastest))


def contiguous_axis(group: Group) -> Axis | None:
    """The axis along which the accesses at every point touch the fewest cache lines; ties go to the innermost."""
    cost = dict.fromkeys(reversed(group.axes), 0)
    for member in group.members:
        writes = [] if member.loop.is_reduction else [member.write]
        for access in [*member.reads, *writes] if member.inner else ():
            for axis in cost:
                cost[axis] += step_cost(access.address, axis)
    return min(cost, key=lambda axis: cost[axis], default=None)


def outer_axes(group: Group, fastest: Axis) -> Axes:
    """The other axes of a pointwise group, in the order in which its arrays lie in memory, as far as they agree.

    Where they don't, the shorter axis runs inside. x.transpose(0, 1) of x[512, 8, 64] goes through x in order then, and
    writes at 8 places that move on steadily; the other way, it would read 64 elements here and 64 there, at 512 places
    after each other, which no prefetcher foresees: twice the time.

    >>> from minitorch_compile.inductor.ir.buffer import Buffer
    >>> from minitorch_compile.inductor.ir.loops import Loop
    >>> from minitorch_compile.tensor.numerics.dtype import float32
    >>> x, y = Buffer.contiguous("x", (512, 8, 64), float32), Buffer.contiguous("y", (8, 512, 64), float32)
    >>> swap = Group.of(Loop(y, (8, 512, 64), lambda ops, at: ops.load(x, x.address((at[1], at[0], at[2])))))
    >>> swap.axes, outer_axes(swap, swap.axes[-1])
    ((i0:8, i1:512, i2:64), (i1:512, i0:8))
    """
    whole = [
        access.address
        for member in group.members
        for access in [*member.reads, member.write]
        if all(access.address.coefficient(axis.variable) for axis in group.axes)  # the others are small, or cut up
    ]
    left, order = [axis for axis in group.axes if axis is not fastest], []
    while left:
        nearest = [min(reversed(left), key=lambda axis: abs(address.coefficient(axis.variable))) for address in whole]
        order.append(min(nearest, key=lambda axis: axis.size, default=left[-1]))
        left.remove(order[-1])
    return tuple(reversed(order))


def step_cost(address: Index, axis: Axis) -> int:
    """What one step along an axis costs an access: nothing if it stays, much if it jumps."""
    if not address.depends_on(axis.variable):
        return 0
    return 1 if abs(address.coefficient(axis.variable)) == 1 and not address.in_digits(axis.variable) else JUMP


def transposed_axis(group: Group, fastest: Axis) -> Axis | None:
    """An axis along which some access goes by single steps that jumps along the fastest: in a transpose, say."""
    for member in group.members:
        for access in [*member.reads, member.write]:
            if step_cost(access.address, fastest) != JUMP:
                continue
            for axis in group.axes:
                long_enough = min(axis.size, fastest.size) > SHORTEST_SQUARE
                if axis is not fastest and long_enough and step_cost(access.address, axis) == 1:
                    return axis
    return None


def range_axis(group: Group) -> Axis | None:
    """The axis that the range of the group's kernel counts; None if it counts stretches or squares of one, or nothing.

    >>> from minitorch_compile.inductor.ir.buffer import Buffer
    >>> from minitorch_compile.inductor.ir.loops import Loop
    >>> from minitorch_compile.tensor.numerics.dtype import float32
    >>> x, total = Buffer.contiguous("x", (4, 8), float32), Buffer.contiguous("total", (4,), float32)
    >>> range_axis(Group.of(Loop(total, (4, 8), lambda ops, at: ops.load(x, x.address(at)), (1,), "sum")))
    i0:4
    """
    order = choose_order(group)
    rows = [axis for axis in order.rows if axis not in (order.square or ())]
    return rows[0] if rows else None
