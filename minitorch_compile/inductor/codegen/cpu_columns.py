"""Reductions down the columns: a stretch of neighbouring rows is reduced together, so the fast loop reads memory in order.

Each value that belongs to a row (an accumulator, a finished reduction) becomes a small array with a place for every row of
the stretch. For a sum over the first dimension:

    for stretch in range(lo, hi):
        first, last = ...                                       256 columns of the matrix
        for i0 in range(first, last):  scratch0[i0 - first] = 0
        for r0 in range(rows):
            for i0 in range(first, last):  scratch0[i0 - first] += in0[r0, i0]
        for i0 in range(first, last):  out0[i0] = scratch0[i0 - first]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from minitorch_compile.inductor.codegen.accumulators import Accumulator, accumulator, combine, start
from minitorch_compile.inductor.codegen.block import Value
from minitorch_compile.inductor.codegen.cpu_writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.strategy import LoopOrder
from minitorch_compile.inductor.group import Group, Member
from minitorch_compile.inductor.index import Index, flatten, symbol
from minitorch_compile.inductor.ir import Buffer
from minitorch_compile.inductor.iteration import Axes, Axis, count, sizes_of

COLUMNS = 256  # rows that are taken together: their accumulators fit in the first-level cache


class ColumnWriter(CpuKernelWriter):
    """Kept axes but `columns` outside, then stretches of `columns`, then the reduced axes, then the columns of a stretch."""

    def __init__(
        self, group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer], order: LoopOrder, columns: Axis
    ) -> None:
        super().__init__(group, internal, shared)
        self.order = order
        self.columns = columns
        self.width = min(COLUMNS, columns.size)
        self.first = symbol("first", columns.size)
        self.place: Index = columns.variable - self.first
        self.accumulators: dict[Buffer, Accumulator] = {}

    def loops(self) -> None:
        self.place_values()
        self.enter_rows(self.order.rows)
        self.enter_stretches()
        for stage in range(max(self.stages) + 1):
            of_rows, inner = self.at_stage(stage, inner=False), self.at_stage(stage, inner=True)
            reductions = [member for member in inner if member.loop.is_reduction]
            self.each_column(of_rows, self.run)
            self.each_column(reductions, self.begin)
            for axis in self.order.reduced if inner else ():
                self.enter_axis(axis)
            self.each_column(inner, self.run)
            for _ in self.order.reduced if inner else ():
                self.leave()
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

    # ------------------------------------------------------------------------------------------ reductions

    def begin(self, member: Member) -> None:
        kind, buffer = member.loop.kind, member.loop.buffer
        result = accumulator(buffer, kind, "")
        array = self.new_scratch(result.wide, self.width)
        self.accumulators[buffer] = result._replace(total=array, partial=array)
        value = self.line(start(kind, result.wide, self.spelling), result.wide)
        self.block.store(self.spelling.store(array, self.text_of(self.place), value.name, result.wide))

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        result = self.accumulators[buffer]
        old = self.fresh()
        self.block.add(f"{old} = {self.spelling.load(result.total, self.text_of(self.place), result.wide)}")
        new = self.convert(value, result.wide) if value.dtype is not result.wide else value
        total = self.fresh()
        self.block.add(f"{total} = {combine(kind, result.wide, old, new.name, self.spelling)}")
        self.block.store(self.spelling.store(result.total, self.text_of(self.place), total, result.wide))

    def finish(self, member: Member) -> None:
        buffer = member.loop.buffer
        result = self.accumulators[buffer]
        total = self.fresh()
        self.block.add(f"{total} = {self.spelling.load(result.total, self.text_of(self.place), result.wide)}")
        value = Value(total, result.wide, self.block)
        self.store(buffer, member.write.address, self.convert(value, buffer.dtype) if result.wide is not buffer.dtype else value)
