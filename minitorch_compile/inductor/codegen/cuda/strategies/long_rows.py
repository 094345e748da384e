"""Rows too long for registers: each is a block's, whose threads go along it once a pass, a chunk at a time: of that, a
thread has several vectors of 16 bytes, all under way before the first of them is needed.

    pass 0   chunk 0: steps 0 1 2 3 | chunk 1 | chunk 2          along the row
    pass 1   chunk 2 | chunk 1 | chunk 0                         and back

Every other pass goes back, from what was read last and is in the cache to what may be there no more. What a pass
computes and a later one reads is computed again there, which costs less than to write it and read it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.held_rows import held_inputs
from minitorch_compile.inductor.codegen.cuda.strategies.lanes import K, Lanes, begin_each, combine_each, width_along
from minitorch_compile.inductor.codegen.cuda.strategies.walk import combined_by_block, declare_shared
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import symbol
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

VECTORS_UNDER_WAY = 4  # of a thread
TIMES_OF_PASSES = 4  # the usual threads, for several passes: a multiprocessor's cache has then one row


@dataclass(frozen=True)
class LongRows:
    """A thread takes `steps` vectors of `width` elements of a chunk of its block's row. `is_full`: rows are whole
    chunks."""

    order: LoopOrder
    width: int
    steps: int
    is_full: bool
    block: BlockShape
    reason: str
    keeps_in_memory = False

    @staticmethod
    def of(
        group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Iterable[Buffer], threads: int
    ) -> LongRows | None:
        """The strategy for a group, if its rows are of one piece that vectors can go along."""
        if len(order.reduced) != 1 or not set(later) <= set(internal):
            return None
        (axis,) = order.reduced
        width = width_along(group, axis, internal)
        if width == 1 or axis.size % width:
            return None
        # Few rows under way at a time find their place in the cache between the passes.
        block = BlockShape(TIMES_OF_PASSES if max(group.stages()) > 0 else 1, each=True)
        steps = max(1, VECTORS_UNDER_WAY // max(1, len(held_inputs(group, axis))))
        is_full = axis.size % (steps * width * int(threads * block.times)) == 0
        reason = f"a block goes along each row of {axis.size}, {steps} x {width} elements a thread at a time"
        return LongRows(order, width, steps, is_full, block, reason)

    @property
    def axis(self) -> Axis:
        return self.order.reduced[0]

    def write(self, writer: CudaKernelWriter) -> int:
        lanes = writer.lanes = Lanes(self.axis, self.width, "aligned", symbol("place", self.steps * self.width))
        writer.leader = "thread == 0"
        writer.root.add("thread = cuda.threadIdx.x")
        declare_shared(writer)
        size = writer.number_text(self.axis.size, self.axis)
        chunk = f"({self.steps * self.width} * THREADS)"
        writer.root.add(f"chunks = {size} // {chunk}" if self.is_full else f"chunks = ({size} - 1) // {chunk} + 1")
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
        writer.enter("for count in range(chunks):")
        writer.block.add(f"chunk = {'chunks - 1 - count' if stage % 2 else 'count'}")
        members = [*again(writer, inner), *inner]
        self.fetch(writer, lanes, members)
        self.enter_steps(writer, lanes, inside=True)
        writer.enter(f"for k in range({self.width}):", K.symbols | lanes.place.symbols | self.axis.variable.symbols)
        writer.block.add(f"{self.axis.variable}, place = first + k, {self.width} * step + k")
        writer.run(members)
        writer.leave()
        lanes.flush(writer, writer.within)
        writer.leave()
        writer.leave()
        writer.within = ""
        for member in reductions:
            combine_each(writer, lanes, member)
            writer.finish(member, combined_by_block(member))

    def fetch(self, writer: CudaKernelWriter, lanes: Lanes, members: Sequence[Member]) -> None:
        """Lines that fetch a thread's vectors of a chunk."""
        found = held_inputs(Group(writer.group.axes, members), self.axis)
        arrays = [what for what in found if what[0] not in writer.group.outputs]
        self.enter_steps(writer, lanes)
        for what in arrays:
            if what not in lanes.held:
                lanes.held[what] = lanes.array(writer, what[0], self.steps * self.width, "row")
            lanes.fetch(writer, writer.block, lanes.held[what], f"{self.width} * step", *what)
        writer.leave()
        if not self.is_full:
            writer.leave()

    def enter_steps(self, writer: CudaKernelWriter, lanes: Lanes, inside: bool = False) -> None:
        """A loop over a thread's vectors of a chunk. Those beyond the row's end are left out, or, if the loop computes,
        stand for its first one, and a variable says which are `inside`."""
        writer.enter(f"for step in range({self.steps}):", lanes.first.symbols)
        writer.block.add(f"first = {self.width} * (({self.steps} * chunk + step) * THREADS + thread)")
        end = writer.number_text(self.axis.size, self.axis)
        if inside and not self.is_full:
            writer.block.add(f"inside = first < {end}")
            writer.block.add("first = first if inside else 0")
            writer.within = "inside"
        elif not self.is_full:
            writer.enter(f"if first < {end}:", lanes.first.symbols)


def again(writer: CudaKernelWriter, inner: Sequence[Member]) -> list[Member]:
    """The members of earlier passes whose results these read, in order."""
    needed: set[Buffer] = set()
    for member in reversed(writer.group.members):
        if member in inner or member.loop.buffer in needed:
            needed |= {access.buffer for access in member.reads} & writer.later
    return [m for m in writer.group.members if m.loop.buffer in needed and m not in inner]
