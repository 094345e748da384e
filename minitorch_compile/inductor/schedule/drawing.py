"""A schedule as a picture: a frame for each kernel, a box for each loop in it, an arrow for each buffer that is read.

A dotted arrow is a value that never reaches memory, since the kernel that makes it is the only one to read it.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, z = (Buffer.contiguous(name, (4, 8), float32) for name in "xyz")
>>> first = Loop(y, (4, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))
>>> second = Loop(z, (4, 8), lambda ops, at: ops.apply("neg", ops.load(y, y.address(at))))
>>> schedule(LoopGraph([x], [first, second], [whole(z)])).draw()
node  label       value          reads
----  ----------  -------------  -----
x     x           float32[4, 8]
out0  output 0                   z
y     y = exp(x)  float32[4, 8]  x
z     z = neg(y)  float32[4, 8]  y
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.fx.dot import Cluster, Drawing
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.ordered_loops import Scan, Scatter
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.text import formula

if TYPE_CHECKING:
    from minitorch_compile.inductor.schedule.schedule import Schedule

LONGEST_LABEL = 44


def draw_schedule(schedule: Schedule) -> Drawing:
    """The drawing of a schedule."""
    drawing = Drawing("schedule")
    for buffer in [*schedule.graph.inputs, *schedule.graph.constants]:
        drawing.add_node(buffer.name, buffer.name, "input", detail=sizes_text(buffer))
    for number, step in enumerate(schedule.steps):
        frame = drawing.cluster(f"kernel {number}", "kernel" if isinstance(step, Group) else "extern")
        if isinstance(step, ExternCall):
            draw_extern(drawing, frame, step)
            continue
        if isinstance(step, FusedCall):
            draw_extern(drawing, frame, step.call)
        for member in (step.epilogue if isinstance(step, FusedCall) else step).members:
            draw_member(drawing, frame, member, schedule.internal)
    for number, view in enumerate(schedule.graph.outputs):
        drawing.add_node(f"out{number}", f"output {number}", "output")
        drawing.add_edge(view.buffer.name, f"out{number}")
    return drawing


def draw_member(drawing: Drawing, frame: Cluster, member: Member, internal: frozenset[Buffer]) -> None:
    buffer = member.loop.buffer
    text = f"{buffer.name} = {formula(member.loop)}"
    label = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 3] + "..."
    tooltip = f"{member.loop.origin}\n{text}" if member.loop.origin else text
    frame.add_node(buffer.name, label, kind_of(member), tooltip, sizes_text(buffer))
    for source in dict.fromkeys(access.buffer for access in member.reads):
        drawing.add_edge(source.name, buffer.name, style="dotted" if source in internal else "solid")


def draw_extern(drawing: Drawing, frame: Cluster, call: ExternCall) -> None:
    for buffer in call.outputs:
        frame.add_node(buffer.name, f"{buffer.name} = {call.kernel}", "extern", repr(call), sizes_text(buffer))
        for source in dict.fromkeys(view.buffer for view in call.inputs):
            drawing.add_edge(source.name, buffer.name)


def kind_of(member: Member) -> str:
    if member.loop.is_reduction or isinstance(member.loop, Scan):
        return "reduction"
    return "movement" if isinstance(member.loop, Scatter) else "pointwise"


def sizes_text(buffer: Buffer) -> str:
    return f"{buffer.dtype.name}{list(buffer.sizes)}"
