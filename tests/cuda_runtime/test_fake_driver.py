"""The stand-in is stricter than a GPU: what there goes wrong now and then goes wrong here each time."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError, CudaOutOfMemoryError
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver

MAIN = StreamHandle(0)


def read(driver: FakeDriver, address: int, stream: StreamHandle = MAIN) -> int:
    host = np.zeros(1, np.uint8)
    driver.copy_device_to_host(host.ctypes.data, address, 1, stream)
    return int(host[0])


def test_an_access_must_lie_in_one_block() -> None:
    driver = FakeDriver()
    first, second = driver.allocate(0, 512), driver.allocate(0, 512)
    assert driver.bytes_at(first, 512).nbytes == 512 and driver.bytes_at(second + 511, 1).nbytes == 1
    for address, nbytes in ((first, 513), (first - 1, 1), (first + 512, 1), (second + 500, 13), (0, 1), (12345, 1)):
        with pytest.raises(CudaError):
            driver.bytes_at(address, nbytes)


def test_a_freed_block_is_gone_and_its_address_never_comes_back() -> None:
    driver = FakeDriver()
    address = driver.allocate(0, 512)
    driver.free(0, address)
    with pytest.raises(CudaError, match="no live block"):
        driver.set_memory(address, 1, 1, MAIN)
    assert driver.allocate(0, 512) != address


@pytest.mark.parametrize("call", ["free", "free_host"])
def test_what_was_freed_cannot_be_freed_again(call: str) -> None:
    driver = FakeDriver()
    address = driver.allocate(0, 512) if call == "free" else driver.allocate_host(512)
    for expected in (None, "CUDA_ERROR_INVALID_VALUE"):
        try:
            driver.free(0, address) if call == "free" else driver.free_host(address)
        except CudaError as error:
            assert error.name == expected
        else:
            assert expected is None


def test_the_memory_of_a_device_is_limited() -> None:
    driver = FakeDriver(memory=1000)
    first = driver.allocate(0, 600)
    with pytest.raises(CudaOutOfMemoryError):
        driver.allocate(0, 401)
    driver.free(0, first)
    assert driver.memory_info(0) == (1000, 1000)
    assert driver.allocate(0, 1000)


def test_without_backing_memory_nothing_can_be_read() -> None:
    driver = FakeDriver(memory=1 << 40, backed=False)
    address = driver.allocate(0, 1 << 39)
    with pytest.raises(CudaError, match="backed=True"):
        driver.set_memory(address, 0, 1, MAIN)


def test_fresh_memory_is_no_number() -> None:
    driver = FakeDriver()
    assert np.isnan(driver.bytes_at(driver.allocate(0, 64), 64).view(np.float32)).all()


def test_late_work_runs_when_it_is_waited_for_and_no_further() -> None:
    driver, ran = FakeDriver(order="latest"), []
    other, event = driver.create_stream(0), driver.create_event(0)
    for name in "ab":
        driver.launch(lambda name=name: ran.append(name), other)  # type: ignore[misc]
    driver.record_event(event, other)
    driver.launch(lambda: ran.append("c"), other)
    driver.launch(lambda: ran.append("d"), MAIN)
    assert ran == []
    driver.advance(other)
    assert ran == ["a"]
    driver.synchronize_event(event)
    assert ran == ["a", "b"]
    driver.synchronize_stream(MAIN)
    assert ran == ["a", "b", "d"]
    driver.synchronize_device(0)
    assert ran == ["a", "b", "d", "c"]


def test_a_wait_is_for_the_mark_as_it_was_then() -> None:
    driver, ran = FakeDriver(order="latest"), []
    other, event = driver.create_stream(0), driver.create_event(0)
    driver.launch(lambda: ran.append("before"), other)
    driver.record_event(event, other)
    driver.wait_event(MAIN, event)
    driver.launch(lambda: ran.append("behind"), other)
    driver.record_event(event, other)
    driver.destroy_event(event)
    driver.synchronize_stream(MAIN)
    assert ran == ["before"]


def test_two_streams_can_wait_for_each_other_in_turns() -> None:
    driver, ran = FakeDriver(order="latest"), []
    streams = [driver.create_stream(0) for _ in range(2)]
    for number in range(6):
        here, there = streams[number % 2], streams[1 - number % 2]
        driver.launch(lambda number=number: ran.append(number), here)  # type: ignore[misc]
        event = driver.create_event(0)
        driver.record_event(event, here)
        driver.wait_event(there, event)
    driver.synchronize_stream(streams[0])
    assert ran == [0, 1, 2, 3, 4, 5]


def test_pinned_memory_is_read_and_written_late() -> None:
    driver = FakeDriver(order="latest")
    address, pinned = driver.allocate(0, 8), driver.allocate_host(8)
    host = np.frombuffer((ctypes.c_uint8 * 8).from_address(pinned), np.uint8)
    host[:] = 1
    driver.copy_host_to_device(address, pinned, 8, MAIN)
    host[:] = 2  # too early
    assert read(driver, address) == 2
    driver.set_memory(address, 3, 8, MAIN)
    driver.copy_device_to_host(pinned, address, 8, MAIN)
    assert host.tolist() == [2] * 8
    driver.synchronize_device(0)
    assert host.tolist() == [3] * 8


def test_a_device_has_its_own_memory_and_streams() -> None:
    driver = FakeDriver(devices=2, order="latest")
    here, there = driver.allocate(0, 4), driver.allocate(1, 4)
    driver.set_memory(here, 1, 4, MAIN)
    driver.copy_peer(there, here, 4, (1, 0), MAIN)
    driver.synchronize_device(1)
    assert driver.bytes_at(there, 1)[0] == 255
    driver.synchronize_device(0)
    assert driver.bytes_at(there, 1)[0] == 1
    assert driver.can_access_peer(0, 1) and not driver.can_access_peer(0, 0)
    with pytest.raises(CudaError, match="no address of device 0"):
        driver.copy_peer(here, there, 4, (0, 0), MAIN)


def test_an_event_is_recorded_on_its_own_device_and_waited_for_on_any() -> None:
    driver = FakeDriver(devices=2, order="latest")
    event = driver.create_event(1)
    with pytest.raises(CudaError, match="event of device 1"):
        driver.record_event(event, MAIN)
    driver.record_event(event, StreamHandle(1))
    driver.wait_event(MAIN, event)
    driver.synchronize_stream(MAIN)
    assert driver.event_is_done(event)


def test_freeing_waits_for_the_device() -> None:
    driver, ran = FakeDriver(order="latest"), []
    driver.launch(lambda: ran.append("kernel"), MAIN)
    driver.free(0, driver.allocate(0, 4))
    assert ran == ["kernel"]


def test_what_was_destroyed_is_no_handle() -> None:
    driver = FakeDriver()
    stream, event = driver.create_stream(0), driver.create_event(0)
    driver.destroy_stream(stream)
    driver.destroy_event(event)
    for call in (
        lambda: driver.synchronize_stream(stream),
        lambda: driver.destroy_stream(stream),
        lambda: driver.record_event(event, MAIN),
        lambda: driver.destroy_event(event),
        lambda: driver.destroy_stream(MAIN),
    ):
        with pytest.raises(CudaError) as error:
            call()
        assert error.value.name == "CUDA_ERROR_INVALID_HANDLE"


def test_time_is_told_only_between_marks_that_were_passed() -> None:
    driver = FakeDriver(order="latest")
    start, end = (driver.create_event(0, timing=True) for _ in range(2))
    with pytest.raises(CudaError, match="recorded"):
        driver.elapsed_time(start, end)
    driver.record_event(start, MAIN)
    driver.launch(lambda: None, MAIN)
    driver.launch(lambda: None, MAIN)
    driver.record_event(end, MAIN)
    with pytest.raises(CudaError, match="wait for both") as error:
        driver.elapsed_time(start, end)
    assert error.value.name == "CUDA_ERROR_NOT_READY"
    driver.synchronize_event(end)
    assert driver.elapsed_time(start, end) == 2


@pytest.mark.parametrize("error", [CudaError("call", "CUDA_ERROR_X", "why"), CudaOutOfMemoryError("cuMemAlloc")])
def test_errors_pass_between_processes(error: CudaError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.name) == (type(error), str(error), error.name)
