"""The caching allocator: memory that was freed waits for the next tensor, since asking the driver stops the device.

The rules are those of PyTorch's c10/cuda/CUDACachingAllocator.cpp, so that a program needs as much memory as there:

- Requests are rounded up to 512 bytes. Up to 1 MiB they come from segments of 2 MiB; above that from segments of
  20 MiB, or from 10 MiB on from segments of their own, rounded up to 2 MiB.
- The smallest free block that is large enough is taken, and split if the rest is worth it. A freed block joins its
  neighbours.
- A block belongs to the stream for which it was allocated. What is freed can be handed out again at once, on the same
  stream: whatever writes there runs behind what used it before. For a use on another stream, `record_stream` is called;
  then the block is kept back until a mark in that stream has been passed.
- If the driver has nothing left, all unused segments go back to it, and it is asked once more.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> allocator, stream = CachingAllocator(FakeDriver(), device=0), StreamHandle(0)
>>> first = allocator.allocate(1000, stream)
>>> allocator.free(first)
>>> allocator.allocate(900, stream) == first
True
>>> figures = allocator.memory_stats()
>>> figures["allocated_bytes.all.current"], figures["reserved_bytes.all.current"]
(1024, 2097152)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from minitorch_compile.cuda_runtime.blocks import NOBODY, Block, Pool
from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaOutOfMemoryError, OutOfMemoryError
from minitorch_compile.cuda_runtime.out_of_memory import out_of_memory
from minitorch_compile.cuda_runtime.snapshot import snapshot_of
from minitorch_compile.cuda_runtime.statistics import (
    GIVEN_BACK,
    GIVEN_BACK_AND_RECLAIMED,
    HANDED_OUT,
    RECLAIMED,
    AllocatorStatistics,
)
from minitorch_compile.cuda_runtime.trace import Action, Observer, TraceEntry
from minitorch_compile.cuda_runtime.turn import Turn
from minitorch_compile.environment_variables import NO_CUDA_MEMORY_CACHING

ROUNDING = 512
SMALL, SMALL_SEGMENT = 1 << 20, 2 << 20
OWN_SEGMENT, LARGE_SEGMENT, LARGE_ROUNDING = 10 << 20, 20 << 20, 2 << 20


class CachingAllocator:
    """The memory of one device. All threads share it."""

    def __init__(self, driver: Driver, device: int) -> None:
        self.driver, self.device = driver, device
        self.caching = not NO_CUDA_MEMORY_CACHING.value()
        self.statistics = AllocatorStatistics()
        self.observers: list[Observer] = []  # each is told what is done
        self._limit: int | None = None  # bytes that may be reserved
        self._turn = Turn()
        self._small, self._large = small_pool(), large_pool()
        self._private: dict[Hashable, PrivatePool] = {}
        self._dropped: deque[Hashable] = deque()  # a pool for each recording that is no more
        self._retired: list[PrivatePool] = []  # those of which no recording is left
        self._held: list[int] = []  # what was freed while there was a recording, and other streams use
        self._recording: tuple[StreamHandle, PrivatePool] | None = None  # whose work gets its memory from where
        self.is_recording = False  # whether a recording is under way
        self._allocated: dict[int, Block] = {}
        self._freed_later: deque[int] = deque()  # without the turn, since somebody has it or it is quicker
        # Gives a block back before anything else is handed out; to the driver at once, where nothing is cached.
        self.free_later: Callable[[int], None] = self._freed_later.append if self.caching else self._free_soon
        self._kept_back: dict[StreamHandle, deque[tuple[int, Block]]] = {}  # (event, block) in the order of the stream
        self._spare_events: dict[int, list[int]] = {}  # by device

    # ------------------------------------------------------------------------------------------ what programs call

    def allocate(self, nbytes: int, stream: StreamHandle) -> int:
        """The address of so many bytes, for work on this stream; 0 for none. OutOfMemoryError if there are not."""
        if nbytes <= 0:
            if nbytes < 0:
                raise ValueError(f"allocate: expected a number of bytes, got {nbytes}")
            return 0
        turn = self._turn
        if turn.is_mine():
            turn.refuse()
        with turn.lock:
            recording = self._recording
            if self._kept_back and recording is None:
                self._tidy()
            freed, hands_on = self._freed_later, self.caching and not self.observers and recording is None
            while freed:
                address = freed.popleft()
                block = self._allocated.get(address) if hands_on else None
                if (
                    block
                    and block.requested == nbytes
                    and block.stream == stream
                    and not (block.used_by or block.pool.is_private)
                ):
                    # The last result made room for the next, as in most loops: it is the same block.
                    self.statistics.handed_on(block.pool.name, block.size, nbytes)
                    return address
                self._free(address)
            size = (nbytes + ROUNDING - 1) // ROUNDING * ROUNDING
            own = self if recording is None or recording[0] != stream else recording[1]
            pool = own._small if size <= SMALL else own._large
            block = pool.take(stream, size) or self._new_segment(pool, size, stream)
            self._hand_out(block, size, nbytes)
            return block.address

    def free(self, address: int) -> None:
        """Gives a block back. RuntimeError if none was handed out at this address, or it was freed before."""
        turn = self._turn
        if turn.is_mine():
            self.free_later(address)
        elif address:
            with turn.lock:
                self._free(address)

    def _free_soon(self, address: int) -> None:
        """Gives a block back at once, unless somebody has the turn: a finalizer can't wait."""
        self._freed_later.append(address)
        turn = self._turn
        if not turn.is_mine() and turn.lock.acquire(blocking=False):
            try:
                self._tidy()
            finally:
                turn.lock.release()

    def record_stream(self, address: int, stream: StreamHandle) -> None:
        """Work on this stream, put there already, uses the block: when it is freed, that is waited for."""
        if address:
            with self._turn:
                block = self._block_at(address, "record_stream")
                if stream != block.stream:
                    block.used_by |= {stream}

    def empty_cache(self) -> None:
        """Gives all segments that nothing lies in back to the driver."""
        with self._turn:
            self._tidy()
            self._release_cached()

    def set_memory_fraction(self, fraction: float) -> None:
        """The part of the device's memory that this process may have; more is out of memory."""
        if not isinstance(fraction, float):
            raise TypeError(f"set_per_process_memory_fraction: fraction must be a float, got {type(fraction).__name__}")
        if not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        _, total = self.driver.memory_info(self.device)
        self._limit = int(fraction * total)

    def memory_stats(self) -> dict[str, int]:
        """The figures of torch.cuda.memory_stats."""
        with self._turn:
            self._tidy()
            return self.statistics.figures()

    def reset_peak_stats(self) -> None:
        with self._turn:
            self.statistics.reset_peaks()

    def reset_accumulated_stats(self) -> None:
        with self._turn:
            self.statistics.reset_accumulated()

    def snapshot(self) -> list[dict[str, Any]]:
        """Every segment with its blocks, as torch.cuda.memory_snapshot has them."""
        with self._turn:
            self._tidy()
            kept_back = [block for queue in self._kept_back.values() for _, block in queue]
            free = [block for pool in self._pools() for block in pool.blocks()]
            return snapshot_of([*self._allocated.values(), *kept_back, *free])

    # ------------------------------------------------------------------------------------------ recordings

    def begin_recording(self, stream: StreamHandle, pool: Hashable) -> None:
        """What is allocated for this stream from now on comes from a pool of its own, which recordings may share: its
        memory is theirs until the last of them is dropped. RuntimeError if another recording is under way."""
        with self._turn:
            if self._recording is not None:
                raise RuntimeError("CUDAGraph: another capture is under way on this device; end it first")
            self._tidy()
            private = self._private.setdefault(pool, PrivatePool())
            private.recordings += 1
            self._recording, self.is_recording = (stream, private), True

    def end_recording(self) -> None:
        with self._turn:
            self._recording, self.is_recording = None, False
            held, self._held = self._held, []
            for address in held:
                block = self._allocated[address]
                if block.pool.is_private:  # launches of recordings that share a pool follow each other
                    block.used_by = NOBODY
                self._free(address)
            self._tidy()

    def drop_recording(self, pool: Hashable) -> None:
        """One recording less uses a pool. When none does, what lies in it goes back when the cache is emptied. Safe in
        a finalizer."""
        self._dropped.append(pool)

    def _retire(self, pool: Hashable) -> None:
        private = self._private[pool]
        private.recordings -= 1
        if not private.recordings:
            del self._private[pool]
            self._retired.append(private)

    def _pools(self) -> Iterator[Pool]:
        yield from (self._large, self._small)
        for owner in (*self._retired, *self._private.values()):
            yield from (owner._large, owner._small)

    # ------------------------------------------------------------------------------------------ handing out

    def _hand_out(self, block: Block, size: int, nbytes: int) -> None:
        """Makes a block that is in no pool the program's, and puts what it doesn't need back into the pool."""
        pool, was_part = block.pool, block.preceding is not None or block.following is not None
        pieces = inactive = 0  # how many inactive parts of segments there are more, and bytes in them
        if block.size - size >= pool.least_rest:
            rest = block.split(size)
            pool.put(rest)
            pieces, inactive = (0, -size) if was_part else (1, rest.size)
        elif was_part:
            pieces, inactive = -1, -block.size
        block.is_allocated, block.requested = True, nbytes
        self._allocated[block.address] = block
        self.statistics.note(HANDED_OUT, pool.name, block.size, nbytes, pieces, inactive)
        if self.observers:
            self._tell("alloc", block)

    def _new_segment(self, pool: Pool, size: int, stream: StreamHandle) -> Block:
        """A block with so many bytes where no free one has them. Called by who has the turn, and so are all below."""
        nbytes = segment_size(size) if self.caching else size
        block = self._ask_driver(pool, nbytes, stream)
        if block is None and self._recording is None:  # which nobody may wait for
            self.statistics.counters["num_alloc_retries"] += 1
            self._wait_for_kept_back()
            self._release_cached()
            # What was kept back may have become a block that is large enough, in a segment that is in use.
            block = pool.take(stream, size) or self._ask_driver(pool, nbytes, stream)
        if block is None:
            raise self._out_of_memory(nbytes, stream)
        return block

    def _ask_driver(self, pool: Pool, nbytes: int, stream: StreamHandle) -> Block | None:
        """A new segment as one block; None if there is no room for it."""
        if self._limit is not None and self.statistics.all.segment.nbytes + nbytes > self._limit:
            return None
        try:
            address = self.driver.allocate(self.device, nbytes)
        except CudaOutOfMemoryError:
            return None
        block = Block(address, nbytes, stream, pool)
        self.statistics.counters["num_device_alloc"] += 1
        self.statistics.pools[pool.name].segment.change(1, nbytes)
        self._tell("segment_alloc", block)
        return block

    def _out_of_memory(self, nbytes: int, stream: StreamHandle) -> OutOfMemoryError:
        self.statistics.counters["num_ooms"] += 1
        for observer in self.observers:
            observer(TraceEntry("oom", 0, nbytes, stream))
        self.statistics.settle()
        allocated, reserved = self.statistics.all.allocated.nbytes, self.statistics.all.segment.nbytes
        there = self.driver.memory_info(self.device)
        return out_of_memory(self.device, nbytes, there, self._limit, allocated, reserved - allocated)

    # ------------------------------------------------------------------------------------------ taking back

    def _block_at(self, address: int, call: str) -> Block:
        block = self._allocated.get(address)
        if block is None:
            place = f"{address:#x} on GPU {self.device}"
            raise RuntimeError(f"{call}: no block is allocated at {place}; was it freed before?")
        return block

    def _free(self, address: int) -> None:
        block = self._allocated.pop(address, None) or self._block_at(address, "free")
        if block.used_by and self._recording is not None:  # a mark in a stream that records is never passed
            self._allocated[address] = block
            self._held.append(address)
            return
        block.is_allocated = False
        if self.observers:
            self._tell("free_requested", block)
        if block.used_by:
            self.statistics.note(GIVEN_BACK, block.pool.name, block.size, block.requested, 0, 0)
            self._keep_back(block)
        else:
            self._reclaim(block, GIVEN_BACK_AND_RECLAIMED)

    def _keep_back(self, block: Block) -> None:
        """Marks in the streams that use a block where they are done with it."""
        for stream in sorted(block.used_by):
            spare = self._spare_events.get(stream.device)
            event = spare.pop() if spare else self.driver.create_event(stream.device)
            self.driver.record_event(event, stream)
            block.events_open += 1
            self._kept_back.setdefault(stream, deque()).append((event, block))
        block.used_by = NOBODY

    def _tidy(self) -> None:
        """Frees what was put off, and reclaims what streams are done with."""
        while self._freed_later:
            self._free(self._freed_later.popleft())
        while self._dropped:
            self._retire(self._dropped.popleft())
        if self._recording is not None:  # while there is one, no mark may be asked for
            return
        for stream, queue in list(self._kept_back.items()):
            while queue and self.driver.event_is_done(queue[0][0]):
                self._pass_by(stream, *queue.popleft())
            if not queue:
                del self._kept_back[stream]

    def _wait_for_kept_back(self) -> None:
        self.statistics.counters["num_sync_all_streams"] += 1
        for stream, queue in list(self._kept_back.items()):
            while queue:
                self.driver.synchronize_event(queue[0][0])
                self._pass_by(stream, *queue.popleft())
            del self._kept_back[stream]

    def _pass_by(self, stream: StreamHandle, event: int, block: Block) -> None:
        self._spare_events.setdefault(stream.device, []).append(event)
        block.events_open -= 1
        if not block.events_open:
            self._reclaim(block, RECLAIMED)

    def _reclaim(self, block: Block, what: int) -> None:
        """Nobody uses the block any more: it joins its neighbours and can be handed out again."""
        pool, size, requested = block.pool, block.size, block.requested
        if self.observers:
            self._tell("free_completed", block)
        pieces = nbytes = 0  # what becomes of the inactive parts of the segment, counted as one change
        before, behind = block.preceding, block.following
        if before is not None and before.is_free:
            pool.remove(before)
            pieces, nbytes = -1, -before.size
            before.join(block)
            block = before
        if behind is not None and behind.is_free:
            pool.remove(behind)
            pieces, nbytes = pieces - 1, nbytes - behind.size
            block.join(behind)
        if block.is_part:
            pieces, nbytes = pieces + 1, nbytes + block.size
        self.statistics.note(what, pool.name, size, requested, pieces, nbytes)
        if self.caching or pool.is_private:
            pool.put(block)
        else:
            self._release(block)

    # ------------------------------------------------------------------------------------------ giving back

    def _release_cached(self) -> None:
        """The segments that are one free block go back to the driver, and events that nobody needs."""
        if self._recording is not None:
            return
        for pool in (self._large, self._small, *(pool for old in self._retired for pool in (old._large, old._small))):
            for block in [block for block in pool.blocks() if not block.is_part]:
                pool.remove(block)
                self._release(block)
        for event in [event for events in self._spare_events.values() for event in events]:
            self.driver.destroy_event(event)
        self._spare_events.clear()

    def _release(self, block: Block) -> None:
        self.driver.free(self.device, block.address)
        self.statistics.counters["num_device_free"] += 1
        self.statistics.pools[block.pool.name].segment.change(-1, -block.size)
        self._tell("segment_free", block)

    def _tell(self, action: Action, block: Block) -> None:
        for observer in self.observers:
            observer(TraceEntry(action, block.address, block.size, block.stream))


def small_pool(is_private: bool = False) -> Pool:
    return Pool("small_pool", ROUNDING, is_private)


def large_pool(is_private: bool = False) -> Pool:
    return Pool("large_pool", SMALL + 1, is_private)


class PrivatePool:
    """The memory of recordings, of which so many are alive."""

    def __init__(self) -> None:
        self._small, self._large = small_pool(is_private=True), large_pool(is_private=True)
        self.recordings = 0


def segment_size(size: int) -> int:
    """How many bytes the driver is asked for, for a block of `size`.

    >>> [segment_size(size) >> 20 for size in (512, 1 << 20, 3 << 20, 11 << 20)]
    [2, 2, 20, 12]
    """
    if size <= SMALL:
        return SMALL_SEGMENT
    if size < OWN_SEGMENT:
        return LARGE_SEGMENT
    return -(-size // LARGE_ROUNDING) * LARGE_ROUNDING
