"""Whether two groups fit into one kernel: they can share axes, every value is read where it was written, no third
operation has to run between them, and the target can hold what they need. Else why not.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import Scheduler
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, z = (Buffer.contiguous(name, (4, 8), float32) for name in "xyz")
>>> first = Loop(y, (4, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))
>>> second = Loop(z, (4, 8), lambda ops, at: ops.apply("neg", ops.load(y, y.address(at))))
>>> graph = LoopGraph([x], [first, second], [whole(z)])
>>> fit(scheduler := Scheduler(graph), *scheduler.nodes).outputs
[y: float32[4, 8], z: float32[4, 8]]
>>> fit(scheduler := Scheduler(graph, Limits(operations=1)), *scheduler.nodes)
WhyNot(reason='the kernel would have more than 1 operations')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.schedule.fused_call import Blocks
from minitorch_compile.inductor.schedule.group import Group, WhyNot

if TYPE_CHECKING:
    from minitorch_compile.inductor.schedule.scheduler import Node, Scheduler


@dataclass(frozen=True)
class Limits:
    """What a target can hold in one kernel. `blocks_of` says how it makes an extern call's result block by block; a
    call for which that is None gets no epilogue. `refusal`: why it doesn't want a group as one kernel; "" if it does.
    """

    operations: int = 300
    buffers: int = 24
    blocks_of: Callable[[ExternCall], Blocks | None] = lambda call: None
    refusal: Callable[[Group], str] = lambda group: ""


def fit(scheduler: Scheduler, a: Node, b: Node) -> Group | WhyNot:
    """The two groups as one, or why not. `a` comes first."""
    if any(buffer in a.reads for buffer in b.step.outputs):
        a, b = b, a
    assert isinstance(a.step, Group) and isinstance(b.step, Group)
    result = a.step.fuse(b.step)
    if isinstance(result, WhyNot):
        return result
    if result.operations > scheduler.limits.operations:
        return WhyNot(f"the kernel would have more than {scheduler.limits.operations} operations")
    if len(result.inputs) + len(_seen_outside(scheduler, result, {a, b})) > scheduler.limits.buffers:
        return WhyNot(f"the kernel would have more than {scheduler.limits.buffers} buffers")
    if not share_memory(a.step, b.step, result):
        return WhyNot("they read nothing at the same place")
    if refused := scheduler.limits.refusal(result):
        return WhyNot(refused)
    middle = between(scheduler, a, b) or between(scheduler, b, a)
    if middle is not None:
        return WhyNot(f"{middle.name} must run between them")
    return result


def _seen_outside(scheduler: Scheduler, fused: Group, parts: set[Node]) -> list[Buffer]:
    """The outputs that the kernel would have to write to memory."""
    return [b for b in fused.outputs if b in scheduler.results or not parts.issuperset(scheduler.readers.get(b, ()))]


def between(scheduler: Scheduler, a: Node, b: Node) -> Node | None:
    """A step that needs `a` and that `b` needs, directly or through others."""
    seen, stack = {b}, [(node, node) for node in scheduler.inputs(b) if node is not a]
    while stack:
        node, entry = stack.pop()
        if node in seen or node.latest < a.first:
            continue
        seen.add(node)
        for source in scheduler.inputs(node):
            if source is a:
                return entry
            stack.append((source, entry))
    return None


def share_memory(a: Group, b: Group, fused: Group) -> bool:
    """Whether the fused group really saves traffic: it reads something at one place for both sides."""
    ours = set(a.outputs)
    first = {access[:2] for m in fused.members if m.loop.buffer in ours for access in [*m.reads, m.write]}
    second = {access[:2] for m in fused.members if m.loop.buffer not in ours for access in m.reads}
    return not first.isdisjoint(second)
