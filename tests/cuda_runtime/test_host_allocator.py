"""Pinned memory is used again, but not while a copy uses it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.host_allocator import CachingHostAllocator

MAIN = StreamHandle(0)


def test_sizes_are_powers_of_two_and_a_freed_block_serves_the_next_of_its_size() -> None:
    allocator = CachingHostAllocator(FakeDriver())
    first = allocator.allocate(1025)
    assert allocator.is_pinned(first + 2047) and not allocator.is_pinned(first + 2048)
    allocator.free(first)
    assert not allocator.is_pinned(first)
    assert allocator.allocate(1024) != first
    assert allocator.allocate(2048) == first


def test_a_block_is_kept_back_until_all_copies_have_read_it() -> None:
    driver = FakeDriver(order="latest")
    allocator, device_memory = CachingHostAllocator(driver), driver.allocate(0, 4)
    streams = [MAIN, driver.create_stream(0)]
    address = allocator.allocate(4)
    host = np.ctypeslib.as_array((ctypes.c_uint8 * 4).from_address(address))
    host[:] = 7
    for stream in streams:
        driver.copy_host_to_device(device_memory, address, 4, stream)
        allocator.record_stream(address, stream)
    allocator.free(address)
    for stream in streams:
        assert allocator.allocate(4) != address
        driver.synchronize_stream(stream)
    assert allocator.allocate(4) == address
    assert driver.bytes_at(device_memory, 4).tolist() == [7] * 4


def test_the_cache_can_be_emptied_of_what_nobody_uses() -> None:
    driver = FakeDriver(order="latest")
    allocator = CachingHostAllocator(driver)
    held, freed, copied = (allocator.allocate(512) for _ in range(3))
    driver.launch(lambda: None, MAIN)
    allocator.record_stream(copied, MAIN)
    allocator.free(freed)
    allocator.free(copied)
    allocator.empty_cache()
    assert set(driver._pinned) == {held, copied}
    driver.synchronize_device(0)
    allocator.empty_cache()
    assert set(driver._pinned) == {held}


def test_mistakes_are_named() -> None:
    allocator = CachingHostAllocator(FakeDriver())
    assert allocator.allocate(0) == 0
    allocator.free(0)
    address = allocator.allocate(8)
    allocator.free(address)
    with pytest.raises(RuntimeError, match=f"no pinned block is allocated at {address:#x}"):
        allocator.free(address)
    assert not allocator.record_stream(address, MAIN)
    with pytest.raises(ValueError, match="got -8"):
        allocator.allocate(-8)


def test_a_finalizer_that_runs_inside_the_allocator_may_free() -> None:
    driver = FakeDriver()
    allocator = CachingHostAllocator(driver)
    first = allocator.allocate(64)
    allocate = driver.allocate_host

    def with_finalizer(nbytes: int) -> int:
        allocator.free(first)
        return allocate(nbytes)

    driver.allocate_host = with_finalizer  # type: ignore[method-assign]
    assert allocator.allocate(128) != first
    assert allocator.allocate(64) == first
