"""Pinned memory of the host, kept for the next use: to pin pages takes the driver a millisecond.

The rules are those of PyTorch's CachingHostAllocator: blocks have sizes of powers of two and are never split. A block
that copies still read or write when it is freed is kept back until a mark in each of their streams has been passed.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> allocator = CachingHostAllocator(FakeDriver())
>>> first = allocator.allocate(1000)
>>> allocator.free(first)
>>> allocator.allocate(600) == first, allocator.allocate(600) == first
(True, False)
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass, field

from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.turn import Turn


@dataclass(eq=False)
class HostBlock:
    """Pinned memory; `used_by`: streams whose copies use it."""

    address: int
    size: int
    used_by: set[StreamHandle] = field(default_factory=set)


class CachingHostAllocator:
    """The pinned memory of a process. All threads and devices share it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._turn = Turn()
        self._allocated: dict[int, HostBlock] = {}
        self._starts: list[int] = []  # their addresses in order
        self._free: dict[int, list[HostBlock]] = {}  # by size
        self._kept_back: deque[tuple[list[int], HostBlock]] = deque()  # with the events that must be passed
        self._freed_inside: deque[int] = deque()  # by finalizers that ran while somebody had the turn

    def allocate(self, nbytes: int) -> int:
        """The address of so many bytes; 0 for none. CudaOutOfMemoryError if the host has no more pages to pin."""
        if nbytes <= 0:
            if nbytes < 0:
                raise ValueError(f"allocate: expected a number of bytes, got {nbytes}")
            return 0
        with self._turn:
            self._tidy()
            size = 1 << (nbytes - 1).bit_length()
            blocks = self._free.get(size)
            block = blocks.pop() if blocks else HostBlock(self.driver.allocate_host(size), size)
            self._allocated[block.address] = block
            insort(self._starts, block.address)
            return block.address

    def free(self, address: int) -> None:
        """Gives a block back. RuntimeError if none was handed out at this address, or it was freed before."""
        if self._turn.is_mine():
            self._freed_inside.append(address)
        elif address:
            with self._turn:
                self._free_block(address)

    def record_stream(self, address: int, stream: StreamHandle) -> bool:
        """A copy on this stream, put there already, uses the block that has this address in it: when it is freed, that
        is waited for. False if there is no such block: then nobody will wait."""
        with self._turn:
            block = self._block_around(address)
            if block is not None:
                block.used_by.add(stream)
            return block is not None

    def is_pinned(self, address: int) -> bool:
        """Whether a block was handed out that has this address in it."""
        with self._turn:
            return self._block_around(address) is not None

    def empty_cache(self) -> None:
        """Gives all that nobody uses back to the system."""
        with self._turn:
            self._tidy()
            for block in [block for blocks in self._free.values() for block in blocks]:
                self.driver.free_host(block.address)
            self._free.clear()

    def _block_around(self, address: int) -> HostBlock | None:
        place = bisect_right(self._starts, address)
        block = self._allocated[self._starts[place - 1]] if place else None
        return block if block is not None and address < block.address + block.size else None

    def _free_block(self, address: int) -> None:
        block = self._allocated.pop(address, None)
        if block is None:
            raise RuntimeError(f"free: no pinned block is allocated at {address:#x}; was it freed before?")
        del self._starts[bisect_right(self._starts, address) - 1]
        events = [self._mark(stream) for stream in sorted(block.used_by)]
        block.used_by.clear()
        self._kept_back.append((events, block))
        self._tidy()

    def _mark(self, stream: StreamHandle) -> int:
        event = self.driver.create_event(stream.device)
        self.driver.record_event(event, stream)
        return event

    def _tidy(self) -> None:
        """Frees what was put off, and takes into the cache what streams are done with."""
        while self._freed_inside:
            self._free_block(self._freed_inside.popleft())
        for _ in range(len(self._kept_back)):
            events, block = self._kept_back.popleft()
            if all(map(self.driver.event_is_done, events)):
                for event in events:
                    self.driver.destroy_event(event)
                self._free.setdefault(block.size, []).append(block)
            else:
                self._kept_back.append((events, block))
