"""A driver whose calls are told to the sanitizer: which wait for what, and which read and write memory.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> driver, sanitizer = sanitized(FakeDriver())
>>> first, second = driver.create_stream(0), driver.create_stream(0)
>>> address = driver.allocate(0, 64)
>>> driver.set_memory(address, 0, 64, first)
>>> driver.synchronize_stream(first)
>>> driver.set_memory(address, 1, 64, second)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.sanitizer import Recorded, Sanitizer, Span
from minitorch_compile.cuda_runtime.vector_clocks import HOST
from minitorch_compile.environment_variables import CUDA_SANITIZER


def watched(driver: Driver) -> tuple[Driver, Sanitizer | None]:
    """The driver, and the sanitizer that watches it if MTC_CUDA_SANITIZER=1."""
    return sanitized(driver) if CUDA_SANITIZER.value() else (driver, None)


def sanitized(driver: Driver) -> tuple[Driver, Sanitizer]:
    """A driver that does the same, and the sanitizer that is told of it."""
    made = SanitizedDriver(driver)
    return cast(Driver, made), made.sanitizer


class SanitizedDriver:
    """Has all attributes of its driver. A call that MEANINGS lists is told to the sanitizer when it has returned."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.sanitizer = driver, Sanitizer()
        self.sizes: dict[int, int] = {}  # of what the driver has given, by address
        self.pinned: dict[int, int] = {}  # likewise, memory of the host
        self.recordings: dict[int, list[Recorded]] = {}  # by graph, and by what was made ready of it
        self.marks: dict[int, list[Recorded]] = {}  # events that lie in recordings

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.driver, name)
        if name not in MEANINGS:
            return function

        def call(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            with self.sanitizer.lock:
                MEANINGS[name](self, result, *arguments, **named)
            return result

        setattr(self, name, call)  # the next time it is found at once
        return call

    def end_capture(self, stream: StreamHandle) -> int:
        recorded = self.sanitizer.recorded
        works = recorded.get(stream, [])
        try:
            graph = self.driver.end_capture(stream)
        finally:
            for other in [other for other, found in recorded.items() if found is works]:
                del recorded[other]
        self.recordings[graph] = works
        return graph

    def prepared_graph(self, device: int, executable: int) -> Callable[[int], None]:
        """What is recorded is told as work of the stream in which it is launched."""
        put, works = self.driver.prepared_graph(device, executable), self.recordings[executable]

        def told(stream: int) -> None:
            put(stream)
            for work in works:
                self.sanitizer.access(StreamHandle(device, stream), *work)

        return told

    def is_pinned(self, address: int) -> bool:
        return any(start <= address < start + nbytes for start, nbytes in self.pinned.items())

    def host_span(self, address: int, nbytes: int) -> list[Span]:
        """What a copy touches on the host: nothing that outlives the call, unless it is pinned."""
        return [(address, nbytes)] if self.is_pinned(address) else []


MEANINGS: dict[str, Callable[..., None]] = {}


def meaning(function: Callable[..., None]) -> Callable[..., None]:
    """What the call of the driver with this name means. It gets the call's result, then its arguments."""
    MEANINGS[function.__name__] = function
    return function


# ------------------------------------------------------------------------------------------ memory


@meaning
def allocate(driver: SanitizedDriver, address: int, device: int, nbytes: int) -> None:
    driver.sizes[address] = nbytes


@meaning
def free(driver: SanitizedDriver, _: None, device: int, address: int) -> None:
    driver.sanitizer.order.host_waits_for_device(device)
    driver.sanitizer.forget(address, driver.sizes.pop(address, 0))


@meaning
def allocate_host(driver: SanitizedDriver, address: int, nbytes: int) -> None:
    driver.pinned[address] = nbytes


@meaning
def free_host(driver: SanitizedDriver, _: None, address: int) -> None:
    driver.sanitizer.forget(address, driver.pinned.pop(address, 0))


@meaning
def copy_host_to_device(
    driver: SanitizedDriver, _: None, destination: int, source: int, nbytes: int, stream: StreamHandle
) -> None:
    reads = driver.host_span(source, nbytes)
    driver.sanitizer.access(stream, "copy_host_to_device", reads=reads, writes=[(destination, nbytes)])


@meaning
def copy_device_to_host(
    driver: SanitizedDriver, _: None, destination: int, source: int, nbytes: int, stream: StreamHandle
) -> None:
    writes = driver.host_span(destination, nbytes)
    driver.sanitizer.access(stream, "copy_device_to_host", reads=[(source, nbytes)], writes=writes)
    if not writes:  # into memory that isn't pinned, the driver has copied when it returns
        driver.sanitizer.order.host_waits_for_stream(stream)


@meaning
def copy_device_to_device(
    driver: SanitizedDriver, _: None, destination: int, source: int, nbytes: int, stream: StreamHandle
) -> None:
    spans = {"reads": [(source, nbytes)], "writes": [(destination, nbytes)]}
    driver.sanitizer.access(stream, "copy_device_to_device", **spans)


@meaning
def copy_peer(
    driver: SanitizedDriver, _: None, to: int, source: int, nbytes: int, devices: Any, stream: StreamHandle
) -> None:
    driver.sanitizer.access(stream, "copy_peer", reads=[(source, nbytes)], writes=[(to, nbytes)])


@meaning
def set_memory(
    driver: SanitizedDriver, _: None, destination: int, value: int, nbytes: int, stream: StreamHandle
) -> None:
    driver.sanitizer.access(stream, "set_memory", writes=[(destination, nbytes)])


# ------------------------------------------------------------------------------------------ order


@meaning
def synchronize_device(driver: SanitizedDriver, _: None, device: int) -> None:
    driver.sanitizer.order.host_waits_for_device(device)


@meaning
def synchronize_stream(driver: SanitizedDriver, _: None, stream: StreamHandle) -> None:
    driver.sanitizer.order.host_waits_for_stream(stream)


@meaning
def stream_is_done(driver: SanitizedDriver, is_done: bool, stream: StreamHandle) -> None:
    if is_done:
        driver.sanitizer.order.host_waits_for_stream(stream)


@meaning
def record_event(driver: SanitizedDriver, _: None, event: int, stream: StreamHandle) -> None:
    driver.marks.pop(event, None)
    if stream in driver.sanitizer.recorded:
        driver.marks[event] = driver.sanitizer.recorded[stream]
    driver.sanitizer.order.record(event, stream)


@meaning
def wait_event(driver: SanitizedDriver, _: None, stream: StreamHandle, event: int) -> None:
    if event in driver.marks:  # a stream that is drawn into a recording
        driver.sanitizer.recorded[stream] = driver.marks[event]
    driver.sanitizer.order.wait(stream, event)


@meaning
def event_is_done(driver: SanitizedDriver, is_done: bool, event: int) -> None:
    if is_done:
        driver.sanitizer.order.wait(HOST, event)


@meaning
def synchronize_event(driver: SanitizedDriver, _: None, event: int) -> None:
    driver.sanitizer.order.wait(HOST, event)


@meaning
def destroy_event(driver: SanitizedDriver, _: None, event: int) -> None:
    driver.sanitizer.order.forget(event)


# ------------------------------------------------------------------------------------------ recordings


@meaning
def begin_capture(driver: SanitizedDriver, _: None, stream: StreamHandle, mode: str = "global") -> None:
    driver.sanitizer.recorded[stream] = []


@meaning
def instantiate_graph(driver: SanitizedDriver, executable: int, graph: int) -> None:
    driver.recordings[executable] = driver.recordings[graph]


@meaning
def destroy_graph(driver: SanitizedDriver, _: None, graph: int) -> None:
    driver.recordings.pop(graph, None)


@meaning
def destroy_executable(driver: SanitizedDriver, _: None, executable: int) -> None:
    driver.recordings.pop(executable, None)
