"""One step of a schedule as a graph of its own, to be compiled and timed in several ways.

>>> from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, w, product, out = (Buffer.contiguous(name, (128, 128), float32) for name in ("x", "w", "product", "out"))
>>> multiply = ExternCall("mm", [whole(x), whole(w)], [product])
>>> exp = Loop(out, (128, 128), lambda ops, at: ops.apply("exp", ops.load(product, product.address(at))))
>>> planned = cpu_schedule(LoopGraph([x, w], [multiply, exp], [whole(out)]), packed=lambda call: False)
>>> step_graph(planned, planned.steps[0])
input x: float32[128, 128]
...
"""

from __future__ import annotations

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import whole
from minitorch_compile.inductor.ir.loops import LoopGraph, Operation
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep, reads_of


def operations_of(step: ScheduleStep) -> list[Operation]:
    """What a step does, one operation after the other."""
    if isinstance(step, FusedCall):
        return [step.call, *operations_of(step.epilogue)]
    return [member.loop for member in step.members] if isinstance(step, Group) else [step]


def step_graph(schedule: Schedule, step: ScheduleStep) -> LoopGraph:
    """The graph that does what a step does: its outputs are what the rest of the schedule wants of it."""
    made: list[Buffer] = step.outputs
    inputs = [buffer for buffer in reads_of(step) if buffer not in made]
    outputs = [whole(buffer) for buffer in made if buffer not in schedule.internal]
    return LoopGraph(inputs, operations_of(step), outputs)
