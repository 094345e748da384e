"""Columns: reductions of rows that lie side by side. A thread goes down several neighbouring columns at once, 16 bytes
of each line in one access, and carries a result for each.

What is left over, less than a vector, or all if an array begins at an odd place, is a thread's column by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import K, Lanes, begin_each, width_along
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


@dataclass(frozen=True)
class Columns:
    """A thread has `width` columns."""

    order: LoopOrder
    axis: Axis
    width: int
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
        return Columns(order, axis, width, f"{width} neighbouring columns of {axis.variable} a thread")

    def write(self, writer: CudaKernelWriter) -> int:
        groups = Axis(symbol("group", self.axis.size // self.width), self.axis.size // self.width, False)
        lanes = writer.lanes = Lanes(self.axis, self.width, "True")
        axes = (*self.order.rows, groups)
        whole = writer.number_text(count(axes), axes)
        writer.deal_out(axes, "cuda.grid(1)", "cuda.gridsize(1)", "whole")
        writer.block.add(f"first = {self.width} * group")
        writer.block.variables |= lanes.first.symbols
        inner = [member for member in writer.group.members if member.inner]
        for member in inner:
            begin_each(writer, lanes, member)
        for axis in self.order.reduced:
            header = f"for {axis.variable} in range({writer.number_text(axis.size, axis)}):"
            writer.enter(header, axis.variable.symbols)
        self.enter_columns(writer)
        writer.run(inner)
        writer.leave()
        lanes.flush(writer)
        for _ in self.order.reduced:
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

    def enter_columns(self, writer: CudaKernelWriter) -> None:
        writer.enter(f"for k in range({self.width}):", K.symbols | self.axis.variable.symbols)
        writer.block.add(f"{self.axis.variable} = first + k")
