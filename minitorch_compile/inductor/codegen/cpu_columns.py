"""Reductions down the columns: neighbouring rows are reduced together, so the fast loop reads memory in order.

Each value that belongs to a row (an accumulator, a finished reduction) becomes a small array with a place for every
row of the stretch. For a sum over the first dimension:

    for stretch in range(lo, hi):
        first, last = ...                                       256 columns of the matrix
        for i0 in range(first, last):  scratch0[i0 - first] = 0
        for r0 in range(rows):
            for i0 in range(first, last):  scratch0[i0 - first] += in0[r0, i0]
        for i0 in range(first, last):  out0[i0] = scratch0[i0 - first]

Long sums are taken in blocks of rows, each block in float32 and the blocks together in float64 (see `accumulators`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from minitorch_compile.inductor.codegen.accumulators import (
    Accumulator,
    accumulator,
    combine,
    combine_in_order,
    scan_dtype,
    start,
)
from minitorch_compile.inductor.codegen.block import Value
from minitorch_compile.inductor.codegen.cpu_writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.strategy import LoopOrder
from minitorch_compile.inductor.group import Group, Member
from minitorch_compile.inductor.index import Index, flatten, symbol
from minitorch_compile.inductor.ir import Buffer, Scan
from minitorch_compile.inductor.iteration import Axes, Axis, count, sizes_of
from minitorch_compile.tensor.dtype import dtype

COLUMNS = (
    256  # rows that are taken together: their accumulators fit in the first-level cache, what they keep in the second
)
WIDE_COLUMNS = 1024
BLOCK = 64  # elements of a column that are summed in float32


class ColumnWriter(CpuKernelWriter):
    """From the outside in: kept axes but `columns`, stretches of `columns`, reduced axes, the columns of a stretch."""

    scans_are_loops = False  # each column carries its own result from row to row

    def __init__(
        self,
        group: Group,
        internal: frozenset[Buffer],
        shared: Mapping[Buffer, Buffer],
        order: LoopOrder,
        columns: Axis,
    ) -> None:
        super().__init__(group, internal, shared)
        self.order = order
        self.columns = columns
        self.width = min(COLUMNS if max(self.stages) else self.wide(columns.size), columns.size)
        self.first = symbol("first", columns.size)
        self.place: Index = columns.variable - self.first
        self.accumulators: dict[Buffer, Accumulator] = {}

    def wide(self, columns: int) -> int:
        """The width of a stretch if only accumulators have to stay at hand.

        Long pieces of rows come from memory faster, but two threads should have something to share.
        """
        return max(COLUMNS, min(WIDE_COLUMNS, columns // 2))

    def loops(self) -> None:
        self.place_values()
        self.enter_rows(self.order.rows)
        self.enter_stretches()
        for stage in range(max(self.stages) + 1):
            of_rows, inner = self.at_stage(stage, inner=False), self.at_stage(stage, inner=True)
            reductions = [member for member in inner if member.loop.is_reduction]
            self.each_column(of_rows, self.run)
            self.each_column(reductions, self.begin)
            self.each_column([member for member in inner if isinstance(member.loop, Scan)], self.begin_scan)
            if inner:
                self.reduced_loops(inner, [member for member in reductions if self.is_split(member)])
            self.each_column(reductions, self.finish)
        self.leave_all()

    def enter_stretches(self) -> None:
        stretches = -(-self.columns.size // self.width)
        bounds = str(stretches)
        if not self.order.rows:
            self.extent, bounds = stretches, "lo, hi"
        self.enter(f"for stretch in range({bounds}):", self.first.symbols)
        self.block.add(f"{self.first} = stretch * {self.width}")
        self.block.add(f"last = min({self.first} + {self.width}, {self.columns.size})")

    def reduced_loops(self, members: list[Member], split: list[Member]) -> None:
        """The reduced axes outside, the columns inside; the last reduced axis in blocks if there are split sums."""
        axes = self.order.reduced
        in_blocks = bool(split) and axes[-1].size > BLOCK
        for axis in axes[:-1]:
            self.enter_axis(axis)
        if in_blocks:
            self.enter(f"for block in range(0, {axes[-1].size}, {BLOCK}):")
        self.each_column(split, self.begin_block)
        self.enter_axis(axes[-1], f"block, min(block + {BLOCK}, {axes[-1].size})" if in_blocks else "")
        self.each_column(members, self.run)
        self.leave()
        self.each_column(split, self.finish_block)
        for _ in range(len(axes) - 1 + in_blocks):
            self.leave()

    def each_column(self, members: list[Member], action: Callable[[Member], None]) -> None:
        """A loop over the columns of the stretch that does something for each of these members."""
        if members:
            self.enter_axis(self.columns, f"{self.first}, last")
            for member in members:
                action(member)
            self.leave()

    def run(self, member: Member) -> None:
        member.loop.run(self, member.position)

    def place_values(self) -> None:
        """Each loop runs over all columns, so what another loop needs is kept in an array."""
        for member, read_later in self.internal_members():
            of_row = member.loop.is_reduction or not member.inner
            if of_row or read_later:
                self.keep(member.loop.buffer, () if of_row else self.order.reduced)
            else:
                self.unstored.add(member.loop.buffer)

    def keep(self, buffer: Buffer, axes: Axes) -> None:
        row = flatten([axis.variable for axis in axes], sizes_of(axes))
        name = self.new_scratch(buffer.dtype, count(axes) * self.width)
        self.scratch[buffer] = (name, row * self.width + self.place)

    # ------------------------------------------------------------------------------------------ scans

    def begin_scan(self, member: Member) -> None:
        kind, buffer = member.loop.kind, member.loop.buffer
        wide = scan_dtype(buffer, kind)
        carried = self.new_scratch(wide, self.width)
        self.accumulators[buffer] = Accumulator(buffer, kind, carried, carried, wide)
        self.start(carried, kind, wide)

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        carried, wide = self.accumulators[buffer].total, self.accumulators[buffer].wide
        before, new = self.get(carried, wide), self.convert(value, wide) if value.dtype is not wide else value
        name = self.fresh()
        self.block.add(f"{name} = {combine_in_order(kind, wide, before.name, new.name, self.spelling)}")
        result = Value(name, wide, self.block)
        self.put(carried, result)
        self.store(buffer, address, self.convert(result, buffer.dtype) if wide is not buffer.dtype else result)

    # ------------------------------------------------------------------------------------------ reductions

    def is_split(self, member: Member) -> bool:
        """Whether a sum needs more than one block, so that blocks are added up in float64."""
        if not accumulator(member.loop.buffer, member.loop.kind, "").is_split:
            return False
        return count(self.order.reduced) > BLOCK

    def begin(self, member: Member) -> None:
        """Makes the arrays of one reduction, and starts its total."""
        kind, buffer = member.loop.kind, member.loop.buffer
        split = self.is_split(member)
        wide = accumulator(buffer, kind, "").wide if split else buffer.dtype
        total = self.new_scratch(wide, self.width)
        partial = self.new_scratch(buffer.dtype, self.width) if split else total
        self.accumulators[buffer] = Accumulator(buffer, kind, total, partial, wide)
        self.start(total, kind, wide)

    def start(self, array: str, kind: str, element: dtype) -> None:
        value = self.line(start(kind, element, self.spelling), element)
        self.put(array, value)

    def get(self, array: str, element: dtype) -> Value:
        """This column's place of an array, read anew."""
        name = self.fresh()
        self.block.add(f"{name} = {self.spelling.load(array, self.text_of(self.place), element)}")
        return Value(name, element, self.block)

    def put(self, array: str, value: Value) -> None:
        self.block.store(self.spelling.store(array, self.text_of(self.place), value.name, value.dtype))

    def add_to(self, array: str, kind: str, old: Value, value: Value) -> None:
        name = self.fresh()
        self.block.add(f"{name} = {combine(kind, old.dtype, old.name, value.name, self.spelling)}")
        self.put(array, Value(name, old.dtype, self.block))

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        result = self.accumulators[buffer]
        self.add_to(result.partial, kind, self.get(result.partial, buffer.dtype), value)

    def begin_block(self, member: Member) -> None:
        result = self.accumulators[member.loop.buffer]
        self.start(result.partial, result.kind, result.buffer.dtype)

    def finish_block(self, member: Member) -> None:
        result = self.accumulators[member.loop.buffer]
        part = self.convert(self.get(result.partial, result.buffer.dtype), result.wide)
        self.add_to(result.total, result.kind, self.get(result.total, result.wide), part)

    def finish(self, member: Member) -> None:
        buffer = member.loop.buffer
        result = self.accumulators[buffer]
        total = self.get(result.total, result.wide)
        self.store(buffer, member.write.address, self.convert(total, buffer.dtype) if result.is_split else total)
