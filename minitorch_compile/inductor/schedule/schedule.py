"""A schedule: what runs, in which order, and which buffers need no memory.

>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, z = (Buffer.contiguous(name, (4, 8), float32) for name in "xyz")
>>> first = Loop(y, (4, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))
>>> second = Loop(z, (4, 8), lambda ops, at: ops.apply("neg", ops.load(y, y.address(at))))
>>> fused = schedule(LoopGraph([x], [first, second], [whole(z)]))
>>> fused.kernel_count, fused.internal, fused.bytes_moved
(1, frozenset({y: float32[4, 8]}), 256)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.schedule.drawing import draw_schedule
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.text import describe_schedule

ScheduleStep = Group | ExternCall | FusedCall


@dataclass(frozen=True)
class Edge:
    """Two steps that are not one kernel though a buffer goes from the first to the second, and why."""

    producer: str
    consumer: str
    reason: str

    def __repr__(self) -> str:
        return f"{self.producer} -> {self.consumer}: {self.reason}"


class Schedule:
    """The steps in order: fused groups and extern kernels."""

    def __init__(self, graph: LoopGraph, steps: list[ScheduleStep], why_not: list[Edge]) -> None:
        self.graph = graph
        self.steps = steps
        self.why_not = why_not

    @cached_property
    def internal(self) -> frozenset[Buffer]:
        """Temporary buffers that only the kernel that writes them reads: they need no memory of their own."""
        readers: dict[Buffer, set[int]] = {}
        for number, step in enumerate(self.steps):
            for buffer in reads_of(step):
                readers.setdefault(buffer, set()).add(number)
        results = {view.buffer for view in self.graph.outputs}
        kernels = [(number, step) for number, step in enumerate(self.steps) if not isinstance(step, ExternCall)]
        return frozenset(
            buffer
            for number, kernel in kernels
            for buffer in kernel.outputs
            if buffer not in results and readers.get(buffer, set()) <= {number}
        )

    @cached_property
    def made(self) -> frozenset[Buffer]:
        """The buffers that some step fills: all but the inputs."""
        return frozenset(buffer for step in self.steps for buffer in step.outputs)

    @property
    def kernel_count(self) -> int:
        return len(self.steps)

    @property
    def bytes_moved(self) -> int:
        """Bytes that the kernels read from and write to memory, counting each buffer once a kernel."""
        total = 0
        for step in self.steps:
            inputs = reads_of(step) if isinstance(step, ExternCall) else step.inputs
            total += sum(buffer.nbytes for buffer in {*inputs, *step.outputs} - self.internal)
        return total

    def draw(self) -> GraphView:
        """A picture: a frame for each kernel, with the loops in it."""
        return draw_schedule(self).view()

    def __repr__(self) -> str:
        return describe_schedule(self)


def reads_of(step: ScheduleStep) -> list[Buffer]:
    """The buffers that a step reads, those that it writes itself included."""
    if isinstance(step, ExternCall):
        return buffers_read(step)
    if isinstance(step, FusedCall):
        return list(dict.fromkeys([*buffers_read(step.call), *reads_of(step.epilogue)]))
    return list(dict.fromkeys(access.buffer for member in step.members for access in member.accesses.reads))


def call_of(step: ExternCall | FusedCall) -> ExternCall:
    return step.call if isinstance(step, FusedCall) else step
