"""Groups row by row: the reduced axes run inside, and what belongs to a row lives in variables.

A group without reduced axes is the same with nothing inside.

The largest float of a row is looked for among those that are not NaN, one instruction each, and whether there was a
NaN is noted beside it. Where its place is wanted, too (`Loop.place_of`), a row is taken in blocks, and the block that
brought the extreme is remembered: the second loop, which looks for the place, runs over that block only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from minitorch_compile.inductor.codegen.cpu.writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.shared.accumulators import (
    BLOCK,
    BLOCK_OF_PLACES,
    EXTREMES,
    Accumulator,
    accumulator,
    combine,
    start,
)
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import ZERO, Index, flatten
from minitorch_compile.inductor.ir.iteration import Axis, count, reduced, sizes_of
from minitorch_compile.inductor.ir.ordered_loops import Scan
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

# What the functions of `running` are called.
RUNNING = {"sum": "sum", "prod": "product", "amax": "maximum", "amin": "minimum", "logaddexp": "logaddexp"}


class RowWriter(CpuKernelWriter):
    """Kept axes outside; for each stage, what belongs to the row, then a loop over the reduced axes."""

    def __init__(
        self, group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer], order: LoopOrder
    ) -> None:
        super().__init__(group, internal, shared)
        self.order = order
        self.accumulators: dict[Buffer, Accumulator] = {}

    def loops(self) -> None:
        self.place_values()
        self.enter_rows(self.order.rows, () if self.order.reduced else self.group.members)
        for stage in range(max(self.stages) + 1):
            for member in self.at_stage(stage, inner=False):
                member.loop.run(self, member.position)
            members = self.at_stage(stage, inner=True)
            reductions = [member for member in members if member.loop.is_reduction]
            running = [self.begin(member) for member in reductions]
            finders = [member for member in members if self.extreme(member)]
            if len(finders) < len(members):
                self.reduced_loops([member for member in members if member not in finders], running)
            for member in finders:
                self.find_place(member)
            for member, result in zip(reductions, running):
                self.finish(member, result)
            for member in members:
                if isinstance(member.loop, Scan):
                    self.scan_line(member)
        self.leave_all()

    def place_values(self) -> None:
        """What one loop computes and a later one needs is kept for one row; everything else stays in variables."""
        for member, read_later in self.internal_members():
            buffer = member.loop.buffer
            if read_later and member.inner and not member.loop.is_reduction:
                axes = self.order.reduced
                place = flatten([axis.variable for axis in axes], sizes_of(axes))
                self.scratch[buffer] = (self.new_scratch(buffer.dtype, count(axes)), place)
            else:
                self.unstored.add(buffer)

    def reduced_loops(self, members: Sequence[Member], running: Sequence[Accumulator]) -> None:
        """The loops over the reduced axes, the last of them in blocks if it is long and sums in float32."""
        axes = self.order.reduced
        for axis in axes[:-1]:
            self.enter_axis(axis)
        last = axes[-1] if axes else None
        split = [result for result in running if result.is_split]
        length = block_length(last, split)
        if last is not None and length:
            self.enter(f"for block in range(0, {last.size}, {length}):")
        for result in split:
            self.block.add(f"{result.partial} = {start(result.kind, result.buffer.dtype, self.spelling)}")
        if last is not None:
            self.enter_axis(last, f"block, min(block + {length}, {last.size})" if length else "", members)
        for member in members:
            member.loop.run(self, member.position)
        if last is not None:
            self.leave()
        for result in split:
            self.finish_block(result)
        for _ in range(max(len(axes) - 1, 0) + bool(length)):
            self.leave()

    def finish_block(self, result: Accumulator) -> None:
        """The total, and where its extreme comes from, after one more block."""
        total, part, kind = result.total, result.partial, result.kind
        if not result.block:
            wide = self.spelling.convert(part, result.buffer.dtype, result.wide)
            self.block.add(f"{total} = {combine(kind, result.wide, total, wide, self.spelling)}")
            return
        better = f"{part} {EXTREMES[kind][1]} {total}"
        self.block.add(f"{result.block} = select({better}, block, {result.block})")
        self.block.add(f"{total} = select({better}, {part}, {total})")

    # ------------------------------------------------------------------------------------------ places

    def extreme(self, finder: Member) -> Accumulator | None:
        """What a loop needs that looks for the place of an extreme value, if the block is known in which it stands."""
        found = self.accumulators.get(finder.loop.place_of) if finder.loop.place_of else None
        return found if found and found.block else None

    def is_placed(self, buffer: Buffer) -> bool:
        """Whether the block in which an extreme value stands is worth remembering."""
        axes = self.order.reduced
        if len(axes) != 1 or axes[0].size <= 2 * BLOCK_OF_PLACES:
            return False
        return any(member.loop.place_of is buffer and member.inner for member in self.group.members)

    def find_place(self, finder: Member) -> None:
        """The loop over the block that has the extreme; over the whole row if a NaN is what counts."""
        extreme, (axis,) = self.extreme(finder), self.order.reduced
        assert extreme is not None
        first, last = extreme.block, f"min({extreme.block} + {BLOCK_OF_PLACES}, {axis.size})"
        if extreme.is_nan:
            first, last = f"select({extreme.is_nan}, 0, {first})", f"select({extreme.is_nan}, {axis.size}, {last})"
        self.enter_axis(axis, f"{first}, {last}")
        finder.loop.run(self, finder.position)
        self.leave()

    # ------------------------------------------------------------------------------------------ scans

    def store_scan(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        """The values go where the results will be; `scan_line` replaces them when the row is there."""
        pointer, place = self.scratch.get(buffer) or (self.pointers[buffer], address)
        self.block.store(self.spelling.store(pointer, self.text_of(place), value.name, buffer.dtype))

    def scan_line(self, member: Member) -> None:
        """Running results instead of values, along a row: a call, since vectors need shuffles here (see `running`)."""
        buffer, axes = member.loop.buffer, reduced(self.group.axes)
        pointer, place = self.scratch.get(buffer) or (self.pointers[buffer], member.write.address)
        start, step = place.substitute({axis.variable: ZERO for axis in axes}), place.coefficient(axes[-1].variable)
        function = f"running_{RUNNING[member.loop.kind]}{'' if buffer.dtype.is_floating_point else '_of_integers'}"
        self.block.flush()
        self.block.add(f"{function}(advance({pointer}, {self.text_of(start)}), {step}, {count(axes)})")

    # ------------------------------------------------------------------------------------------ reductions

    def begin(self, member: Member) -> Accumulator:
        kind, buffer = member.loop.kind, member.loop.buffer
        prefix = {"sum": "total", "prod": "product"}.get(kind, "best")
        result = accumulator(buffer, kind, f"{prefix}{len(self.accumulators)}")
        if kind in EXTREMES and self.is_placed(buffer):
            result = result._replace(partial=f"{result.total}_part", block=f"block{len(self.accumulators)}")
            self.block.add(f"{result.block} = 0")
        self.accumulators[buffer] = result
        self.block.add(f"{result.total} = {start(kind, result.wide, self.spelling)}")
        if result.is_nan:
            self.block.add(f"{result.is_nan} = False")
        return result

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        result = self.accumulators[buffer]
        if result.is_nan:
            self.block.add(f"{result.partial} = {EXTREMES[kind][0]}({result.partial}, {value.name})")
            self.block.add(f"{result.is_nan} = {result.is_nan} | ({value.name} != {value.name})")
            return
        self.block.add(f"{result.partial} = {combine(kind, buffer.dtype, result.partial, value.name, self.spelling)}")

    def finish(self, member: Member, result: Accumulator) -> None:
        name, element = result.total, result.buffer.dtype
        if result.wide is not element or result.is_nan:
            name = self.fresh()
            nan = self.spelling.constant(math.nan, element)
            text = f"select({result.is_nan}, {nan}, {result.total})" if result.is_nan else result.total
            self.block.add(f"{name} = {self.spelling.convert(text, result.wide, element)}")
        self.store(result.buffer, member.write.address, Value(name, element, self.block))


def block_length(axis: Axis | None, split: Sequence[Accumulator]) -> int:
    """How many elements of a row make a block; 0 if the row is taken as a whole."""
    lengths = [BLOCK_OF_PLACES if result.block else BLOCK for result in split]
    return min((n for n in lengths if axis is not None and n < axis.size), default=0)
