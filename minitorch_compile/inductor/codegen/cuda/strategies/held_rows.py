"""Rows that threads hold in registers: what is read once stays there for all passes over a row, as do results of a pass
that a later one reads. A short row is one warp's, whose threads combine what they found by shuffles; a longer one a
block's.

    for step in range(4):                                       # a thread's vectors of the row
        first = 4 * (thread + step * THREADS)
        if first < n1:
            vectors.load_4(row0, 4 * step, in0, n2 * i0 + first, aligned)

How many vectors a thread has is part of the text, a power of two: rows of other lengths leave some of them empty. With
these, too, is computed, since branches would keep elements waiting for each other, but nothing of it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import (
    K,
    Lanes,
    begin_each,
    combine_each,
    inner_accesses,
    steps_by_one,
    width_along,
)
from minitorch_compile.inductor.codegen.cuda.strategies.walk import SHUFFLED, combined_by_block, declare_shared
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

WARP = 32
LONGEST_OF_WARP = 1024  # elements of a row; 32 a thread
MOST_OF_THREAD = 64  # elements of a row
MOST_REGISTERS = 160  # of a thread's 255, for rows


@dataclass(frozen=True)
class HeldRows:
    """A thread has `steps` vectors of `width` elements of its row."""

    order: LoopOrder
    width: int
    steps: int
    in_warp: bool
    reason: str
    keeps_in_memory = False

    @staticmethod
    def of(
        group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Set[Buffer], threads: int
    ) -> HeldRows | None:
        """The strategy for a group, if its rows are of one piece and not too long."""
        looks_up = any(a.address.is_indirect for m in group.members if m.inner for a in m.reads)
        if len(order.reduced) != 1 or order.reduced[0].size == 0 or looks_up:
            return None  # an index that isn't the row's must not be looked up, nor found wrong
        (axis,) = order.reduced
        width = width_along(group, axis, internal)
        width = 1 if axis.size % width else width
        shuffled = all(m.loop.buffer.dtype.name in SHUFFLED for m in group.members if m.loop.is_reduction)
        in_warp = shuffled and axis.size <= LONGEST_OF_WARP
        together = WARP if in_warp else threads
        steps = power_of_two(-(-axis.size // (width * together)))
        words = [max(1, buffer.dtype.itemsize // 4) for buffer in {*later, *held_inputs(group, axis)}]
        if steps * width > MOST_OF_THREAD or steps * width * sum(words) > MOST_REGISTERS:
            return None
        whose = "a warp" if in_warp else "a block"
        reason = f"rows of {axis.size} in the registers of {whose}: {steps} x {width} elements a thread"
        return HeldRows(order, width, steps, in_warp, reason)

    @property
    def block(self) -> BlockShape:
        """Threads with much of a row take few registers beside it: so several rows are under way together."""
        held = self.steps * self.width
        together = 2 if held > 32 else 3 if self.width == 1 and held > 8 else 0
        return BlockShape(together=together, each=not self.in_warp)

    @property
    def axis(self) -> Axis:
        return self.order.reduced[0]

    def write(self, writer: CudaKernelWriter) -> int:
        rows = self.order.rows
        place = symbol("place" if self.width > 1 else "step", MOST_OF_THREAD)
        lanes = writer.lanes = Lanes(self.axis, self.width, "aligned", place)
        if self.in_warp:
            writer.leader = "thread == 0"
            writer.root.add("thread = cuda.threadIdx.x % 32")
            writer.deal_out(rows, "cuda.grid(1) // 32", "cuda.gridsize(1) // 32")
        else:
            writer.leader = "thread == 0"
            writer.root.add("thread = cuda.threadIdx.x")
            declare_shared(writer)
            writer.deal_out(rows, "cuda.blockIdx.x", "cuda.gridDim.x")
        for buffer in sorted(writer.later, key=lambda buffer: buffer.name):
            name = lanes.array(writer, buffer, self.steps * self.width, "row")
            writer.scratch[buffer] = name, place
            writer.unstored.discard(buffer)
        for stage in range(max(writer.stages) + 1):
            self.stage(writer, lanes, *writer.members_of(stage))
        if lanes.pointers:
            writer.root.add(f"aligned = {lanes.alignment()}")
        return count(rows) * (WARP if self.in_warp else 1)

    def stage(self, writer: CudaKernelWriter, lanes: Lanes, of_row: Sequence[Member], inner: Sequence[Member]) -> None:
        writer.run(of_row)
        if not inner:
            return
        for member in inner:
            if member.loop.is_reduction and self.width > 1:
                begin_each(writer, lanes, member)
            elif member.loop.is_reduction:
                writer.begin(member)
        self.fetch(writer, lanes, inner)
        self.enter_steps(writer, lanes, "inside")
        if self.width > 1:
            variables = K.symbols | lanes.place.symbols | self.axis.variable.symbols
            writer.enter(f"for k in range({self.width}):", variables)
            writer.block.add(f"{self.axis.variable}, place = first + k, {self.width} * step + k")
        writer.run(inner)
        if self.width > 1:
            writer.leave()
            lanes.flush(writer, writer.within)
        writer.leave()
        writer.within = ""
        for member in inner:
            if member.loop.is_reduction and self.width > 1:
                combine_each(writer, lanes, member)
            if member.loop.is_reduction:
                writer.finish(member, combined_by_warp(member) if self.in_warp else combined_by_block(member))

    def fetch(self, writer: CudaKernelWriter, lanes: Lanes, inner: Sequence[Member]) -> None:
        """What these members read first of a row, for them and all behind them."""
        new = {
            (access.buffer, access.address): None
            for access in inner_accesses(Group(writer.group.axes, inner))
            if is_held(access.address, self.axis)
            and access.buffer not in writer.group.outputs
            and (access.buffer, access.address) not in lanes.held
        }
        if not new:
            return
        self.enter_steps(writer, lanes)
        for buffer, address in new:
            name = lanes.held[buffer, address] = lanes.array(writer, buffer, self.steps * self.width, "row")
            place = "step" if self.width == 1 else f"{self.width} * step"
            lanes.fetch(writer, writer.block, name, place, buffer, address)
        writer.leave()
        writer.leave()

    def enter_steps(self, writer: CudaKernelWriter, lanes: Lanes, inside: str = "") -> None:
        """A loop over a thread's vectors. Those beyond the row's end are left out, or stand for its first one, and a
        variable says which are `inside`."""
        together, first = "32" if self.in_warp else "THREADS", str(lanes.first)
        end = writer.number_text(self.axis.size, self.axis)
        variables = lanes.first.symbols | (lanes.place.symbols if self.width == 1 else frozenset())
        multiple = f"{self.width} * (thread + step * {together})" if self.width > 1 else f"thread + step * {together}"
        writer.enter(f"for step in range({self.steps}):", variables if inside else frozenset())
        writer.block.add(f"{first} = {multiple}")
        if inside:
            writer.block.add(f"{inside} = {first} < {end}")
            writer.block.add(f"{first} = {first} if {inside} else 0")
            writer.within = inside
        else:
            writer.enter(f"if {first} < {end}:", variables)


def is_held(address: Index, axis: Axis) -> bool:
    """Whether an access goes along each row anew: what all rows share comes from a cache when it is needed."""
    return steps_by_one(address, axis) and bool(address.symbols - axis.variable.symbols)


def held_inputs(group: Group, axis: Axis) -> set[Buffer]:
    return {a.buffer for a in inner_accesses(group) if is_held(a.address, axis) and a.buffer not in group.outputs}


def power_of_two(number: int) -> int:
    """The next power of two."""
    return 1 << max(number - 1, 0).bit_length()


def combined_by_warp(member: Member) -> str:
    """The call that combines the `total` of each thread of a warp."""
    return f"reductions.warp_{member.loop.kind}({{total}})"
