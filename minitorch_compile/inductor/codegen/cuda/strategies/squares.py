"""Transposes through shared memory: where one array lies along one axis and another along a second, a block takes a
square of 64 by 64 positions. It reads that of each array along the array's own axis, and computes along the other.

              read: thread = place along `other`          computed: thread = place along `fast`
    line 0    tile[0, 0] tile[1, 0] tile[2, 0] ...         tile[0, 0] tile[0, 1] tile[0, 2] ...
    line 1    tile[0, 1] tile[1, 1] tile[2, 1] ...         tile[1, 0] tile[1, 1] tile[1, 2] ...

A row of a tile is a word longer, so that neither way meets a bank of shared memory often. A thread takes a vector of
16 bytes at a time where arrays let it, and all that it reads is under way before the first of it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.inductor.codegen.cuda.strategies.lanes import (
    WIDEST,
    K,
    Lanes,
    inner_accesses,
    is_whole,
    steps_by_one,
    width_along,
)
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.index import Index, symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

SIDES = (64, 32)
WORD = 4  # bytes of a bank
SHARED_BYTES = 48 << 10  # that a block has
TILE_LINE = symbol("line", SIDES[0])


@dataclass(frozen=True)
class Squares:
    """`other` is the axis that what is in `tiles` lies along, `fast` the one of everything else. `side`: of squares.
    `width`: of the vectors that tiles are read by."""

    outer: Axes
    other: Axis
    fast: Axis
    tiles: tuple[tuple[Buffer, Index], ...]
    side: int
    width: int
    reason: str
    keeps_in_memory = True

    @staticmethod
    def of(group: Group, order: LoopOrder, internal: Iterable[Buffer], threads: int) -> Squares | None:
        """The strategy for a group, if some of what it reads lies along another axis than the rest."""
        if order.square is None:
            return None
        other, fast = order.square
        read = [access for access in inner_accesses(group) if access.buffer not in group.outputs]
        tiles = tuple(dict.fromkeys((b, address) for b, address, _ in read if is_across(address, other, fast)))
        fitting = (side for side in SIDES if side <= threads and 0 < tile_bytes(tiles, side) <= SHARED_BYTES)
        side = next(fitting, 0)
        if not side:
            return None
        outer = tuple(axis for axis in order.rows if axis not in order.square)
        width = width_of(group, tiles, other, fast, internal)
        reason = f"squares of {other.variable} by {fast.variable} in shared memory, {side} wide"
        reason += f", {width} elements at a time" if width > 1 else ""
        return Squares(outer, other, fast, tiles, side, width, reason)

    @property
    def block(self) -> BlockShape:
        """Of threads that read elements one by one fewer, since each has as many addresses."""
        return BlockShape(together=3 if self.width > 1 else 2)

    def write(self, writer: CudaKernelWriter) -> int:
        root, other, fast, side = writer.root, self.other.variable, self.fast.variable, self.side
        root.add("thread = cuda.threadIdx.x")
        names = [f"tile{number}" for number in range(len(self.tiles))]
        for name, (buffer, _) in zip(names, self.tiles):
            kind, length = writer.memory_name(buffer.dtype), side + padding(buffer)
            root.add(f"{name} = cuda.shared.array(({side}, {length}), {kind})")
            root.add(f"own_{name} = cuda.local.array({side * side // writer.threads}, {kind})")
        axes = (*self.outer, *(self.squares_along(axis) for axis in (self.other, self.fast)))
        writer.deal_out(axes, "cuda.blockIdx.x", "cuda.gridDim.x")
        writer.block.add(f"first_{other}, first_{fast} = {side} * square_of_{other}, {side} * square_of_{fast}")
        lanes = writer.lanes = Lanes(self.fast, self.width, "aligned")
        self.fill(writer, lanes, names)
        writer.block.add("cuda.syncthreads()")
        self.enter_places(writer, self.other, self.fast, lanes.first)
        writer.enter(f"for k in range({self.width}):", K.symbols | fast.symbols)
        if self.width > 1:
            writer.block.add(f"{fast}, lane = {lanes.first} + k, at + k")
        else:
            writer.block.add("lane = at")
        writer.tiles = dict(zip(self.tiles, names))
        writer.run(writer.group.members)
        writer.leave()
        lanes.flush(writer)
        writer.leave()
        writer.leave()
        if lanes.pointers:
            root.add(f"aligned = {lanes.alignment()}")
        writer.block.add("cuda.syncthreads()  # nobody fills the tiles again before everyone has read them")
        return count(axes)

    def squares_along(self, axis: Axis) -> Axis:
        """The axis that counts squares along one."""
        number = -(-axis.size // self.side)
        return Axis(symbol(f"square_of_{axis.variable}", number), number, False)

    def fill(self, writer: CudaKernelWriter, lanes: Lanes, names: list[str]) -> None:
        """Loops that read a thread's elements of each tile, and then write them there."""
        width = self.width
        self.enter_places(writer, self.fast, self.other, self.other.variable)
        for name, (buffer, address) in zip(names, self.tiles):
            pointer, start = writer.pointers[buffer], writer.text_of(address)
            if width > 1:
                lanes.pointers[pointer] = None
                line = f"vectors.load_{width}(own_{name}, {width} * step, {pointer}, {start}, aligned)"
            else:
                line = f"own_{name}[step] = {pointer}[{start}]"
            writer.block.add(line)
        writer.leave()
        writer.leave()
        self.enter_places(writer, self.fast, self.other, self.other.variable)
        writer.enter(f"for k in range({width}):", K.symbols)
        for name in names:
            writer.block.add(f"{name}[at + k, line] = own_{name}[{width} * step + k]")
        for _ in range(3):
            writer.leave()

    def enter_places(self, writer: CudaKernelWriter, slow: Axis, quick: Axis, first: Index) -> None:
        """A loop over a thread's vectors in the square, of which neighbours along the quick axis are neighbours'; and
        a condition for those that are in the arrays. `first`: what is to be the place along that axis."""
        each = self.side // self.width
        variables = TILE_LINE.symbols | slow.variable.symbols | first.symbols
        writer.enter(f"for step in range({self.side * each // writer.threads}):", variables)
        places = f"thread % {each}" if self.width == 1 else f"{self.width} * (thread % {each})"
        writer.block.add(f"line, at = THREADS // {each} * step + thread // {each}, {places}")
        writer.block.add(f"{slow.variable}, {first} = first_{slow.variable} + line, first_{quick.variable} + at")
        sizes = [writer.number_text(axis.size, axis) for axis in (slow, quick)]
        inside = f"if {slow.variable} < {sizes[0]} and {first} < {sizes[1]}:"
        writer.enter(inside, slow.variable.symbols | first.symbols)


def width_of(
    group: Group, tiles: Iterable[tuple[Buffer, Index]], other: Axis, fast: Axis, internal: Iterable[Buffer]
) -> int:
    """How many elements a thread takes at once, along either axis; 1 if some of those can't be whole."""
    width = width_along(group, fast, internal)
    itemsize = max(buffer.dtype.itemsize for buffer, _ in tiles)
    fits = width * itemsize <= WIDEST and fast.size % width == 0 and other.size % width == 0
    return width if fits and all(is_whole(address, other, width) for _, address in tiles) else 1


def padding(buffer: Buffer) -> int:
    """Elements by which a row of a tile is longer than the square: a word, or one element."""
    return max(1, WORD // buffer.dtype.itemsize)


def tile_bytes(tiles: Iterable[tuple[Buffer, Index]], side: int) -> int:
    """Shared memory for tiles of that side."""
    return sum(side * (side + padding(buffer)) * buffer.dtype.itemsize for buffer, _ in tiles)


def is_across(address: Index, other: Axis, fast: Axis) -> bool:
    """Whether an access goes by single steps along one axis, and jumps along another."""
    return steps_by_one(address, other) and address.depends_on(fast.variable) and not steps_by_one(address, fast)
