"""Transposes through shared memory: where one array lies along one axis and another along a second, a block takes a
square of 32 by 32 positions. It reads that of each array along the array's own axis, and computes along the other.

              read: thread = place along `other`          computed: thread = place along `fast`
    line 0    tile[0, 0] tile[1, 0] tile[2, 0] ...         tile[0, 0] tile[0, 1] tile[0, 2] ...
    line 1    tile[0, 1] tile[1, 1] tile[2, 1] ...         tile[1, 0] tile[1, 1] tile[1, 2] ...

A row of a tile has 33 places, so that neither way meets a bank of shared memory twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import inner_accesses, steps_by_one
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

SIDE = 32
SHARED_BYTES = 48 << 10  # that a block has
TILE_LINE, TILE_PLACE = symbol("line", SIDE), symbol("lane", SIDE)


@dataclass(frozen=True)
class Squares:
    """`other` is the axis that what is in `tiles` lies along, `fast` the one of everything else."""

    outer: Axes
    other: Axis
    fast: Axis
    tiles: tuple[tuple[Buffer, Index], ...]
    reason: str
    keeps_in_memory = True
    block = BlockShape(together=2)

    @staticmethod
    def of(group: Group, order: LoopOrder, internal: Iterable[Buffer]) -> Squares | None:
        """The strategy for a group, if some of what it reads lies along another axis than the rest."""
        if order.square is None:
            return None
        other, fast = order.square
        read = [access for access in inner_accesses(group) if access.buffer not in group.outputs]
        tiles = tuple(dict.fromkeys((b, address) for b, address, _ in read if is_across(address, other, fast)))
        nbytes = sum(SIDE * (SIDE + 1) * buffer.dtype.itemsize for buffer, _ in tiles)
        if not 0 < nbytes <= SHARED_BYTES:
            return None
        outer = tuple(axis for axis in order.rows if axis not in order.square)
        return Squares(outer, other, fast, tiles, f"squares of {other.variable} by {fast.variable} in shared memory")

    def write(self, writer: CudaKernelWriter) -> int:
        root, other, fast = writer.root, self.other.variable, self.fast.variable
        root.add("lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32")
        names = [f"tile{number}" for number in range(len(self.tiles))]
        for name, (buffer, _) in zip(names, self.tiles):
            root.add(f"{name} = cuda.shared.array(({SIDE}, {SIDE + 1}), {writer.memory_name(buffer.dtype)})")
        axes = (*self.outer, *(self.squares_along(axis) for axis in (self.other, self.fast)))
        writer.deal_out(axes, "cuda.blockIdx.x", "cuda.gridDim.x")
        writer.block.add(f"first_{other}, first_{fast} = {SIDE} * square_of_{other}, {SIDE} * square_of_{fast}")
        self.enter_lines(writer, self.fast, self.other)
        for name, (buffer, address) in zip(names, self.tiles):
            writer.block.add(f"{name}[lane, line] = {writer.pointers[buffer]}[{writer.text_of(address)}]")
        self.leave_lines(writer)
        writer.block.add("cuda.syncthreads()")
        self.enter_lines(writer, self.other, self.fast)
        writer.tiles = dict(zip(self.tiles, names))
        writer.run(writer.group.members)
        self.leave_lines(writer)
        writer.block.add("cuda.syncthreads()  # nobody fills the tiles again before everyone has read them")
        return count(axes)

    def squares_along(self, axis: Axis) -> Axis:
        """The axis that counts squares along one."""
        number = -(-axis.size // SIDE)
        return Axis(symbol(f"square_of_{axis.variable}", number), number, False)

    def enter_lines(self, writer: CudaKernelWriter, slow: Axis, quick: Axis) -> None:
        """A loop over the square's lines, of which a warp's threads take one together."""
        writer.enter("for step in range(1024 // THREADS):", TILE_LINE.symbols)
        writer.block.add("line = THREADS // 32 * step + warp")
        lines, places = (f"first_{axis.variable} + {name}" for axis, name in ((slow, "line"), (quick, "lane")))
        writer.block.add(f"{slow.variable}, {quick.variable} = {lines}, {places}")
        sizes = [writer.number_text(axis.size, axis) for axis in (slow, quick)]
        header = f"if {slow.variable} < {sizes[0]} and {quick.variable} < {sizes[1]}:"
        writer.enter(header, slow.variable.symbols | quick.variable.symbols)

    def leave_lines(self, writer: CudaKernelWriter) -> None:
        writer.leave()
        writer.leave()


def is_across(address: Index, other: Axis, fast: Axis) -> bool:
    """Whether an access goes by single steps along one axis, and jumps along another."""
    return steps_by_one(address, other) and address.depends_on(fast.variable) and not steps_by_one(address, fast)
