"""Small kernels that do the like, and don't wait for each other, as one: the counters of an optimizer, say.

A launch takes a few microseconds, whatever little is done in it. The scheduler joins what shares memory; these share
none. So once it is done, a step that goes over the same few points as one before it, or down as few columns, moves
there, if nothing that it reads is made in between.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> old, new = ([Buffer.contiguous(f"{name}{n}", (), float32) for n in range(3)] for name in ("old", "new"))
>>> def counting(before, after):
...     one_more = lambda ops, at: ops.apply("add", ops.load(before, before.address(at)), ops.constant(1.0, float32))
...     return Loop(after, (), one_more)
>>> graph = LoopGraph(old, [counting(*pair) for pair in zip(old, new)], [whole(x) for x in new])
>>> len(schedule(graph).steps), len(with_steps_together(schedule(graph)).steps)
(3, 1)
"""

from __future__ import annotations

from minitorch_compile.inductor.codegen.cuda.kernels import read_by_later_loops
from minitorch_compile.inductor.codegen.cuda.strategies.shared_columns import goes_down_once
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep, reads_of
from minitorch_compile.inductor.schedule.strategy import choose_order

FEW_POINTS, FEW_IN_COLUMNS = 1 << 12, 1 << 16  # which a kernel goes over in no time
MOST_BUFFERS = 48  # of one kernel


def with_steps_together(schedule: Schedule) -> Schedule:
    """The same schedule, such steps joined."""
    steps: list[ScheduleStep] = []
    open_ones: dict[object, int] = {}  # where the last step of each shape is
    for step in schedule.steps:
        shape = shape_of(step)
        at = open_ones.get(shape) if shape is not None else None
        joined = joined_at(steps, at, step) if at is not None else None
        if joined is not None:
            assert at is not None
            steps[at] = joined
            continue
        if shape is not None:
            open_ones[shape] = len(steps)
        steps.append(step)
    return Schedule(schedule.graph, steps, schedule.why_not) if len(steps) < len(schedule.steps) else schedule


def shape_of(step: ScheduleStep) -> object:
    """What is equal for steps that can be one kernel; None for one that stays alone."""
    if type(step) is not Group or not step.is_fusible or step.has_scan:
        return None
    sizes = tuple((axis.size, axis.reduced) for axis in step.axes)
    if not step.has_reduction:
        return sizes if count(step.axes) <= FEW_POINTS else None
    stages = step.stages()
    if count(step.axes) > FEW_IN_COLUMNS or not goes_down_once(step, read_by_later_loops(step, stages)):
        return None
    columns = choose_order(step, 1).columns
    return None if columns is None else (sizes, step.axes.index(columns))


def joined_at(steps: list[ScheduleStep], at: int, step: ScheduleStep) -> Group | None:
    """A step and the one at that place as one kernel there; None if it needs something that is made since then."""
    first = steps[at]
    assert isinstance(first, Group) and isinstance(step, Group)
    made = {buffer for later in steps[at:] for buffer in later.outputs}
    buffers: set[Buffer] = {*first.inputs, *first.outputs, *step.inputs, *step.outputs}
    if len(buffers) > MOST_BUFFERS or not made.isdisjoint(reads_of(step)):
        return None
    joined = first.fuse(step)
    return joined.merged() if isinstance(joined, Group) and shape_of(joined) is not None else None
