"""Sums down columns beside kernels that go along the rows of the same elements: then these are read once.

The scheduler leaves them as two kernels, since their loops differ (`schedule/rows_and_columns.py` has what they become,
`codegen/cuda/strategies/rows_and_columns.py` how). Where the rows are too long for a block's registers, or of odd
lengths, two they stay.
"""

from __future__ import annotations

from minitorch_compile.inductor.codegen.cuda.kernels import read_by_later_loops
from minitorch_compile.inductor.codegen.cuda.strategies.rows_and_columns import RowsBesideColumns
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.rows_and_columns import RowsAndColumns, beside
from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep, reads_of

FEWEST_PIECES = 64  # of rows, which are a block's each: of fewer, most of a GPU would have nothing to do


def with_columns_beside_rows(schedule: Schedule, threads: int) -> Schedule:
    """The same schedule, for blocks of so many threads."""
    steps = list(schedule.steps)
    at = 0
    while at < len(steps):
        found = first_beside(schedule, steps, at, threads)
        if found is None:
            at += 1
            continue
        other, fused = found
        steps[at] = fused
        del steps[other]
    return Schedule(schedule.graph, steps, schedule.why_not) if len(steps) < len(schedule.steps) else schedule


def first_beside(
    schedule: Schedule, steps: list[ScheduleStep], at: int, threads: int
) -> tuple[int, RowsAndColumns] | None:
    """The first step behind one that can be beside it, and what the two become, in the place of the first."""
    one, between = steps[at], set[Buffer]()
    if type(one) is not Group or not one.is_fusible:
        return None
    for number in range(at + 1, len(steps)):
        other = steps[number]
        if type(other) is Group and other.is_fusible and between.isdisjoint(reads_of(other)):
            others = [step for step in steps if step is not one and step is not other]
            fused = fitting(schedule, one, other, others, threads)
            if fused is not None:
                return number, fused
        between.update(other.outputs)
    return None


def fitting(
    schedule: Schedule, one: Group, other: Group, others: list[ScheduleStep], threads: int
) -> RowsAndColumns | None:
    """Both as one, if there is a strategy for that; `others` are all other steps."""
    for rows, columns in ((one, other), (other, one)):
        group = beside(rows, columns)
        if isinstance(group, RowsAndColumns) and group.axes[0].size >= FEWEST_PIECES:
            later = read_by_later_loops(group, group.stages())
            internal = Schedule(schedule.graph, [*others, group], []).internal  # more than before: what is between both
            if RowsBesideColumns.beside(group, internal, later, threads):
                return group
    return None
