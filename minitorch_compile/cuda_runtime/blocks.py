"""Blocks of device memory: how they are split, joined, and found again.

The driver gives a segment, which is one block. To hand out a part of it, the block is split. The parts know their
neighbours, so that a freed one joins those beside it which are free, and at last the segment is one block again.

>>> pool, stream = Pool("small_pool", least_rest=512), StreamHandle(0)
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
from minitorch_compile.cuda_runtime.statistics import PoolName

NOBODY: frozenset[StreamHandle] = frozenset()


class Block:
    """A part of a segment, in use or free. `requested` is what the program asked for, before it was rounded; `shelf` is
    where it waits among others when it is free."""

    __slots__ = (
        *("address", "size", "stream", "pool", "requested", "shelf"),
        *("preceding", "following", "is_allocated", "is_free", "used_by", "events_open"),
    )

    def __init__(self, address: int, size: int, stream: StreamHandle, pool: Pool, shelf: Shelf | None = None) -> None:
        self.address, self.size, self.stream, self.pool = address, size, stream, pool
        self.shelf = pool.shelf(stream) if shelf is None else shelf
        self.requested = 0
        self.preceding: Block | None = None
        self.following: Block | None = None
        self.is_allocated = self.is_free = False  # neither: streams still use it, or somebody is about to decide
        self.used_by = NOBODY  # streams other than its own, until it is freed
        self.events_open = 0  # the marks in those streams that haven't been passed, once it is

    def __repr__(self) -> str:
        return f"Block({self.address:#x}, {self.size} bytes)"

    @property
    def is_part(self) -> bool:
        """Whether its segment has other blocks, so that it can't go back to the driver."""
        return self.preceding is not None or self.following is not None

    def split(self, size: int) -> Block:
        """Keeps the first `size` bytes; the rest as a block of its own."""
        rest = Block(self.address + size, self.size - size, self.stream, self.pool, self.shelf)
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


Shelf = list[tuple[int, int, Block]]  # sizes and addresses of blocks, sorted


class Pool:
    """The free blocks for requests of one kind. Each stream has its own, sorted by size and address."""

    def __init__(self, name: PoolName, least_rest: int, is_private: bool = False) -> None:
        self.name = name
        self.least_rest = least_rest  # bytes; a block with so many more than are asked for is split
        self.is_private = is_private  # of recordings, which use its memory at each launch
        self._free: dict[StreamHandle, Shelf] = {}

    def shelf(self, stream: StreamHandle) -> Shelf:
        return self._free.setdefault(stream, [])

    def put(self, block: Block) -> None:
        block.is_free = True
        insort(block.shelf, (block.size, block.address, block))

    def take(self, stream: StreamHandle, size: int) -> Block | None:
        """The smallest block with so many bytes, at the lowest address; None if there is none."""
        blocks = self._free.get(stream)
        if not blocks:
            return None
        place = bisect_left(blocks, (size,))
        if place == len(blocks):
            return None
        block = blocks.pop(place)[2]
        block.is_free = False
        return block

    def remove(self, block: Block) -> None:
        block.is_free = False
        del block.shelf[bisect_left(block.shelf, (block.size, block.address))]

    def blocks(self) -> Iterator[Block]:
        for shelf in self._free.values():
            yield from (block for _, _, block in shelf)
