"""Rows too long for registers: each is a block's, whose threads go along it once a pass, 16 bytes at a time.

What a pass computes and a later one reads is computed again there, which costs less than to write it and read it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import K, Lanes, begin_each, combine_each, width_along
from minitorch_compile.inductor.codegen.cuda.strategies.walk import combined_by_block, declare_shared
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter


@dataclass(frozen=True)
class LongRows:
    """A thread takes `width` elements of its block's row at a time."""

    order: LoopOrder
    width: int
    block: BlockShape
    reason: str
    keeps_in_memory = False

    @staticmethod
    def of(group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Iterable[Buffer]) -> LongRows | None:
        """The strategy for a group, if its rows are of one piece that vectors can go along."""
        if len(order.reduced) != 1 or not set(later) <= set(internal):
            return None
        (axis,) = order.reduced
        width = width_along(group, axis, internal)
        if width == 1 or axis.size % width:
            return None
        # Few rows under way at a time find their place in the cache between the passes.
        block = BlockShape(4 if max(group.stages()) > 0 else 1, each=True)
        reason = f"a block goes along each row of {axis.size}, {width} elements a thread at a time"
        return LongRows(order, width, block, reason)

    @property
    def axis(self) -> Axis:
        return self.order.reduced[0]

    def write(self, writer: CudaKernelWriter) -> int:
        lanes = writer.lanes = Lanes(self.axis, self.width, "aligned")
        writer.leader = "thread == 0"
        writer.root.add("thread = cuda.threadIdx.x")
        declare_shared(writer)
        writer.deal_out(self.order.rows, "cuda.blockIdx.x", "cuda.gridDim.x")
        for stage in range(max(writer.stages) + 1):
            self.stage(writer, lanes, stage)
        writer.root.add(f"aligned = {lanes.alignment()}")
        return count(self.order.rows)

    def stage(self, writer: CudaKernelWriter, lanes: Lanes, stage: int) -> None:
        of_row, inner = writer.members_of(stage)
        writer.run(of_row)
        if not inner:
            return
        reductions = [member for member in inner if member.loop.is_reduction]
        for member in reductions:
            begin_each(writer, lanes, member)
        end = writer.number_text(self.axis.size, self.axis)
        header = f"for first in range({self.width} * thread, {end}, {self.width} * THREADS):"
        writer.enter(header, lanes.first.symbols)
        writer.enter(f"for k in range({self.width}):", K.symbols | self.axis.variable.symbols)
        writer.block.add(f"{self.axis.variable} = first + k")
        writer.run([*again(writer, inner), *inner])
        writer.leave()
        lanes.flush(writer)
        writer.leave()
        for member in reductions:
            combine_each(writer, lanes, member)
            writer.finish(member, combined_by_block(member))


def again(writer: CudaKernelWriter, inner: Sequence[Member]) -> list[Member]:
    """The members of earlier passes whose results these read, in order."""
    needed: set[Buffer] = set()
    for member in reversed(writer.group.members):
        if member in inner or member.loop.buffer in needed:
            needed |= {access.buffer for access in member.reads} & writer.later
    return [m for m in writer.group.members if m.loop.buffer in needed and m not in inner]
