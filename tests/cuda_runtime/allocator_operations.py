"""Random operations on the caching allocator over four streams, beside a plain record of who owns which bytes.

    python -m tests.cuda_runtime.allocator_operations --count 1000000          against the fake driver, addresses only
    python -m tests.cuda_runtime.allocator_operations --count 100000 --gpu     against a GPU

After each allocation: the block overlaps no live one, and no freed one that a stream may still use. In the end all is
freed: nothing is allocated, and the driver has all its memory back.
"""

from __future__ import annotations

import argparse
import random
import time
from bisect import bisect_left, insort

from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.cuda_bindings_driver import CudaBindingsDriver
from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.errors import OutOfMemoryError
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver

STREAMS = 4
MOST_LIVE = 2000  # blocks


class Owners:
    """Which bytes belong to somebody: intervals that must not overlap."""

    def __init__(self) -> None:
        self.intervals: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> None:
        place = bisect_left(self.intervals, (start, end))
        for first, last in self.intervals[max(place - 1, 0) : place + 1]:
            assert end <= first or last <= start, f"{start:#x} to {end:#x} overlaps {first:#x} to {last:#x}"
        insort(self.intervals, (start, end))

    def remove(self, start: int, end: int) -> None:
        place = bisect_left(self.intervals, (start, end))
        assert self.intervals[place] == (start, end)
        del self.intervals[place]


class RandomOperations:
    """A program without sense: it allocates, frees, uses blocks on several streams, and waits now and then."""

    def __init__(self, driver: Driver, seed: int) -> None:
        self.driver, self.choice = driver, random.Random(seed)
        self.allocator = CachingAllocator(driver, device=0)
        self.streams = [StreamHandle(0), *(driver.create_stream(0) for _ in range(STREAMS - 1))]
        self.owners = Owners()
        # Address, bytes, its stream and others that use it.
        self.live: list[tuple[int, int, StreamHandle, list[StreamHandle]]] = []
        # What was freed while other streams used it: its bytes, and marks behind those uses.
        self.in_use: list[tuple[int, int, list[int]]] = []
        self.out_of_memory = 0

    def run(self, count: int) -> None:
        for _ in range(count):
            self.step()
        self.free_all()

    def step(self) -> None:
        chance = self.choice.random()
        if chance < 0.46:
            self.allocate()
        elif chance < 0.9:
            self.free()
        elif chance < 0.98:
            self.use_elsewhere()
        elif chance < 0.9999:
            self.driver.synchronize_stream(self.choice.choice(self.streams))
        else:
            self.allocator.empty_cache()

    def size(self) -> int:
        """Mostly small, now and then large; powers of two are as likely as other numbers."""
        largest = 1 << self.choice.choice((9, 12, 16, 20, 21, 24, 25))
        return largest if self.choice.random() < 0.2 else self.choice.randint(1, largest)

    def allocate(self) -> None:
        if len(self.live) >= MOST_LIVE:
            self.free()
        nbytes, stream = self.size(), self.choice.choice(self.streams)
        try:
            address = self.allocator.allocate(nbytes, stream)
        except OutOfMemoryError:
            self.out_of_memory += 1
            for _ in range(len(self.live) // 2):
                self.free()
            return
        self.in_use = [entry for entry in self.in_use if not self.is_done(entry)]
        for start, end, _ in self.in_use:
            assert address + nbytes <= start or end <= address, "handed out while another stream may use it"
        self.owners.add(address, address + nbytes)
        self.live.append((address, nbytes, stream, []))

    def is_done(self, entry: tuple[int, int, list[int]]) -> bool:
        if not all(map(self.driver.event_is_done, entry[2])):
            return False
        for event in entry[2]:
            self.driver.destroy_event(event)
        return True

    def free(self) -> None:
        if not self.live:
            return
        place = self.choice.randrange(len(self.live))
        self.live[place], self.live[-1] = self.live[-1], self.live[place]
        address, nbytes, _, streams = self.live.pop()
        self.owners.remove(address, address + nbytes)
        events = [self.driver.create_event(0) for _ in streams]
        for event, stream in zip(events, streams):
            self.driver.record_event(event, stream)
        if streams:
            self.in_use.append((address, address + nbytes, events))
        self.allocator.free(address)

    def use_elsewhere(self) -> None:
        if self.live:
            address, _, own, streams = self.choice.choice(self.live)
            stream = self.choice.choice(self.streams)
            self.allocator.record_stream(address, stream)
            if stream != own:
                streams.append(stream)

    def free_all(self) -> None:
        while self.live:
            self.free()
        self.driver.synchronize_device(0)
        self.allocator.empty_cache()
        figures = self.allocator.memory_stats()
        left = {name: figure for name, figure in figures.items() if name.endswith("current") and figure}
        assert not left, f"not returned: {left}"
        assert figures["allocated_bytes.all.allocated"] == figures["allocated_bytes.all.freed"] > 0
        assert self.allocator.snapshot() == [] and self.owners.intervals == []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    driver = CudaBindingsDriver() if given.gpu else FakeDriver(memory=8 << 30, order="latest", backed=False)
    free_before, _ = driver.memory_info(0)
    operations = RandomOperations(driver, given.seed)
    start = time.perf_counter()
    operations.run(given.count)
    seconds = time.perf_counter() - start
    assert given.gpu or driver.memory_info(0)[0] == free_before, "the driver didn't get all of its memory back"
    figures = operations.allocator.memory_stats()
    print(f"{given.count:,} operations over {STREAMS} streams: no overlap, all returned; {seconds:.1f} s")
    for name in ("allocation.all.allocated", "segment.all.allocated", "reserved_bytes.all.peak", "num_alloc_retries"):
        print(f"  {name}: {figures[name]:,}")
    print(f"  out of memory, and went on: {operations.out_of_memory}")


if __name__ == "__main__":
    main()
