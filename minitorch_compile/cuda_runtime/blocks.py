"""Blocks of device memory: how they are split, joined, and found again.

The driver gives a segment, which is one block. To hand out a part of it, the block is split. The parts know their
neighbours, so that a freed one joins those beside it which are free, and at last the segment is one block again.

>>> pool, stream = Pool("small_pool", PoolTallies(), least_rest=512), StreamHandle(0)
>>> segment = Block(0x1000, 2048, stream, pool)
>>> rest = segment.split(512)
>>> segment, rest
(Block(0x1000, 512 bytes), Block(0x1200, 1536 bytes))
>>> pool.put(rest)
>>> pool.take(stream, 1024) is rest
True
>>> segment.join(rest)
>>> segment
Block(0x1000, 2048 bytes)
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.statistics import PoolName, PoolTallies


class Block:
    """A part of a segment, in use or free. `requested` is what the program asked for, before it was rounded."""

    __slots__ = (
        *("address", "size", "stream", "pool", "requested"),
        *("preceding", "following", "is_allocated", "used_by", "events_open"),
    )

    def __init__(self, address: int, size: int, stream: StreamHandle, pool: Pool) -> None:
        self.address, self.size, self.stream, self.pool = address, size, stream, pool
        self.requested = 0
        self.preceding: Block | None = None
        self.following: Block | None = None
        self.is_allocated = False
        self.used_by: set[StreamHandle] = set()  # streams other than its own, until it is freed
        self.events_open = 0  # the marks in those streams that haven't been passed, once it is

    def __repr__(self) -> str:
        return f"Block({self.address:#x}, {self.size} bytes)"

    @property
    def is_part(self) -> bool:
        """Whether its segment has other blocks, so that it can't go back to the driver."""
        return self.preceding is not None or self.following is not None

    @property
    def is_free(self) -> bool:
        return not self.is_allocated and not self.events_open

    def split(self, size: int) -> Block:
        """Keeps the first `size` bytes; the rest as a block of its own."""
        rest = Block(self.address + size, self.size - size, self.stream, self.pool)
        rest.preceding, following = self, self.following
        if following is not None:
            rest.following, following.preceding = following, rest
        self.size, self.following = size, rest
        return rest

    def join(self, rest: Block) -> None:
        """Takes in the block behind it."""
        self.size += rest.size
        self.following = rest.following
        if self.following is not None:
            self.following.preceding = self


class Pool:
    """The free blocks for requests of one kind. Each stream has its own, sorted by size and address."""

    def __init__(self, name: PoolName, tallies: PoolTallies, least_rest: int) -> None:
        self.name, self.tallies = name, tallies
        self.least_rest = least_rest  # bytes; a block with so many more than are asked for is split
        self._free: dict[StreamHandle, list[tuple[int, int, Block]]] = {}

    def put(self, block: Block) -> None:
        blocks = self._free.get(block.stream)
        if blocks is None:
            blocks = self._free[block.stream] = []
        insort(blocks, (block.size, block.address, block))

    def take(self, stream: StreamHandle, size: int) -> Block | None:
        """The smallest block with so many bytes, at the lowest address; None if there is none."""
        blocks = self._free.get(stream)
        if not blocks:
            return None
        place = bisect_left(blocks, (size,))
        return blocks.pop(place)[2] if place < len(blocks) else None

    def remove(self, block: Block) -> None:
        blocks = self._free[block.stream]
        del blocks[bisect_left(blocks, (block.size, block.address))]

    def blocks(self) -> Iterator[Block]:
        for blocks in self._free.values():
            yield from (block for _, _, block in blocks)
