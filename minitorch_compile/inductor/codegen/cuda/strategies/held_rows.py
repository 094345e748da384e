"""Rows that threads hold in registers: what is read once stays there for all passes over a row, as do results of a pass
that a later one reads. A short row is one warp's or a part's of one, whose threads combine what they found by shuffles;
a longer one a block's.

    for step in range(4):                                       # a thread's vectors of the row
        first = 4 * (thread + step * THREADS)
        if first < n1:
            vectors.load_4(row0, 4 * step, in0, n2 * i0 + first, aligned)

How many vectors a thread has is part of the text, one of `STEPS`: rows of other lengths leave some of them empty. With
these, too, is computed, since branches would keep elements waiting for each other, but nothing of it is used. Where a
row's length leaves none empty, the text knows that.

Of rows that take most of a multiprocessor's threads, the next one is under way to registers of its own (`ahead`) while
one is computed; there are enough of the others under way at a time.

Of rows of odd lengths most begin where vectors may not. Of such a row, `head` elements lie before the first place where
they may, and some are left behind the last whole vector: these ends are at most one element of each thread, which lies
behind its vectors in the registers.

    row      | . . 0 1 | 2 3 4 5 | 6 7 8 . |        head: 2; one vector, from 2 on; ends: 0, 1, 6, 7, 8
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cpu.spelling import HALF
from minitorch_compile.inductor.codegen.cuda.strategies import next_row
from minitorch_compile.inductor.codegen.cuda.strategies.lanes import (
    K,
    Lanes,
    begin_each,
    combine_each,
    inner_accesses,
    steps_by_one,
)
from minitorch_compile.inductor.codegen.cuda.strategies.row_shapes import (
    LONGEST_OF_WARP,
    MOST_AHEAD,
    MOST_OF_THREAD,
    TIMES,
    WARP,
    part_of_warp,
    reason_of,
    registers_left,
    row_width,
    shape_of,
    sizes_of,
)
from minitorch_compile.inductor.codegen.cuda.strategies.walk import SHUFFLED, combined_by_block, declare_shared
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import ZERO, Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

TWO_SUMS = [("sum", "float32")] * 2  # of a row at a time, as a norm's gradient has them: threads meet once for both
TOGETHER = "reductions.two_warps_sum({totals}, shared_float32, THREADS // 32)"
HEAD, END = symbol("head", 1 << 31), symbol("end", 1 << 31)
What = tuple[Buffer, Index]  # an access


@dataclass(frozen=True)
class HeldRows:
    """A thread has `steps` vectors of `width` elements of its row. Rows are of `part` threads of a warp, or if that is
    0 of blocks of `times` the usual number. `has_ends`: rows begin anywhere, and have ends beside the vectors.
    `is_full`: no vector is empty. `ahead`: what is fetched of the next row."""

    order: LoopOrder
    width: int
    steps: int
    times: float
    part: int
    has_ends: bool
    is_full: bool
    ahead: tuple[What, ...]
    block: BlockShape
    reason: str
    down: frozenset[Buffer] = frozenset()  # what is no row's (`rows_and_columns.py`)
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
        width, has_ends = row_width(group, axis, internal)
        shuffled = all(m.loop.buffer.dtype.name in SHUFFLED for m in group.members if m.loop.is_reduction)
        in_warp = shuffled and axis.size <= LONGEST_OF_WARP
        inputs = held_inputs(group, axis)
        only_reduces = all(m.loop.is_reduction or not m.inner for m in group.members)
        part = part_of_warp(axis.size, width, only_reduces) if in_warp else 0
        if has_ends and (not inputs or 0 < part < 2 * (width - 1)):
            width, has_ends = 1, False
            part = part_of_warp(axis.size, width, only_reduces) if in_warp else 0
        found = shape_of(
            axis.size, width, sizes_of(inputs), sizes_of((buffer, None) for buffer in later), part, threads
        )
        if found is None:
            return None
        times, steps = found
        is_full = not has_ends and axis.size == steps * width * times * (part or threads)
        lone = times == TIMES[-1] or (0 < part < WARP and only_reduces)
        ahead = tuple(inputs) if lone and order.rows and len(inputs) * steps * width <= MOST_AHEAD else ()
        each = not ahead and not only_reduces if part else not ahead
        block = BlockShape(times, registers_left(steps * width, width, times), each)
        reason = reason_of(axis.size, part, times, steps, width, has_ends, bool(ahead))
        return HeldRows(order, width, steps, times, part, has_ends, is_full, ahead, block, reason)

    @property
    def axis(self) -> Axis:
        return self.order.reduced[0]

    @property
    def held(self) -> int:
        """Elements of a row that a thread has."""
        return self.steps * self.width + self.has_ends

    @property
    def together(self) -> str:
        """Threads of a row, as text."""
        return str(self.part) if self.part else "THREADS"

    def begin_write(self, writer: CudaKernelWriter) -> Lanes:
        """The lines above all rows."""
        place = symbol("place" if self.width > 1 else "step", MOST_OF_THREAD)
        lanes = writer.lanes = Lanes(self.axis, self.width, "aligned", place, self.has_ends)
        writer.leader = "thread == 0"
        writer.root.add(f"thread = cuda.threadIdx.x{f' % {self.part}' if self.part else ''}")
        if not self.part:
            declare_shared(writer)
        for buffer in sorted(writer.later, key=lambda buffer: buffer.name):
            name = lanes.array(writer, buffer, self.held, "row")
            writer.scratch[buffer] = name, place
            writer.unstored.discard(buffer)
        return lanes

    def write(self, writer: CudaKernelWriter) -> int:
        rows, lanes = self.order.rows, self.begin_write(writer)
        own, step = self.deal_out_numbers()
        fetched = next_row.fetch_first(self, writer, lanes, own) if self.ahead else {}
        writer.deal_out(rows, own, step)
        if fetched:
            next_row.fetch_next(self, writer, lanes, fetched, step)
        if self.has_ends:
            self.find_ends(writer, {})
        for stage in range(max(writer.stages) + 1):
            self.stage(writer, lanes, *writer.members_of(stage))
        if lanes.pointers and not fetched and not self.has_ends:
            writer.root.add(f"aligned = {lanes.alignment()}")
        return count(rows) * max(self.part, 1)

    def deal_out_numbers(self) -> tuple[str, str]:
        """The number of a thread's first row, and how many rows all threads take at a time."""
        if self.part:
            return f"cuda.grid(1) // {self.part}", f"cuda.gridsize(1) // {self.part}"
        return "cuda.blockIdx.x", "cuda.gridDim.x"

    def is_in_words(self, buffer: Buffer) -> bool:
        """Whether the next row's elements stay whole words, of which two small elements share one."""
        return self.width > 1 and not self.has_ends and buffer.dtype in HALF

    def find_ends(self, writer: CudaKernelWriter, renamed: dict[Index, Index]) -> None:
        """Lines that say where a row's vectors begin and end, if they do so in all arrays, and which end a thread has:
        one behind the row, if none."""
        accesses = inner_accesses(writer.group)
        along = [a for a in accesses if a.buffer not in writer.internal and is_held(a.address, self.axis)]
        places = dict.fromkeys((writer.pointers[a.buffer], a.address.substitute(renamed)) for a in along)
        beyond = [
            f"vectors.beyond({pointer}, {writer.text_of(address.substitute({self.axis.variable: at}))}, {self.width})"
            for at in (ZERO, HEAD)
            for pointer, address in places
        ]
        from_row, from_head = beyond[: len(places)], beyond[len(places) :]
        size = writer.number_text(self.axis.size, self.axis)
        writer.block.add(f"head = ({self.width} - {from_row[0]}) % {self.width}")
        writer.block.add(f"aligned = {' and '.join(f'{one} == 0' for one in from_head)}")
        writer.block.add(f"behind = head + ({size} - head) // {self.width} * {self.width}")
        writer.block.add("end = thread if thread < head else behind + thread - head")

    def fetch_into(
        self,
        writer: CudaKernelWriter,
        lanes: Lanes,
        arrays: Sequence[tuple[str, Buffer, Index]],
        is_ahead: bool = False,
    ) -> None:
        """Lines that fetch a thread's vectors, and its end."""
        self.enter_steps(writer, lanes)
        for name, buffer, address in arrays:
            in_words = is_ahead and self.is_in_words(buffer)
            each = self.width // 2 if in_words else self.width
            place = "step" if each == 1 else f"{each} * step"
            lanes.fetch(writer, writer.block, name, place, buffer, address, "fetch" if in_words else "load")
        writer.leave()
        if not self.is_full:
            writer.leave()
        if self.has_ends:
            writer.enter(f"if end < {writer.number_text(self.axis.size, self.axis)}:", END.symbols)
            for name, buffer, address in arrays:
                at = writer.text_of(address.substitute({self.axis.variable: END}))
                writer.block.add(f"{name}[{self.held - 1}] = {writer.pointers[buffer]}[{at}]")
            writer.leave()

    def stage(self, writer: CudaKernelWriter, lanes: Lanes, of_row: Sequence[Member], inner: Sequence[Member]) -> None:
        writer.run(of_row)
        if not inner:
            return
        along = [member for member in inner if member.loop.is_reduction and member.loop.buffer not in self.down]
        for member in along:
            if self.width > 1:
                begin_each(writer, lanes, member)
            else:
                writer.begin(member)
        self.fetch(writer, lanes, inner)
        self.enter_elements(writer, lanes)
        writer.run(inner)
        self.leave_elements(writer, lanes)
        if self.has_ends:
            self.run_end(writer, lanes, inner)
        for member in along:
            if self.width > 1:
                combine_each(writer, lanes, member)
        if not self.part and [(m.loop.kind, m.loop.buffer.dtype.name) for m in along] == TWO_SUMS:
            writer.finish_two(along, TOGETHER)
            return
        for member in along:
            writer.finish(member, combined_by_warp(member, self.part) if self.part else combined_by_block(member))

    def enter_elements(self, writer: CudaKernelWriter, lanes: Lanes) -> None:
        """Loops over a thread's vectors and the elements of each."""
        self.enter_steps(writer, lanes, inside=True)
        if self.width > 1:
            variables = K.symbols | lanes.place.symbols | self.axis.variable.symbols
            writer.enter(f"for k in range({self.width}):", variables)
            writer.block.add(f"{self.axis.variable}, place = first + k, {self.width} * step + k")

    def leave_elements(self, writer: CudaKernelWriter, lanes: Lanes) -> None:
        if self.width > 1:
            writer.leave()
            lanes.flush(writer, writer.within)
        writer.leave()
        writer.within = ""

    def run_end(self, writer: CudaKernelWriter, lanes: Lanes, inner: Sequence[Member]) -> None:
        """The same with a thread's end."""
        variables = lanes.place.symbols | self.axis.variable.symbols
        writer.enter(f"if end < {writer.number_text(self.axis.size, self.axis)}:", variables)
        writer.block.add(f"k, {self.axis.variable}, place = 0, end, {self.held - 1}")
        writer.run(inner)
        writer.leave()

    def fetch(self, writer: CudaKernelWriter, lanes: Lanes, inner: Sequence[Member]) -> None:
        """What these members read first of a row, for them and all behind them."""
        of_these = held_inputs(Group(writer.group.axes, inner), self.axis)
        outputs = writer.group.outputs
        new = [what for what in of_these if what not in lanes.held and what[0] not in outputs]
        if not new:
            return
        for buffer, address in new:
            lanes.held[buffer, address] = lanes.array(writer, buffer, self.held, "row")
        self.fetch_into(writer, lanes, [(lanes.held[what], *what) for what in new])

    def enter_steps(self, writer: CudaKernelWriter, lanes: Lanes, inside: bool = False) -> None:
        """A loop over a thread's vectors. Those beyond the row's end are left out, or, if the loop computes, stand for
        its first one, and a variable says which are `inside`."""
        first = str(lanes.first)
        variables = lanes.first.symbols | (lanes.place.symbols if self.width == 1 else frozenset())
        multiple = f"thread + step * {self.together}"
        multiple = f"{self.width} * ({multiple})" if self.width > 1 else multiple
        writer.enter(f"for step in range({self.steps}):", variables if inside or self.is_full else frozenset())
        writer.block.add(f"{first} = {'head + ' if self.has_ends else ''}{multiple}")
        end = "behind" if self.has_ends else writer.number_text(self.axis.size, self.axis)
        if inside and not self.is_full:
            writer.block.add(f"inside = {first} < {end}")
            writer.block.add(f"{first} = {first} if inside else 0")
            writer.within = "inside"
        elif not self.is_full:
            writer.enter(f"if {first} < {end}:", variables)


def is_held(address: Index, axis: Axis) -> bool:
    """Whether an access goes along each row anew: what all rows share comes from a cache when it is needed."""
    return steps_by_one(address, axis) and bool(address.symbols - axis.variable.symbols)


def held_inputs(group: Group, axis: Axis) -> dict[tuple[Buffer, Index], None]:
    """What is read along each row, each once."""
    found = [a for a in inner_accesses(group) if is_held(a.address, axis) and a.buffer not in group.outputs]
    return dict.fromkeys((access.buffer, access.address) for access in found)


def combined_by_warp(member: Member, threads: int) -> str:
    """The call that combines the `total` of each of so many threads of a warp."""
    kind = member.loop.kind
    return f"reductions.warp_{kind}({{total}})" if threads == WARP else f"reductions.part_{kind}({{total}}, {threads})"
