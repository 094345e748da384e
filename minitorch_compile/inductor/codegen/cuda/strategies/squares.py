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
from minitorch_compile.inductor.ir.index import Index, Symbol, symbol
from minitorch_compile.inductor.ir.iteration import Axes, Axis, count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import LoopOrder

if TYPE_CHECKING:
    from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter

SIDES = (128, 64, 32)
LONGEST_LINE = 256  # bytes of a square's line: enough for memory, and a square of such lines for a block's threads
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
    block: BlockShape
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
        longest = LONGEST_LINE // min([LONGEST_LINE, *(max(buffer.dtype.itemsize, 2) for buffer, _ in tiles)])
        sides = (side for side in SIDES if side <= min(threads, longest))
        fitting = (side for side in sides if 0 < tile_bytes(tiles, side) <= SHARED_BYTES)
        side = next(fitting, 0)
        if not side:
            return None
        outer = tuple(axis for axis in order.rows if axis not in order.square)
        width = width_of(group, tiles, other, fast, internal)
        reason = f"squares of {other.variable} by {fast.variable} in shared memory, {side} wide"
        reason += f", {width} elements at a time" if width > 1 else ""
        # Of threads that have many elements, or read them one by one, which takes as many addresses, there are fewer.
        block = BlockShape(together=3 if width > 1 and side < SIDES[0] else 2)
        return Squares(outer, other, fast, tiles, side, width, block, reason)

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
        """Loops that read a thread's elements of each tile, and then write them there. Places beyond an array stand
        for its first one: a condition would keep what is read from staying in few registers."""
        width, slow, quick = self.width, self.fast.variable, self.other.variable
        self.enter_steps(writer, frozenset())
        sizes = [writer.number_text(axis.size, axis) for axis in (self.fast, self.other)]
        writer.block.add(f"{slow}, {quick} = first_{slow} + line, first_{quick} + at")
        writer.block.add(f"inside = {slow} < {sizes[0]} and {quick} < {sizes[1]}")
        writer.block.add(f"{slow}, {quick} = {slow} if inside else 0, {quick} if inside else 0")
        writer.block.variables |= slow.symbols | quick.symbols
        for name, (buffer, address) in zip(names, self.tiles):
            pointer, start = writer.pointers[buffer], writer.text_of(address)
            if width > 1:
                lanes.pointers[pointer] = None
                line = f"vectors.load_{width}(own_{name}, {width} * step, {pointer}, {start}, aligned)"
            else:
                line = f"own_{name}[step] = {pointer}[{start}]"
            writer.block.add(line)
        writer.leave()
        self.enter_steps(writer, frozenset())
        writer.enter(f"for k in range({width}):", K.symbols)
        for name in names:
            writer.block.add(f"{name}[at + k, line] = own_{name}[{width} * step + k]")
        for _ in range(2):
            writer.leave()

    def enter_steps(self, writer: CudaKernelWriter, symbols: frozenset[Symbol]) -> None:
        """A loop over a thread's vectors in the square: `line`, and place `at` in it, neighbours' beside each other."""
        each = self.side // self.width
        writer.enter(f"for step in range({self.side * each // writer.threads}):", TILE_LINE.symbols | symbols)
        places = f"thread % {each}" if self.width == 1 else f"{self.width} * (thread % {each})"
        writer.block.add(f"line, at = THREADS // {each} * step + thread // {each}, {places}")

    def enter_places(self, writer: CudaKernelWriter, slow: Axis, quick: Axis, first: Index) -> None:
        """The same loop, and a condition for what is in the arrays. `first`: what is to be the place along an axis."""
        symbols = slow.variable.symbols | first.symbols
        self.enter_steps(writer, symbols)
        writer.block.add(f"{slow.variable}, {first} = first_{slow.variable} + line, first_{quick.variable} + at")
        sizes = [writer.number_text(axis.size, axis) for axis in (slow, quick)]
        writer.enter(f"if {slow.variable} < {sizes[0]} and {first} < {sizes[1]}:", symbols)


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
