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
Where little is computed, four rows are added at once, so that an accumulator goes to memory once for four elements.
The range of the kernel counts the outer rows, or units of UNIT columns if there are none; a stretch has several units,
since long pieces of rows come from memory faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from minitorch_compile.inductor.codegen.cpu.writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.shared.accumulators import (
    Accumulator,
    accumulator,
    combine,
    combine_in_order,
    scan_dtype,
    start,
)
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, flatten, symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count, sizes_of
from minitorch_compile.inductor.ir.ordered_loops import Scan
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder
from minitorch_compile.tensor.numerics.dtype import dtype

UNIT = 256  # columns in a stretch: their accumulators fit in the first-level cache, what they keep in the second
WIDE = 1024  # columns in a stretch if only accumulators have to stay at hand
BLOCK = 64  # elements of a column that are summed in float32
ROWS_AT_ONCE, FEW_OPERATIONS = 4, 8


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
        self.width = min(UNIT if max(self.stages) else WIDE, columns.size)
        self.first = symbol("first", columns.size)
        self.place: Index = columns.variable - self.first
        self.accumulators: dict[Buffer, Accumulator] = {}
        self.latest: dict[str, Value] = {}  # of an array: the value of this column, not yet put there

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
        columns, start, end = self.columns.size, "0", str(self.columns.size)
        if not self.order.rows:
            self.extent = -(-columns // UNIT)
            start, end = f"lo * {UNIT}", f"min(hi * {UNIT}, {columns})"
        self.enter(f"for {self.first} in range({start}, {end}, {self.width}):", self.first.symbols)
        self.block.add(f"last = min({self.first} + {self.width}, {end})")

    def reduced_loops(self, members: list[Member], split: list[Member]) -> None:
        """The reduced axes outside, the columns inside; as many rows at once as divide the last reduced axis."""
        axes = self.order.reduced
        for axis in axes[:-1]:
            self.enter_axis(axis)
        rows, at_once = axes[-1].size, self.rows_at_once(members)
        whole = rows - rows % at_once
        self.some_rows(members, split, range(0, whole, at_once))
        if whole < rows:
            self.some_rows(members, split, range(whole, rows))
        for _ in axes[:-1]:
            self.leave()

    def rows_at_once(self, members: list[Member]) -> int:
        work = sum(member.accesses.operations + len(member.accesses.reads) for member in members)
        only_sums = all(member.loop.is_reduction for member in members)
        return ROWS_AT_ONCE if only_sums and work <= FEW_OPERATIONS and self.order.reduced[-1].size > BLOCK else 1

    def some_rows(self, members: list[Member], split: list[Member], rows: range) -> None:
        """These positions of the last reduced axis, in blocks if there are split sums."""
        axis = self.order.reduced[-1]
        in_blocks = bool(split) and len(rows) * rows.step > BLOCK
        if in_blocks:
            self.enter(f"for block in range({rows.start}, {rows.stop}, {BLOCK}):")
        self.each_column(split, self.begin_block)
        bounds = f"block, min(block + {BLOCK}, {rows.stop})" if in_blocks else f"{rows.start}, {rows.stop}"
        self.enter_axis(axis, bounds if rows.step == 1 else f"{bounds}, {rows.step}")
        self.each_column(members, lambda member: self.run_rows(member, axis, rows.step))
        self.leave()
        self.each_column(split, self.finish_block)
        if in_blocks:
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

    def run_rows(self, member: Member, axis: Axis, count: int) -> None:
        """The body at this row and those after it, `count` in all."""
        for self.number in range(count):
            position = [part.substitute({axis.variable: axis.variable + self.number}) for part in member.position]
            member.loop.run(self, position)
        self.number = 0
        if member.loop.is_reduction:
            array = self.accumulators[member.loop.buffer].partial
            self.put(array, self.latest.pop(array))

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

    def combined(self, kind: str, old: Value, value: Value) -> Value:
        name = self.fresh()
        self.block.add(f"{name} = {combine(kind, old.dtype, old.name, value.name, self.spelling)}")
        return Value(name, old.dtype, self.block)

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        array = self.accumulators[buffer].partial
        old = self.latest.get(array) or self.get(array, buffer.dtype)
        self.latest[array] = self.combined(kind, old, value)

    def begin_block(self, member: Member) -> None:
        result = self.accumulators[member.loop.buffer]
        self.start(result.partial, result.kind, result.buffer.dtype)

    def finish_block(self, member: Member) -> None:
        result = self.accumulators[member.loop.buffer]
        part = self.convert(self.get(result.partial, result.buffer.dtype), result.wide)
        self.put(result.total, self.combined(result.kind, self.get(result.total, result.wide), part))

    def finish(self, member: Member) -> None:
        buffer = member.loop.buffer
        result = self.accumulators[buffer]
        total = self.get(result.total, result.wide)
        self.store(buffer, member.write.address, self.convert(total, buffer.dtype) if result.is_split else total)
