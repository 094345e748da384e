"""What a runtime asks of a driver. The same statements hold for the stand-in on the host, and for a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from minitorch_compile.cuda_runtime.cuda_bindings_driver import CudaBindingsDriver
from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError, CudaOutOfMemoryError, CudaUnavailableError
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.host_allocator import CachingHostAllocator
from minitorch_compile.cuda_runtime.sanitized_driver import sanitized
from minitorch_compile.cuda_runtime.sanitizer import CUDASanitizerErrors
from tests.cuda_runtime.allocator_operations import RandomOperations

DRIVERS = [
    pytest.param(FakeDriver, id="fake"),
    pytest.param(lambda: FakeDriver(order="latest"), id="fake, as late as possible"),
    pytest.param(CudaBindingsDriver, id="GPU", marks=pytest.mark.gpu),
]
NBYTES = 4096


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> Driver:
    try:
        return request.param()
    except CudaUnavailableError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def stream(driver: Driver) -> Iterator[StreamHandle]:
    made = driver.create_stream(0)
    yield made
    driver.destroy_stream(made)


@pytest.fixture
def address(driver: Driver) -> Iterator[int]:
    block = driver.allocate(0, NBYTES)
    yield block
    driver.free(0, block)


def test_a_recording_is_done_at_each_launch_and_not_before(driver: Driver, stream: StreamHandle, address: int) -> None:
    driver.set_memory(address, 1, NBYTES, stream)
    driver.begin_capture(stream)
    assert driver.is_capturing(stream)
    driver.set_memory(address, 7, 16, stream)
    driver.copy_device_to_device(address + 16, address, 16, stream)
    with pytest.raises(CudaError, match="operation not permitted when stream is capturing"):
        driver.copy_host_to_device(address, np.zeros(4, np.uint8).ctypes.data, 4, stream)
    graph = 0
    try:
        graph = driver.end_capture(stream)
    except CudaError as error:
        assert error.name == "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"  # of the stand-in, which is stricter
        driver.begin_capture(stream, "relaxed")
        driver.set_memory(address, 7, 16, stream)
        driver.copy_device_to_device(address + 16, address, 16, stream)
        graph = driver.end_capture(stream)
    assert not driver.is_capturing(stream) and bytes_on_device(driver, address, stream).max() == 1
    executable = driver.instantiate_graph(graph)
    driver.destroy_graph(graph)
    put = driver.prepared_graph(0, executable)
    for _ in range(2):
        driver.set_memory(address, 1, NBYTES, stream)
        put(stream.handle)
        found = bytes_on_device(driver, address, stream)
        assert (found[:32] == 7).all() and (found[32:] == 1).all()
    driver.destroy_executable(executable)
    with pytest.raises(CudaError):
        driver.begin_capture(StreamHandle(0))


def bytes_on_device(driver: Driver, address: int, stream: StreamHandle, nbytes: int = NBYTES) -> np.ndarray:
    host = np.zeros(nbytes, np.uint8)
    driver.copy_device_to_host(host.ctypes.data, address, nbytes, stream)
    driver.synchronize_stream(stream)
    return host


def host_array(address: int, nbytes: int = NBYTES) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))


class TestDriver:
    def test_a_device_says_what_it_is(self, driver: Driver) -> None:
        assert driver.device_count() >= 1
        properties = driver.properties(0)
        assert properties.name and properties.major >= 5 and properties.warp_size == 32
        assert properties.shared_memory_per_block_optin >= properties.shared_memory_per_block >= 48 << 10
        free, total = driver.memory_info(0)
        assert 0 < free <= total == properties.total_memory

    def test_no_such_device_is_an_error_with_the_name_of_the_driver(self, driver: Driver) -> None:
        with pytest.raises(CudaError) as error:
            driver.properties(1000)
        assert error.value.name == "CUDA_ERROR_INVALID_DEVICE"

    def test_what_is_copied_there_comes_back(self, driver: Driver, stream: StreamHandle, address: int) -> None:
        sent = np.arange(NBYTES, dtype=np.uint8)
        driver.copy_host_to_device(address, sent.ctypes.data, NBYTES, stream)
        assert (bytes_on_device(driver, address, stream) == sent).all()

    def test_a_copy_from_ordinary_memory_has_read_it_when_it_returns(
        self, driver: Driver, stream: StreamHandle, address: int
    ) -> None:
        sent = np.full(NBYTES, 7, np.uint8)
        driver.copy_host_to_device(address, sent.ctypes.data, NBYTES, stream)
        sent[:] = 9
        assert (bytes_on_device(driver, address, stream) == 7).all()

    def test_copies_within_the_device_begin_anywhere(self, driver: Driver, stream: StreamHandle, address: int) -> None:
        driver.set_memory(address, 1, NBYTES, stream)
        driver.set_memory(address + 10, 5, 3, stream)
        driver.copy_device_to_device(address + 100, address + 9, 5, stream)
        found = bytes_on_device(driver, address, stream)
        assert found[9:15].tolist() == [1, 5, 5, 5, 1, 1]
        assert found[99:106].tolist() == [1, 1, 5, 5, 5, 1, 1]

    def test_a_copy_to_the_same_device_as_its_peer(self, driver: Driver, stream: StreamHandle, address: int) -> None:
        driver.set_memory(address, 3, 8, stream)
        driver.copy_peer(address + 8, address, 8, (0, 0), stream)
        assert (bytes_on_device(driver, address, stream, 16) == 3).all()

    def test_pinned_memory_is_there_after_a_wait(self, driver: Driver, stream: StreamHandle, address: int) -> None:
        pinned = host_array(driver.allocate_host(NBYTES))
        driver.set_memory(address, 6, NBYTES, stream)
        driver.copy_device_to_host(pinned.ctypes.data, address, NBYTES, stream)
        driver.synchronize_stream(stream)
        assert (pinned == 6).all()
        driver.free_host(pinned.ctypes.data)

    def test_a_stream_that_waits_for_an_event_sees_what_was_written_before_it(
        self, driver: Driver, stream: StreamHandle, address: int
    ) -> None:
        done = driver.create_event(0)
        other = driver.create_stream(0, driver.stream_priorities(0)[1])
        driver.set_memory(address, 8, NBYTES, other)
        driver.record_event(done, other)
        driver.wait_event(stream, done)
        assert (bytes_on_device(driver, address, stream) == 8).all()
        driver.destroy_event(done)
        driver.destroy_stream(other)

    def test_queries_answer_yes_in_the_end(self, driver: Driver, stream: StreamHandle, address: int) -> None:
        event = driver.create_event(0)
        assert driver.event_is_done(event)  # never recorded
        driver.set_memory(address, 8, NBYTES, stream)
        driver.record_event(event, stream)
        while not (driver.stream_is_done(stream) and driver.event_is_done(event)):
            pass
        assert driver.stream_is_done(stream)
        driver.destroy_event(event)

    def test_events_with_timing_tell_the_time_between_them(
        self, driver: Driver, stream: StreamHandle, address: int
    ) -> None:
        start, end = (driver.create_event(0, timing=True) for _ in range(2))
        driver.record_event(start, stream)
        driver.set_memory(address, 8, NBYTES, stream)
        driver.record_event(end, stream)
        driver.synchronize_event(end)
        assert driver.elapsed_time(start, end) > 0

    def test_events_without_timing_refuse(self, driver: Driver, stream: StreamHandle) -> None:
        events = [driver.create_event(0) for _ in range(2)]
        for event in events:
            driver.record_event(event, stream)
        driver.synchronize_device(0)
        with pytest.raises(CudaError) as error:
            driver.elapsed_time(*events)
        assert error.value.name == "CUDA_ERROR_INVALID_HANDLE"

    def test_out_of_memory_is_an_error_of_its_own_and_leaves_the_device_usable(
        self, driver: Driver, stream: StreamHandle, address: int
    ) -> None:
        with pytest.raises(CudaOutOfMemoryError) as error:
            driver.allocate(0, driver.memory_info(0)[1] + 1)
        assert error.value.name == "CUDA_ERROR_OUT_OF_MEMORY"
        driver.set_memory(address, 8, NBYTES, stream)
        assert (bytes_on_device(driver, address, stream) == 8).all()

    def test_memory_comes_back(self, driver: Driver) -> None:
        before, _ = driver.memory_info(0)
        block = driver.allocate(0, 64 << 20)
        assert driver.memory_info(0)[0] <= before - (64 << 20)
        driver.free(0, block)
        assert driver.memory_info(0)[0] == before

    def test_the_default_stream_is_one_like_any_other(self, driver: Driver, address: int) -> None:
        driver.set_memory(address, 4, NBYTES, StreamHandle(0))
        assert (bytes_on_device(driver, address, StreamHandle(0)) == 4).all()

    def test_random_operations_of_the_allocator_never_overlap_and_return_all(self, driver: Driver) -> None:
        before, _ = driver.memory_info(0)
        operations = RandomOperations(driver, seed=0)
        operations.run(300)
        most = operations.allocator.memory_stats()["reserved_bytes.all.peak"]
        kept = before - driver.memory_info(0)[0]
        assert kept <= 4 << 20 < most / 20  # a GPU's driver takes a little for streams and events

    def test_pinned_memory_from_the_cache_comes_back_with_what_was_sent(
        self, driver: Driver, stream: StreamHandle, address: int
    ) -> None:
        allocator = CachingHostAllocator(driver)
        there, back = (allocator.allocate(NBYTES) for _ in range(2))
        host_array(there)[:] = 5
        driver.copy_host_to_device(address, there, NBYTES, stream)
        driver.copy_device_to_host(back, address, NBYTES, stream)
        for block in (there, back):
            allocator.record_stream(block, stream)
        driver.synchronize_stream(stream)
        assert (host_array(back) == 5).all()
        allocator.free(there)
        assert allocator.allocate(NBYTES - 1) == there
        allocator.free(there)
        allocator.free(back)
        allocator.empty_cache()

    def test_the_sanitizer_follows_its_streams(self, driver: Driver, stream: StreamHandle, address: int) -> None:
        watched, _ = sanitized(driver)
        other, event = watched.create_stream(0), watched.create_event(0)
        watched.set_memory(address, 1, NBYTES, stream)
        watched.record_event(event, stream)
        with pytest.raises(CUDASanitizerErrors, match="detected 1 errors"):
            watched.set_memory(address, 3, 64, other)
        watched.wait_event(stream, event)
        watched.synchronize_stream(other)
        watched.set_memory(address, 2, NBYTES, stream)
        watched.synchronize_device(0)
        watched.destroy_event(event)
        watched.destroy_stream(other)
