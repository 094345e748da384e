"""Columns shared out: few columns side by side are a block's, which goes down many of their lines at once.

A thread has its column and every so-manieth line of it; what the threads of a column found meets in shared memory.

    side = 4          lane 0 1 2 3
    line 0  threads   0  1  2  3        each takes lines 0, 2, 4, ... of its column
    line 1  threads   4  5  6  7        each takes lines 1, 3, 5, ...

How many columns a block has is a number that it is told, so that one kernel serves all sizes.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.walk import SHUFFLED, declare_shared
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

MOST_SIDE, LEAST_SIDE = 32, 8  # columns of a block: a warp's worth of banks, and a sector of memory
AT_ONCE = 4  # lines that a thread reads before it adds the first of them
ENOUGH_BLOCKS = 128  # for all multiprocessors of a large GPU
LANE = symbol("lane", MOST_SIDE)


@dataclass(frozen=True)
class SharedColumns:
    """A block has up to `MOST_SIDE` neighbouring columns along `axis`."""

    order: LoopOrder
    axis: Axis
    reason: str
    keeps_in_memory = True
    block = BlockShape(2, each=True)

    @staticmethod
    def of(group: Group, order: LoopOrder, later: Set[Buffer]) -> SharedColumns | None:
        """The strategy for a group that goes down its columns once."""
        if order.columns is None or not goes_down_once(group, later):
            return None
        reason = f"a block goes down {MOST_SIDE} columns of {order.columns.variable}, whose lines its threads share out"
        return SharedColumns(order, order.columns, reason)

    def write(self, writer: CudaKernelWriter) -> int:
        order, column, size = self.order, self.axis.variable, self.axis.size
        side = side_of(size, count(order.rows), MOST_SIDE, LEAST_SIDE)
        strips = Axis(symbol("strip", -(-size // side)), -(-size // side), False)
        writer.leader = "inside and line == 0"
        writer.root.add(f"side = {writer.number_text(side, 'side')}")
        writer.root.add("line, lane = indices.split(cuda.threadIdx.x, side)")
        declare_shared(writer)
        writer.deal_out((*order.rows, strips), "cuda.blockIdx.x", "cuda.gridDim.x")
        writer.block.add(f"{column} = side * {strips.variable} + lane")
        writer.block.add(f"inside = {column} < {writer.number_text(size, self.axis)}")
        writer.block.add(f"{column} = {column} if inside else 0")
        writer.block.variables |= column.symbols | LANE.symbols
        inner = [member for member in writer.group.members if member.inner]
        read_ahead(writer)
        for member in inner:
            writer.begin(member)
        go_down(writer, order.reduced)
        writer.run(inner)
        leave_lines(writer)
        for member in inner:
            writer.finish(member, combined_by_columns(member))
        writer.run([member for member in writer.group.members if not member.inner])
        return count((*order.rows, strips))


def read_ahead(writer: CudaKernelWriter) -> None:
    """Reads what belongs to a column before the way down, at whose end it is needed: where a thread has few lines, it
    waits for memory once, and not twice."""
    group = writer.group
    for member in group.members:
        for access in () if member.inner else member.reads:
            if group.writer(access.buffer) is None and not access.masked and not access.address.is_indirect:
                writer.load(access.buffer, access.address)


def go_down(writer: CudaKernelWriter, axes: Axes) -> None:
    """Opens the loops over the lines of a thread, several at a time: one that waits for memory after each would mostly
    wait. `leave_lines` closes the loops."""
    lines = writer.number_text(count(axes), axes)
    writer.root.add("step = THREADS // side")
    writer.enter(f"for start in range(line, {lines} if inside else 0, {AT_ONCE} * step):")
    enter_lines(writer, axes, lines)
    writer.within = "is_line"


def enter_lines(writer: CudaKernelWriter, axes: Axes, lines: str = "") -> None:
    """The loop over what is taken at a time. Beyond the last of so many lines, a thread reads another once more."""
    symbols = frozenset().union(*(axis.variable.symbols for axis in axes))
    writer.enter(f"for ahead in range({AT_ONCE}):", symbols)
    place = str(axes[0].variable) if len(axes) == 1 else "place"
    writer.block.add(f"{place} = start + ahead * step")
    if lines:
        writer.block.add(f"is_line = {place} < {lines}")
        writer.block.add(f"{place} = {place} if is_line else start")
    writer.find(axes, place)


def leave_lines(writer: CudaKernelWriter) -> None:
    """The end of these loops."""
    writer.within = ""
    writer.leave()
    writer.leave()


def side_of(size: int, rows: int, most: int, least: int) -> int:
    """How many of so many columns a block has, a power of two: fewer, so long as there are too few blocks for a GPU.

    >>> side_of(64, 256, 32, 8), side_of(64, 1, 32, 8), side_of(3, 1, 32, 8)
    (32, 8, 4)
    """
    side = 1 << (min(max(size, 1), most) - 1).bit_length()
    while side > least and rows * -(-size // side) < ENOUGH_BLOCKS:
        side //= 2
    return side


def goes_down_once(group: Group, later: Set[Buffer]) -> bool:
    """Whether all that is done at every point is reductions, none of which reads what another one found."""
    inner = [member for member in group.members if member.inner]
    is_one_pass = all(stage == 0 for member, stage in zip(group.members, group.stages()) if member.inner)
    if later or not is_one_pass or not all(member.loop.is_reduction for member in inner):
        return False
    of_column = {member.loop.buffer for member in group.members if not member.inner}
    # What belongs to a column is computed at the end of the way down.
    return not any(access.buffer in of_column for member in inner for access in member.reads)


def combined_by_columns(member: Member) -> str:
    """The call that combines the `total` of each thread of a column."""
    element = member.loop.buffer.dtype.name
    threads = "warp_columns" if element in SHUFFLED else "column"
    return f"reductions.{threads}_{member.loop.kind}({{total}}, shared_{element}, side)"
