"""What is to be written back into an input: which of it is computed there at once, and needn't be copied at the end.

It is, if nobody reads the old elements later: then the result has the input's memory.

>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> p, g, new = (Buffer.contiguous(name, (4,), float32) for name in ("p", "g", "new"))
>>> minus = lambda ops, at: ops.apply("sub", ops.load(p, p.address(at)), ops.load(g, g.address(at)))
>>> stepped = schedule(LoopGraph([p, g], [Loop(new, (4,), minus)], [whole(new)], written_back={new: p}))
>>> written_at_once(stepped)[new] is p
True
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.memory_plan import overwrites_safely
from minitorch_compile.inductor.schedule.schedule import Schedule, reads_of

ANYWHERE = ("mm", "bmm")  # calls that write to any address; others want one that 16 divides, as an input's needn't be


def written_at_once(schedule: Schedule) -> dict[Buffer, Buffer]:
    """Which of the results that belong into inputs are computed there: by a step behind all that read the input, or by
    one that reads each of its elements where it writes the new one."""
    steps = schedule.steps
    writers = {buffer: number for number, step in enumerate(steps) for buffer in step.outputs}
    last = {buffer: number for number, step in enumerate(steps) for buffer in reads_of(step)}
    found: dict[Buffer, Buffer] = {}
    for result, target in schedule.graph.written_back.items():
        writer = writers.get(result)
        if writer is None or target in found.values() or last.get(target, -1) > writer:
            continue
        step: Any = steps[writer]
        if (isinstance(step, Group) and not step.is_fusible) or (
            isinstance(step, ExternCall) and step.kernel not in ANYWHERE
        ):
            continue
        if last.get(target) != writer or (isinstance(step, Group) and _one_thread_each(step, result, target)):
            found[result] = target
    return found


def _one_thread_each(group: Group, result: Buffer, target: Buffer) -> bool:
    """Whether each element is read and written at one point of the group, which one thread has. What belongs to a row,
    or to the whole, is read by all threads, at any time before the last of them has come to its end. (A single point's
    kernel reads in the loop that one thread enters.)"""
    alone = not group.has_reduction and count(group.axes) == target.length
    return alone and overwrites_safely(group, result, target)
