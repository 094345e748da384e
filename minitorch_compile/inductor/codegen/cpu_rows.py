"""Groups row by row: the reduced axes run inside, and what belongs to a row lives in variables.

A group without reduced axes is the same with nothing inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minitorch_compile.inductor.codegen.accumulators import BLOCK, Accumulator, accumulator, combine, start
from minitorch_compile.inductor.codegen.block import Value
from minitorch_compile.inductor.codegen.cpu_writer import CpuKernelWriter
from minitorch_compile.inductor.codegen.strategy import LoopOrder
from minitorch_compile.inductor.group import Group, Member
from minitorch_compile.inductor.index import ZERO, Index, flatten
from minitorch_compile.inductor.ir import Buffer, Scan
from minitorch_compile.inductor.iteration import count, reduced, sizes_of

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
        self.enter_rows(self.order.rows)
        for stage in range(max(self.stages) + 1):
            for member in self.at_stage(stage, inner=False):
                member.loop.run(self, member.position)
            members = self.at_stage(stage, inner=True)
            reductions = [member for member in members if member.loop.is_reduction]
            running = [self.begin(member) for member in reductions]
            if members:
                self.reduced_loops(members, running)
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
        in_blocks = last is not None and last.size > BLOCK and any(result.is_split for result in running)
        if last is not None and in_blocks:
            self.enter(f"for block in range(0, {last.size}, {BLOCK}):")
        split = [result for result in running if result.is_split]
        for result in split:
            self.block.add(f"{result.partial} = {start(result.kind, result.buffer.dtype, self.spelling)}")
        if last is not None:
            self.enter_axis(last, f"block, min(block + {BLOCK}, {last.size})" if in_blocks else "")
        for member in members:
            member.loop.run(self, member.position)
        if last is not None:
            self.leave()
        for result in split:
            wide = self.spelling.convert(result.partial, result.buffer.dtype, result.wide)
            self.block.add(f"{result.total} = {combine(result.kind, result.wide, result.total, wide, self.spelling)}")
        for _ in range(max(len(axes) - 1, 0) + in_blocks):
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
        self.accumulators[buffer] = result
        self.block.add(f"{result.total} = {start(kind, result.wide, self.spelling)}")
        return result

    def store_reduction(self, buffer: Buffer, address: Index, kind: str, value: Value) -> None:
        result = self.accumulators[buffer]
        self.block.add(f"{result.partial} = {combine(kind, buffer.dtype, result.partial, value.name, self.spelling)}")

    def finish(self, member: Member, result: Accumulator) -> None:
        name = result.total
        if result.is_split:
            name = self.fresh()
            self.block.add(f"{name} = {self.spelling.convert(result.total, result.wide, result.buffer.dtype)}")
        self.store(result.buffer, member.write.address, Value(name, result.buffer.dtype, self.block))
