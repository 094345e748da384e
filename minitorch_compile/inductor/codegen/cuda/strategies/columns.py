"""Columns: reductions of rows that lie side by side. A thread goes down several neighbouring columns at once, 16 bytes
of each line in one access, and carries a result for each. Where lines are whole fours, four are under way at a time.

What is left over, less than a vector, or all if an array begins at an odd place, is a thread's column by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import (
    K,
    Lanes,
    begin_each,
    inner_accesses,
    steps_by_one,
    width_along,
)
from minitorch_compile.inductor.codegen.cuda.strategies.shared_columns import goes_down_once
from minitorch_compile.inductor.codegen.cuda.strategies.walk import Walk
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import symbol
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter


LINES = 4  # that a thread fetches at a time


@dataclass(frozen=True)
class Columns:
    """A thread has `width` columns, and fetches `lines` of them at a time."""

    order: LoopOrder
    axis: Axis
    width: int
    lines: int
    reason: str
    keeps_in_memory = True
    block = BlockShape(each=True)

    @staticmethod
    def of(group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Set[Buffer]) -> Columns | None:
        """The strategy for a group that goes down its columns once."""
        axis = order.columns
        if axis is None or not goes_down_once(group, later):
            return None
        width = width_along(group, axis, internal)
        if width == 1 or (order.rows and axis.size % width) or axis.size < width:
            return None
        lines = LINES if order.reduced[-1].size % LINES == 0 else 1
        return Columns(order, axis, width, lines, f"{width} neighbouring columns of {axis.variable} a thread")

    def write(self, writer: CudaKernelWriter) -> int:
        groups = Axis(symbol("group", self.axis.size // self.width), self.axis.size // self.width, False)
        lanes = writer.lanes = Lanes(self.axis, self.width, "True", symbol("place", self.lines * self.width))
        axes = (*self.order.rows, groups)
        whole = writer.number_text(count(axes), axes)
        writer.deal_out(axes, "cuda.grid(1)", "cuda.gridsize(1)", "whole")
        writer.block.add(f"first = {self.width} * group")
        writer.block.variables |= lanes.first.symbols
        inner = [member for member in writer.group.members if member.inner]
        for member in inner:
            begin_each(writer, lanes, member)
        *outer, last = self.order.reduced
        for axis in outer:
            header = f"for {axis.variable} in range({writer.number_text(axis.size, axis)}):"
            writer.enter(header, axis.variable.symbols)
        writer.enter(f"for line in range(0, {writer.number_text(last.size, last)}, {self.lines}):")
        self.fetch(writer, lanes, last)
        self.enter_lines(writer, last)
        self.enter_columns(writer, lanes)
        writer.run(inner)
        writer.leave()
        lanes.flush(writer)
        for _ in (*outer, "lines", "steps"):
            writer.leave()
        self.enter_columns(writer)
        for member in inner:
            writer.finish(member)
        writer.run([member for member in writer.group.members if not member.inner])
        writer.leave()
        lanes.flush(writer)
        writer.root.add(f"whole = {whole} if {lanes.alignment()} else 0")
        writer.leave()
        writer.lanes = None
        rest = Walk(self.order, False, "")
        writer.deal_out((*self.order.rows, self.axis), f"{self.width} * whole + cuda.grid(1)", "cuda.gridsize(1)")
        for stage in range(max(writer.stages) + 1):
            rest.stage(writer, *writer.members_of(stage))
        return -(-count((*self.order.rows, self.axis)) // self.width)

    def fetch(self, writer: CudaKernelWriter, lanes: Lanes, last: Axis) -> None:
        """Lines that fetch a thread's vectors of some lines."""
        self.enter_lines(writer, last)
        for access in inner_accesses(writer.group):
            what = access.buffer, access.address
            goes_down = steps_by_one(access.address, self.axis) and access.address.depends_on(last.variable)
            if goes_down and access.buffer not in writer.group.outputs and what not in lanes.held:
                lanes.held[what] = lanes.array(writer, access.buffer, self.lines * self.width, "row")
                lanes.fetch(writer, writer.block, lanes.held[what], f"{self.width} * step", *what)
        writer.leave()

    def enter_lines(self, writer: CudaKernelWriter, last: Axis) -> None:
        writer.enter(f"for step in range({self.lines}):", last.variable.symbols)
        writer.block.add(f"{last.variable} = line + step")

    def enter_columns(self, writer: CudaKernelWriter, lanes: Lanes | None = None) -> None:
        """A loop over a thread's columns; with `lanes`, of a line."""
        place = lanes.place.symbols if lanes else frozenset()
        writer.enter(f"for k in range({self.width}):", K.symbols | self.axis.variable.symbols | place)
        at = f", {self.width} * step + k" if lanes else ""
        writer.block.add(f"{self.axis.variable}{', place' if lanes else ''} = first + k{at}")
