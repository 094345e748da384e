"""The memory plan: which buffers share memory, and where each lies in the one block that a call allocates.

Two rules save memory. A kernel that reads a dying buffer exactly where it writes another one of the same size writes
it in place. And buffers whose lifetimes don't overlap may lie at the same offset of the block.

>>> lives = [Life("a", 0, 1, 100), Life("b", 1, 2, 100), Life("c", 2, 3, 100)]
>>> assign_offsets(lives)
({'a': 0, 'b': 128, 'c': 0}, 256)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from minitorch_compile import logs
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.runtime.raw_memory import ALIGNMENT
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep, reads_of

log_plan = logs.artifact("memory_plan")

Shared = Mapping[Buffer, Buffer]


class Life(NamedTuple):
    """Something that needs `nbytes` from the step that makes it to the step that uses it last."""

    name: Hashable
    first: int
    last: int
    nbytes: int


class MemoryPlan(NamedTuple):
    """`offsets` of temporaries in a block of `total` bytes; `same` maps a buffer to the one whose memory it uses."""

    offsets: Mapping[Hashable, int]
    total: int
    same: Shared
    without_sharing: int


# ------------------------------------------------------------------------------------------------ in place


def last_uses(schedule: Schedule) -> dict[Buffer, int]:
    """For each buffer, the number of the last step that reads it."""
    result: dict[Buffer, int] = {}
    for number, step in enumerate(schedule.steps):
        for buffer in reads_of(step):
            result[buffer] = number
    return result | dict.fromkeys(schedule.graph.written_back, len(schedule.steps))


def in_place(schedule: Schedule, at_once: Shared = MappingProxyType({})) -> list[dict[Buffer, Buffer]]:
    """For each step, which of its outputs overwrite which of its inputs, or of the graph's: those `at_once`."""
    last = last_uses(schedule)
    return [
        _in_place_of(step, number, schedule, last, at_once) | {b: at_once[b] for b in step.outputs if b in at_once}
        for number, step in enumerate(schedule.steps)
    ]


def _in_place_of(
    step: ScheduleStep, number: int, schedule: Schedule, last: Mapping[Buffer, int], at_once: Shared
) -> dict[Buffer, Buffer]:
    if isinstance(step, ExternCall) or not step.is_fusible:
        return {}
    results = {view.buffer for view in schedule.graph.outputs}
    group = step.epilogue if isinstance(step, FusedCall) else step
    if isinstance(step, FusedCall):  # the call goes on reading while its epilogue writes
        results |= {step.result, *buffers_read(step.call)}
    dying = [b for b in group.inputs if b in schedule.made and b not in results and last[b] == number]
    shared: dict[Buffer, Buffer] = {}
    for output in group.outputs:
        if output in schedule.internal or output in at_once:
            continue
        for source in dying:
            fits = source.dtype is output.dtype and source.length == output.length
            if fits and source not in shared.values() and overwrites_safely(group, output, source):
                shared[output] = source
                break
    return shared


def overwrites_safely(group: Group, output: Buffer, source: Buffer) -> bool:
    """Whether every element of `source` is read for the last time where, and not after, `output` takes its place."""
    stages = dict(zip(group.members, group.stages()))
    writer = group.writer(output)
    if writer is None or writer.loop.is_reduction:
        return False
    for member in group.members:
        for access in member.reads:
            if access.buffer is not source:
                continue
            same_loop = member.inner == writer.inner and stages[member] <= stages[writer]
            if not same_loop or access.masked or access.address != writer.write.address:
                return False
    return True


# ------------------------------------------------------------------------------------------------ offsets


def assign_offsets(lives: Iterable[Life]) -> tuple[dict[Hashable, int], int]:
    """Offsets such that nothing overlaps in both place and time: the largest first, each as low as it can lie."""
    placed: list[tuple[int, Life]] = []
    for life in sorted(lives, key=lambda life: -life.nbytes):
        offset = 0
        for taken, other in sorted(placed, key=lambda pair: pair[0]):
            if other.last < life.first or life.last < other.first:
                continue
            if taken - offset >= life.nbytes:
                break
            offset = max(offset, _aligned(taken + other.nbytes))
        placed.append((offset, life))
    total = max((_aligned(offset + life.nbytes) for offset, life in placed), default=0)
    return {life.name: offset for offset, life in sorted(placed, key=lambda pair: pair[1].first)}, total


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def plan_memory(schedule: Schedule, shared: Sequence[Shared]) -> MemoryPlan:
    """Offsets for all temporary buffers."""
    same = _roots(schedule, shared)
    results = {view.buffer for view in schedule.graph.outputs} - schedule.graph.written_back.keys()
    lives: dict[Hashable, Life] = {}
    last = last_uses(schedule)
    for number, step in enumerate(schedule.steps):
        for buffer in step.outputs:
            root = same[buffer]
            if root in results or root.kind == "input" or buffer in schedule.internal or buffer.length == 0:
                continue
            begin = lives[root].first if root in lives else number
            lives[root] = Life(root, begin, max(last.get(buffer, number), number), buffer.nbytes)
    offsets, total = assign_offsets(lives.values())
    plan = MemoryPlan(offsets, total, same, sum(_aligned(life.nbytes) for life in lives.values()))
    if log_plan.is_on:
        log_plan(describe(plan, lives))
    return plan


def place_scratch(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Offsets for the scratch arrays of one kernel, one after the other, and how many bytes they take.

    >>> place_scratch([100, 64])
    ([0, 128], 192)
    """
    offsets, end = [], 0
    for nbytes in sizes:
        offsets.append(end)
        end += _aligned(nbytes)
    return offsets, end


def _roots(schedule: Schedule, shared: Sequence[Shared]) -> dict[Buffer, Buffer]:
    """For each buffer, the one that stands for all that share its memory: a graph output or input if one of them is."""
    results = {view.buffer for view in schedule.graph.outputs} - schedule.graph.written_back.keys()
    root: dict[Buffer, Buffer] = {}
    for step, pairs in zip(schedule.steps, shared):
        for buffer in step.outputs:
            root[buffer] = buffer
            if buffer in pairs:
                before = root.get(pairs[buffer], pairs[buffer])
                merged = buffer if buffer in results else before
                root |= {b: merged for b, r in root.items() if r in (before, buffer)}
    return root


def describe(plan: MemoryPlan, lives: Mapping[Hashable, Life]) -> str:
    """A line for each piece of memory, then the total."""
    lines = []
    for name, offset in plan.offsets.items():
        life = lives[name]
        text = name.name if isinstance(name, Buffer) else str(name)
        lines.append(f"{text:>12}  steps {life.first}..{life.last}  bytes {offset}..{offset + life.nbytes}")
    in_place_names = [f"{b.name} in {r.name}" for b, r in plan.same.items() if b is not r]
    if in_place_names:
        lines.append("in place: " + ", ".join(in_place_names))
    return "\n".join([*lines, f"{plan.total:,} bytes for {plan.without_sharing:,} bytes of temporaries"])
