"""What a schedule means: its steps, one after the other, in NumPy. The oracle for fused kernels.

>>> from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, w, product, out = (Buffer.contiguous(name, (128, 128), float32) for name in ("x", "w", "product", "out"))
>>> multiply = ExternCall("mm", [whole(x), whole(w)], [product])
>>> negate = Loop(out, (128, 128), lambda ops, at: ops.apply("neg", ops.load(product, product.address(at))))
>>> arrays = [np.eye(128, dtype=np.float32).ravel() for _ in "xw"]
>>> planned = cpu_schedule(LoopGraph([x, w], [multiply, negate], [whole(out)]))
>>> np.array_equal(interpret_schedule(planned, arrays)[0], -np.eye(128))
True
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minitorch_compile.inductor.ir.interpreter import Memory, run_operation, window
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep


def run_step(step: ScheduleStep, memory: Memory) -> None:
    """Fills the buffers that a step writes: its operations, one after the other."""
    if isinstance(step, FusedCall):
        run_operation(step.call, memory)
        run_step(step.epilogue, memory)
    elif isinstance(step, Group):
        for member in step.members:
            run_operation(member.loop, memory)
    else:
        run_operation(step, memory)


def interpret_schedule(schedule: Schedule, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a schedule; `inputs` are the flat arrays behind the graph's inputs and then its constants."""
    buffers = [*schedule.graph.inputs, *schedule.graph.constants]
    memory: Memory = {buffer.name: array for buffer, array in zip(buffers, inputs)}
    with np.errstate(all="ignore"):
        for step in schedule.steps:
            run_step(step, memory)
    return [window(view, memory) for view in schedule.graph.outputs]
