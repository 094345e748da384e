"""Strips: a block goes down a strip of columns; each of its threads takes a vector of them, and every so-manieth line.

    width = 2, side = 2        columns 0 1 2 3
    line 0  threads            0   1              each takes lines 0, 2, 4, ... of its two columns
    line 1  threads            2   3              each takes lines 1, 3, 5, ...

A thread reads several lines before it adds the first of them; only of the last ones it asks whether they are there.
What the threads of a column found meets in shared memory, where one thread a column adds it up, and does what belongs
to that column.

If an array begins at an odd place, each thread goes down a column instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import (
    MOST,
    K,
    Lanes,
    begin_each,
    inner_accesses,
    steps_by_one,
    width_along,
)
from minitorch_compile.inductor.codegen.cuda.strategies.shared_columns import (
    AT_ONCE,
    LEAST_SIDE,
    enter_lines,
    goes_down_once,
    leave_lines,
    side_of,
)
from minitorch_compile.inductor.codegen.cuda.strategies.walk import Walk
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axis, count
from minitorch_compile.inductor.schedule.group import Group, Member
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

HELD = symbol("held", AT_ONCE * MOST)  # where a thread has an element of its lines
MOST_COLUMNS = 128  # of a strip
SHARED_BYTES = 48 << 10  # of shared memory, which a block may have without asking


@dataclass(frozen=True)
class Strips:
    """A thread has vectors of `width` columns along `axis`. `vectors`: what of these it reads in each line."""

    order: LoopOrder
    axis: Axis
    width: int
    vectors: tuple[tuple[Buffer, Index], ...]
    reason: str
    keeps_in_memory = True

    @property
    def block(self) -> BlockShape:
        """Room for all that a thread reads at a time, and for some blocks: the compiler would rather have more of
        these, and fetch one line after the other. Four vectors of three arrays take more than 80 registers."""
        return BlockShape(together=3 if len(self.vectors) <= 2 else 2, each=True)

    @staticmethod
    def of(
        group: Group, order: LoopOrder, internal: Iterable[Buffer], later: Set[Buffer], threads: int
    ) -> Strips | None:
        """The strategy for a group that goes down its columns once, in blocks of so many threads."""
        axis = order.columns
        if axis is None or not goes_down_once(group, later):
            return None
        width = width_along(group, axis, internal)
        wide = sum(m.loop.buffer.dtype.itemsize for m in group.members if m.loop.is_reduction)
        if width == 1 or axis.size % width or wide * (width * threads + MOST_COLUMNS) > SHARED_BYTES:
            return None
        moving = frozenset().union(*(axis.variable.symbols for axis in order.reduced))
        read = dict.fromkeys(a[:2] for a in inner_accesses(group) if not a.address.symbols.isdisjoint(moving))
        vectors = tuple(found for found in read if steps_by_one(found[1], axis))
        return Strips(
            order, axis, width, vectors, f"a block goes down a strip of {axis.variable}, {width} columns a thread"
        )

    def write(self, writer: CudaKernelWriter) -> int:
        order, width = self.order, self.width
        vectors = self.axis.size // width
        most = min(MOST_COLUMNS // width, writer.threads)
        side = side_of(vectors, count(order.rows), most, max(1, LEAST_SIDE // width))
        strips = Axis(symbol("strip", -(-vectors // side)), -(-vectors // side), False)
        axes = (*order.rows, strips)
        whole = writer.number_text(count(axes), axes)
        writer.root.add(f"side = {writer.number_text(side, 'side')}")
        writer.root.add("line, lane = indices.split(cuda.threadIdx.x, side)")
        writer.deal_out(axes, "cuda.blockIdx.x", "cuda.gridDim.x", "whole")
        writer.block.add(f"group = side * {strips.variable} + lane")
        writer.block.add(f"inside = group < {writer.number_text(vectors, 'vectors')}")
        writer.block.add(f"first = {width} * group if inside else 0")
        lanes = writer.lanes = Lanes(self.axis, width, "True", HELD, stays=True)
        writer.block.variables |= lanes.first.symbols
        inner = [member for member in writer.group.members if member.inner]
        self.go_down(writer, lanes, inner)
        self.add_up(writer, inner, strips.variable)
        writer.root.add(f"whole = {whole} if {lanes.alignment()} else 0")
        writer.leave()
        rest = Walk(order, False, "")
        columns = (*order.rows, self.axis)
        writer.deal_out(
            columns,
            f"({writer.number_text(count(columns), columns)} if whole else 0) + cuda.grid(1)",
            "cuda.gridsize(1)",
        )
        for stage in range(max(writer.stages) + 1):
            rest.stage(writer, *writer.members_of(stage))
        return count(axes)

    def go_down(self, writer: CudaKernelWriter, lanes: Lanes, members: list[Member]) -> None:
        """What a thread finds in its lines, of each column of its vector."""
        for member in members:
            begin_each(writer, lanes, member)
        axes = self.order.reduced
        writer.root.add("step = THREADS // side")
        writer.block.add(f"lines = {writer.number_text(count(axes), axes)} if inside else 0")
        writer.block.add(f"whole_lines = lines & -({AT_ONCE} * step)  # the step is a power of two")
        self.take_lines(writer, lanes, members, "range(line, whole_lines, {})")
        self.take_lines(writer, lanes, members, "range(whole_lines + line, lines, {})", "lines")
        writer.lanes = None

    def take_lines(
        self, writer: CudaKernelWriter, lanes: Lanes, members: list[Member], these: str, lines: str = ""
    ) -> None:
        """A thread's share of these lines, several at a time; of the last `lines`, some may not be there. Where all
        are, nothing is asked about an element, and a product and a sum are one instruction."""
        axes, column = self.order.reduced, self.axis.variable
        writer.enter(f"for start in {these.format(f'{AT_ONCE} * step')}:")
        enter_lines(writer, axes, lines)
        for buffer, address in self.vectors:
            if (buffer, address) not in lanes.held:
                lanes.held[buffer, address] = lanes.array(writer, buffer, AT_ONCE * self.width, "lines")
            name = lanes.held[buffer, address]
            lanes.fetch(writer, writer.block, name, f"{self.width} * ahead", buffer, address)
        writer.leave()
        enter_lines(writer, axes, lines)
        writer.within = "is_line" if lines else ""
        writer.enter(f"for k in range({self.width}):", K.symbols | HELD.symbols | column.symbols)
        writer.block.add(f"{column}, {HELD} = (first + k, {self.width} * ahead + k)")
        writer.run(members)
        writer.leave()
        leave_lines(writer)

    def add_up(self, writer: CudaKernelWriter, members: list[Member], strip: Index) -> None:
        """What the threads of each column found together, by one of them, and what follows from it."""
        column = self.axis.variable
        found = {member: f"shared{number}" for number, member in enumerate(members)}
        for member, name in found.items():
            element = writer.memory_name(member.loop.buffer.dtype)
            writer.root.add(f"{name} = cuda.shared.array({self.width * writer.threads + MOST_COLUMNS}, {element})")
        writer.enter(f"for k in range({self.width}):", K.symbols)
        for member, name in found.items():
            writer.block.add(f"{name}[k * (THREADS + side) + cuda.threadIdx.x] = {writer.totals[member.loop.buffer]}")
        writer.leave()
        writer.block.add("cuda.syncthreads()")
        writer.enter(f"for mine in range(cuda.threadIdx.x, {self.width} * side, THREADS):", column.symbols)
        writer.block.add("lane_of_mine, vector = mine // side, mine % side")
        writer.block.add(f"{column} = {self.width} * (side * {strip} + vector) + lane_of_mine")
        writer.enter(f"if {column} < {writer.number_text(self.axis.size, self.axis)}:")
        for member, name in found.items():
            place = "lane_of_mine * (THREADS + side) + vector"  # so neighbours meet different banks
            writer.finish(member, f"reductions.strip_{member.loop.kind}({name}, {place}, side)")
        writer.run([member for member in writer.group.members if not member.inner])
        writer.leave()
        writer.leave()
        writer.block.add("cuda.syncthreads()  # nobody overwrites what others have yet to read")
