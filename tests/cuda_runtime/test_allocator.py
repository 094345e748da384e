"""The caching allocator against a driver that checks it. Sizes of segments and blocks are PyTorch's rules."""

from __future__ import annotations

import gc
import json
import random
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError, CudaOutOfMemoryError, OutOfMemoryError
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.memory_summary import memory_summary
from minitorch_compile.cuda_runtime.trace import TraceEntry
from tests.cuda_runtime.allocation_sequence import SEQUENCES, STREAMS, play
from tests.cuda_runtime.allocator_operations import Owners, RandomOperations

KIB, MIB = 1 << 10, 1 << 20
MAIN = StreamHandle(0)


def late_driver(memory: int = 1 << 30) -> FakeDriver:
    return FakeDriver(memory=memory, order="latest", backed=False)


def allocator_of(memory: int = 1 << 30) -> CachingAllocator:
    return CachingAllocator(late_driver(memory), device=0)


def reserved(allocator: CachingAllocator) -> int:
    return allocator.memory_stats()["reserved_bytes.all.current"]


# ------------------------------------------------------------------------------------------ sizes


@pytest.mark.parametrize(
    ("nbytes", "taken", "segment"),
    [
        (1, 512, 2 * MIB),
        (512, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB - 1, 10 * MIB, 10 * MIB),
        (10 * MIB - 1024, 10 * MIB - 1024, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (11 * MIB, 12 * MIB, 12 * MIB),  # the rest of 1 MiB is not worth a block
        (21 * MIB + 1, 22 * MIB, 22 * MIB),
    ],
)
def test_requests_are_rounded_and_segments_have_their_sizes(nbytes: int, taken: int, segment: int) -> None:
    allocator = allocator_of()
    allocator.allocate(nbytes, MAIN)
    figures = allocator.memory_stats()
    assert figures["allocated_bytes.all.current"] == taken
    assert figures["requested_bytes.all.current"] == nbytes
    assert figures["reserved_bytes.all.current"] == segment


def test_nothing_is_at_address_0() -> None:
    allocator = allocator_of()
    assert allocator.allocate(0, MAIN) == 0
    allocator.record_stream(0, MAIN)
    allocator.free(0)
    assert reserved(allocator) == 0
    with pytest.raises(ValueError, match="got -1"):
        allocator.allocate(-1, MAIN)


def test_the_smallest_block_that_fits_is_taken() -> None:
    allocator = allocator_of()
    blocks = {size: allocator.allocate(size * KIB, MAIN) for size in (16, 1, 4, 2, 8, 32)}
    keepers = [allocator.allocate(512, MAIN)]
    for size in (16, 4, 8):  # each between two that stay
        allocator.free(blocks[size])
    assert allocator.allocate(3 * KIB, MAIN) == blocks[4]
    assert allocator.allocate(5 * KIB, MAIN) == blocks[8]
    assert keepers


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)])
def test_freed_neighbours_become_one_block(order: tuple[int, ...]) -> None:
    allocator = allocator_of()
    blocks = [allocator.allocate(size, MAIN) for size in (512 * KIB, MIB, 512 * KIB)]
    for number in order:
        allocator.free(blocks[number])
    (segment,) = allocator.snapshot()
    assert [block["size"] for block in segment["blocks"]] == [2 * MIB]
    assert allocator.allocate(MIB, MAIN) == blocks[0]


def test_small_and_large_requests_never_share_a_segment() -> None:
    allocator = allocator_of()
    allocator.free(allocator.allocate(8 * MIB, MAIN))
    allocator.allocate(1024, MAIN)
    assert sorted(segment["segment_type"] for segment in allocator.snapshot()) == ["large", "small"]


# ------------------------------------------------------------------------------------------ streams


def test_a_freed_block_is_handed_out_again_at_once_on_its_stream_and_on_no_other() -> None:
    allocator = allocator_of()
    other = allocator.driver.create_stream(0)
    address = allocator.allocate(1024, MAIN)
    allocator.free(address)
    assert allocator.allocate(1024, other) != address
    assert allocator.allocate(1024, MAIN) == address


def test_a_block_that_a_finalizer_left_is_handed_on_and_counted_as_if_it_had_been_freed() -> None:
    freed, left = allocator_of(), allocator_of()
    for allocator, free in ((freed, freed.free), (left, left.free_later)):
        others = [allocator.allocate(nbytes, StreamHandle(0)) for nbytes in (512, 700)]
        for nbytes in (700, 700, 512, 512):
            free(others.pop())
            others.append(allocator.allocate(nbytes, StreamHandle(0)))
        assert len({*others}) == 2
    expected = {k: v for k, v in freed.memory_stats().items() if "inactive" not in k}  # it was never free in between
    assert {k: v for k, v in left.memory_stats().items() if "inactive" not in k} == expected
    first = left.allocate(300, StreamHandle(0))
    left.free_later(first)
    other = left.driver.create_stream(0)
    assert left.allocate(300, other) != first  # which may still be in use on its own


def test_a_block_that_another_stream_uses_is_kept_back_until_it_is_done() -> None:
    driver = late_driver()
    allocator, other = CachingAllocator(driver, 0), driver.create_stream(0)
    address = allocator.allocate(1024, MAIN)
    driver.launch(lambda: None, other)
    allocator.record_stream(address, other)
    allocator.free(address)
    figures = allocator.memory_stats()
    assert (figures["allocation.all.current"], figures["active.all.current"]) == (0, 1)
    assert allocator.allocate(1024, MAIN) != address
    driver.synchronize_stream(other)
    assert allocator.allocate(1024, MAIN) == address
    assert allocator.memory_stats()["active.all.current"] == 2


def test_a_block_that_two_streams_use_waits_for_both() -> None:
    driver = late_driver()
    allocator = CachingAllocator(driver, 0)
    others = [driver.create_stream(0) for _ in range(2)]
    address = allocator.allocate(1024, MAIN)
    for other in (*others, *others, MAIN):
        driver.launch(lambda: None, other)
        allocator.record_stream(address, other)
    allocator.free(address)
    for other in others:
        assert allocator.snapshot()[0]["blocks"][0]["state"] == "active_awaiting_free"
        driver.synchronize_stream(other)
    assert allocator.snapshot()[0]["blocks"][0]["state"] == "inactive"


def test_a_stream_of_another_device_may_use_a_block() -> None:
    driver = FakeDriver(devices=2, order="latest", backed=False)
    allocator, other = CachingAllocator(driver, 0), driver.create_stream(1)
    for _ in range(2):  # the second time with the marks of the first
        address = allocator.allocate(1024, MAIN)
        driver.launch(lambda: None, other)
        allocator.record_stream(address, other)
        allocator.free(address)
        assert allocator.memory_stats()["active.all.current"] == 1
        driver.synchronize_device(1)
        assert allocator.memory_stats()["active.all.current"] == 0
    with pytest.raises(CudaError, match="no device 2"):
        CachingAllocator(driver, 2).allocate(1, StreamHandle(2))


def test_the_marks_are_used_again() -> None:
    driver = late_driver()
    allocator, other = CachingAllocator(driver, 0), driver.create_stream(0)
    made: list[int] = []
    create = driver.create_event
    driver.create_event = lambda *given: made.append(create(*given)) or made[-1]  # type: ignore[method-assign, func-returns-value]
    for _ in range(5):
        address = allocator.allocate(1024, MAIN)
        allocator.record_stream(address, other)
        allocator.free(address)
        driver.synchronize_stream(other)
    assert len(made) == 1


# ------------------------------------------------------------------------------------------ mistakes


def test_a_block_is_freed_once() -> None:
    allocator = allocator_of()
    address = allocator.allocate(1024, MAIN)
    allocator.free(address)
    for wrong in (address, address + 512, 4711):
        with pytest.raises(RuntimeError, match=f"no block is allocated at {wrong:#x} on GPU 0"):
            allocator.free(wrong)
        with pytest.raises(RuntimeError, match="record_stream: no block"):
            allocator.record_stream(wrong, MAIN)
    assert allocator.allocate(1024, MAIN) == address


def test_a_finalizer_that_runs_inside_the_allocator_may_free() -> None:
    driver = late_driver()
    allocator = CachingAllocator(driver, 0)
    first = allocator.allocate(1024, MAIN)
    driver_allocate = driver.allocate

    def allocate(device: int, nbytes: int) -> int:
        allocator.free(first)  # as the collector would, in the middle of the next allocation
        with pytest.raises(RuntimeError, match="by a finalizer"):
            allocator.allocate(1024, MAIN)
        return driver_allocate(device, nbytes)

    driver.allocate = allocate  # type: ignore[method-assign]
    second = allocator.allocate(4 * MIB, MAIN)
    assert allocator.memory_stats()["allocation.all.current"] == 1
    allocator.free(second)
    assert allocator.allocate(1024, MAIN) == first


def test_cycles_that_own_blocks_free_them_whenever_the_collector_comes() -> None:
    allocator = allocator_of()

    class Owner:
        def __init__(self) -> None:
            self.address, self.itself = allocator.allocate(1024, MAIN), self

        def __del__(self) -> None:
            allocator.free(self.address)

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(300):
            Owner()
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert allocator.memory_stats()["allocation.all.current"] == 0


# ------------------------------------------------------------------------------------------ out of memory


def test_unused_segments_are_given_back_before_memory_is_out() -> None:
    allocator = allocator_of(memory=64 * MIB)
    for nbytes in (40 * MIB, 50 * MIB, 60 * MIB):
        allocator.free(allocator.allocate(nbytes, MAIN))
    figures = allocator.memory_stats()
    assert (figures["num_alloc_retries"], figures["num_ooms"]) == (2, 0)
    assert (figures["num_device_alloc"], figures["num_device_free"]) == (3, 2)
    assert reserved(allocator) == 60 * MIB


def test_what_streams_use_is_waited_for_before_memory_is_out() -> None:
    driver = late_driver(64 * MIB)
    allocator, other = CachingAllocator(driver, 0), driver.create_stream(0)
    address = allocator.allocate(40 * MIB, MAIN)
    driver.launch(lambda: None, other)
    allocator.record_stream(address, other)
    allocator.free(address)
    allocator.allocate(50 * MIB, MAIN)
    assert allocator.memory_stats()["num_sync_all_streams"] == 1


def test_a_part_that_was_kept_back_is_taken_before_memory_is_out() -> None:
    driver = late_driver(20 * MIB)
    allocator, other = CachingAllocator(driver, 0), driver.create_stream(0)
    first, second = (allocator.allocate(8 * MIB, MAIN) for _ in range(2))
    driver.launch(lambda: None, other)
    allocator.record_stream(first, other)
    allocator.free(first)
    assert allocator.allocate(8 * MIB, MAIN) == first
    allocator.free(second)


def test_out_of_memory_names_the_figures_and_leaves_all_usable() -> None:
    allocator = allocator_of(memory=64 * MIB)
    blocks = [allocator.allocate(20 * MIB, MAIN), allocator.allocate(MIB, MAIN)]
    with pytest.raises(OutOfMemoryError) as error:
        allocator.allocate(100 * MIB, MAIN)
    assert str(error.value).startswith(
        "CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has a total capacity of 64.00 MiB of which 42.00 MiB "
        "is free. Of the allocated memory 21.00 MiB is allocated by PyTorch, and 1024.00 KiB is reserved by PyTorch "
        "but unallocated."
    )
    figures = allocator.memory_stats()
    assert (figures["num_ooms"], figures["num_alloc_retries"], figures["allocation.all.current"]) == (1, 1, 2)
    blocks.append(allocator.allocate(42 * MIB, MAIN))
    for address in blocks:
        allocator.free(address)
    allocator.empty_cache()
    assert allocator.driver.memory_info(0) == (64 * MIB, 64 * MIB)


def test_a_process_can_be_given_a_part_of_the_memory() -> None:
    allocator = allocator_of(memory=100 * MIB)
    allocator.set_memory_fraction(0.5)
    address = allocator.allocate(48 * MIB, MAIN)
    with pytest.raises(OutOfMemoryError, match=re.escape("52.00 MiB is free. 50.00 MiB allowed; Of the allocated")):
        allocator.allocate(4 * MIB, MAIN)
    allocator.free(address)
    assert allocator.allocate(50 * MIB, MAIN)
    allocator.set_memory_fraction(1.0)
    assert allocator.allocate(50 * MIB, MAIN)


@pytest.mark.parametrize(
    ("fraction", "error", "message"),
    [(1, TypeError, "must be a float, got int"), (1.5, ValueError, "Invalid fraction value: 1.5. Allowed range: 0~1")],
)
def test_the_part_is_a_float_from_0_to_1(fraction: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        allocator_of().set_memory_fraction(fraction)


# ------------------------------------------------------------------------------------------ figures


def test_statistics_are_pytorchs() -> None:
    """Counted by hand from PyTorch's rules."""
    allocator = allocator_of()
    small, large = allocator.allocate(1000, MAIN), allocator.allocate(3 * MIB, MAIN)
    allocator.free(allocator.allocate(600, MAIN))
    figures = allocator.memory_stats()
    expected = {
        "allocation.all.current": 2,
        "allocation.all.peak": 3,
        "allocation.all.allocated": 3,
        "allocation.all.freed": 1,
        "allocation.small_pool.current": 1,
        "allocated_bytes.all.current": 1024 + 3 * MIB,
        "allocated_bytes.small_pool.peak": 2048,
        "requested_bytes.all.current": 1000 + 3 * MIB,
        "requested_bytes.small_pool.freed": 600,
        "segment.all.current": 2,
        "reserved_bytes.all.current": 22 * MIB,
        "reserved_bytes.large_pool.current": 20 * MIB,
        "inactive_split.all.current": 2,
        "inactive_split_bytes.small_pool.current": 2 * MIB - 1024,
        "inactive_split_bytes.large_pool.current": 17 * MIB,
    }
    assert {name: figures[name] for name in expected} == expected
    allocator.reset_peak_stats()
    allocator.reset_accumulated_stats()
    figures = allocator.memory_stats()
    assert [figures[f"allocation.all.{metric}"] for metric in ("current", "peak", "allocated", "freed")] == [2, 2, 0, 0]
    for address in (small, large):
        allocator.free(address)
    figures = allocator.memory_stats()
    assert figures["inactive_split.all.current"] == figures["allocated_bytes.all.current"] == 0
    assert reserved(allocator) == 22 * MIB


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_figure_is_the_one_that_pytorch_counts_for_the_same_requests(name: str) -> None:
    """PyTorch 2.11 on an H100; the addresses there are others, the figures are not."""
    recorded = json.loads((Path(__file__).parent / "torch_statistics.json").read_text(encoding="utf-8"))[name]
    allocator = allocator_of(memory=64 << 30)
    streams = [allocator.driver.create_stream(0) for _ in range(STREAMS)]
    play(name, lambda nbytes, stream: allocator.allocate(nbytes, streams[stream]), allocator.free)
    assert len(recorded) == 122
    assert allocator.memory_stats() == recorded


def test_the_summary_is_the_text_that_pytorch_prints_of_these_figures() -> None:
    """PyTorch 2.13, given the recorded figures, for device 1."""
    figures = json.loads((Path(__file__).parent / "torch_statistics.json").read_text(encoding="utf-8"))["large"]
    recorded = (Path(__file__).parent / "torch_memory_summary.txt").read_text(encoding="utf-8")
    assert memory_summary(figures, device=1) == recorded
    without_pools = [line for line in recorded.splitlines(keepends=True) if "pool" not in line]
    assert memory_summary(figures, device=1, abbreviated=True) == "".join(without_pools)


def test_the_snapshot_shows_each_segment_with_its_blocks() -> None:
    allocator = allocator_of()
    other = allocator.driver.create_stream(0)
    addresses = [allocator.allocate(1000, MAIN), allocator.allocate(512, MAIN), allocator.allocate(11 * MIB, other)]
    allocator.free(addresses[0])
    small, large = allocator.snapshot()
    assert (small["address"], small["total_size"], small["allocated_size"]) == (addresses[0], 2 * MIB, 512)
    assert [(block["state"], block["size"]) for block in small["blocks"]] == [
        ("inactive", 1024),
        ("active_allocated", 512),
        ("inactive", 2 * MIB - 1536),
    ]
    assert (large["stream"], large["segment_type"], large["requested_size"]) == (other.handle, "large", 11 * MIB)


def test_observers_are_told_what_is_done() -> None:
    driver = late_driver()
    allocator, other = CachingAllocator(driver, 0), driver.create_stream(0)
    trace: list[TraceEntry] = []
    allocator.observers.append(trace.append)
    address = allocator.allocate(700, MAIN)
    allocator.record_stream(address, other)
    allocator.free(address)
    driver.synchronize_device(0)
    allocator.empty_cache()
    with pytest.raises(OutOfMemoryError):
        allocator.allocate(1 << 40, MAIN)
    assert [(entry.action, entry.size) for entry in trace] == [
        ("segment_alloc", 2 * MIB),
        ("alloc", 1024),
        ("free_requested", 1024),
        ("free_completed", 1024),
        ("segment_free", 2 * MIB),
        ("oom", 1 << 40),
    ]


def test_without_caching_each_block_is_the_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTC_NO_CUDA_MEMORY_CACHING", "1")
    allocator = allocator_of()
    blocks = [allocator.allocate(nbytes, MAIN) for nbytes in (1000, 3 * MIB, 1000)]
    assert reserved(allocator) == 2048 + 3 * MIB
    other = allocator.driver.create_stream(0)
    allocator.record_stream(blocks[0], other)
    for address in blocks:
        allocator.free(address)
    allocator.driver.synchronize_device(0)
    figures = allocator.memory_stats()
    assert {name for name, figure in figures.items() if name.endswith("current") and figure} == set()
    assert allocator.driver.memory_info(0) == (1 << 30, 1 << 30)
    assert allocator.allocate(1000, MAIN) not in blocks


# ------------------------------------------------------------------------------------------ many operations


@pytest.mark.parametrize("memory", [8 << 30, 256 << 20], ids=["much memory", "little memory"])
@pytest.mark.parametrize("seed", range(2))
def test_random_operations_never_overlap_and_return_all(memory: int, seed: int) -> None:
    driver = late_driver(memory)
    operations = RandomOperations(driver, seed)
    operations.run(4_000)
    assert driver.memory_info(0) == (memory, memory)
    assert (operations.out_of_memory > 0) == (memory < 1 << 30)


def test_random_operations_without_caching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTC_NO_CUDA_MEMORY_CACHING", "1")
    driver = late_driver()
    RandomOperations(driver, 0).run(2_000)
    assert driver.memory_info(0) == (1 << 30, 1 << 30)


def test_the_check_sees_an_overlap() -> None:
    owners = Owners()
    owners.add(0, 10)
    owners.add(20, 30)
    owners.add(10, 20)
    for start, end in ((5, 6), (0, 10), (29, 40), (9, 11)):
        with pytest.raises(AssertionError, match="overlaps"):
            owners.add(start, end)


def test_a_training_loop_needs_no_more_memory_after_its_first_step() -> None:
    allocator, choice = allocator_of(), random.Random(0)
    sizes = [choice.randint(1, 4 * MIB) for _ in range(100)]
    after_each_step = []
    for _ in range(5):
        blocks = [allocator.allocate(nbytes, MAIN) for nbytes in sizes]
        for address in reversed(blocks):
            allocator.free(address)
        after_each_step.append(reserved(allocator))
    assert len(set(after_each_step)) == 1


def test_holes_between_blocks_that_stay_are_filled_before_the_driver_is_asked() -> None:
    allocator = allocator_of()
    blocks = [allocator.allocate(2 * KIB, MAIN) for _ in range(1024)]  # one segment, full
    for address in blocks[::2]:
        allocator.free(address)
    assert {allocator.allocate(2 * KIB, MAIN) for _ in range(512)} == set(blocks[::2])
    assert reserved(allocator) == 2 * MIB


def test_threads_share_an_allocator() -> None:
    allocator, owners, lock = allocator_of(), Owners(), threading.Lock()
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        choice = random.Random(seed)
        try:
            for _ in range(200):
                nbytes = choice.randint(1, 1 << choice.choice((10, 16, 22)))
                address = allocator.allocate(nbytes, MAIN)
                with lock:
                    owners.add(address, address + nbytes)
                with lock:
                    owners.remove(address, address + nbytes)
                allocator.free(address)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert allocator.memory_stats()["allocation.all.current"] == 0


def test_a_driver_that_runs_out_leaves_its_own_error_nowhere() -> None:
    with pytest.raises(OutOfMemoryError) as error:
        allocator_of(memory=1024).allocate(1, MAIN)
    assert not isinstance(error.value, CudaOutOfMemoryError)
