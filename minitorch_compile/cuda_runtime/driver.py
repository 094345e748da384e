"""The calls that a runtime needs from CUDA, in CUDA's terms, whoever answers them: a GPU, or a stand-in on the host.

Addresses are integers. So are events. A stream is its device and its handle, since each device has a stream 0. Work is
put into a stream, and the call returns; what is in one stream runs in its order, what is in two runs in any.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> driver: Driver = FakeDriver()
>>> stream, done = driver.create_stream(0), driver.create_event(0)
>>> address = driver.allocate(0, 1024)
>>> driver.set_memory(address, 7, 1024, stream)
>>> driver.record_event(done, stream)
>>> driver.synchronize_event(done)
>>> driver.free(0, address)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class StreamHandle(NamedTuple):
    """A queue of work on a device. Handle 0 is the device's default stream."""

    device: int
    handle: int = 0


@dataclass(frozen=True)
class DeviceProperties:
    """What a device is and has, under the names of torch.cuda.get_device_properties."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_block: int
    max_threads_per_multi_processor: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int
    is_integrated: bool
    uuid: str


class DeviceCalls(Protocol):
    """Which devices there are."""

    def device_count(self) -> int:
        """How many devices there are."""

    def properties(self, device: int) -> DeviceProperties:
        """What the device is and has."""

    def memory_info(self, device: int) -> tuple[int, int]:
        """(free, total) bytes of the device, whoever uses them."""

    def synchronize_device(self, device: int) -> None:
        """Waits until all work of the device is done."""

    def enter(self, device: int) -> object:
        """Makes the device this thread's, for libraries that work on whichever one it has."""

    def can_access_peer(self, device: int, peer: int) -> bool:
        """Whether kernels of `device` could read the memory of `peer`."""

    def enable_peer_access(self, device: int, peer: int) -> None:
        """From now on they can; a second time changes nothing."""


class MemoryCalls(Protocol):
    """Memory, and what is written there without a kernel. Copies are put into a stream."""

    def allocate(self, device: int, nbytes: int) -> int:
        """The address of so many bytes. CudaOutOfMemoryError if there are not."""

    def device_of_address(self, address: int) -> int:
        """On which device memory is, whoever allocated it. CudaError if it is nobody's."""

    def free(self, device: int, address: int) -> None:
        """Gives them back; waits for the device's work first."""

    def allocate_host(self, nbytes: int) -> int:
        """The address of pinned memory of the host, which copies reach while the host goes on."""

    def free_host(self, address: int) -> None:
        """Gives it back."""

    def is_pinned(self, address: int) -> bool:
        """Whether there is pinned memory of the host at an address, whoever pinned it."""

    def copy_host_to_device(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        """Pinned memory is read when the stream comes to it; other memory before this returns."""

    def copy_device_to_host(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        """Into pinned memory when the stream comes to it; into other memory before this returns."""

    def copy_device_to_device(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        """Within the stream's device."""

    def copy_peer(
        self, destination: int, source: int, nbytes: int, devices: tuple[int, int], stream: StreamHandle
    ) -> None:
        """From device devices[1] to device devices[0]."""

    def set_memory(self, destination: int, value: int, nbytes: int, stream: StreamHandle) -> None:
        """Writes the same byte everywhere."""


class StreamCalls(Protocol):
    """Streams and events: what is done in which order. Streams don't wait for the default stream, nor it for them."""

    def stream_priorities(self, device: int) -> tuple[int, int]:
        """(least, greatest) priority that a stream can have; the greatest is the smallest number."""

    def create_stream(self, device: int, priority: int = 0) -> StreamHandle:
        """A new stream."""

    def destroy_stream(self, stream: StreamHandle) -> None:
        """Its work is still done."""

    def synchronize_stream(self, stream: StreamHandle) -> None:
        """Waits until all that is in the stream now is done."""

    def stream_is_done(self, stream: StreamHandle) -> bool:
        """Whether it is; doesn't wait."""

    def create_event(self, device: int, timing: bool = False, blocking: bool = False) -> int:
        """A mark for streams. `timing`: notes when it is passed. `blocking`: who waits for it sleeps."""

    def destroy_event(self, event: int) -> None:
        """Who waits for it already goes on waiting."""

    def record_event(self, event: int, stream: StreamHandle) -> None:
        """Puts the mark behind all that is in the stream now."""

    def wait_event(self, stream: StreamHandle, event: int) -> None:
        """What is put into the stream from now on waits for the mark as last recorded; the host doesn't."""

    def event_is_done(self, event: int) -> bool:
        """Whether the mark has been passed, or was never set; doesn't wait."""

    def synchronize_event(self, event: int) -> None:
        """Waits until the mark has been passed."""

    def elapsed_time(self, start: int, end: int) -> float:
        """Milliseconds between two marks, both passed, both of events with timing."""


class CaptureCalls(Protocol):
    """Recordings: what is put into a stream between two calls is not done but noted, to be launched at once later."""

    def begin_capture(self, stream: StreamHandle, mode: str = "global") -> None:
        """From now on the stream records. `mode`: "global", "thread_local" or "relaxed": whose calls that can't be
        recorded are errors. CudaError for a default stream."""

    def end_capture(self, stream: StreamHandle) -> int:
        """What was recorded. CudaError if part of it couldn't be."""

    def is_capturing(self, stream: StreamHandle) -> bool:
        """Whether the stream records."""

    def instantiate_graph(self, graph: int) -> int:
        """A recording made ready to be launched."""

    def prepared_graph(self, device: int, executable: int) -> Callable[[int], None]:
        """What puts it into a stream of its device, given the stream's handle."""

    def destroy_graph(self, graph: int) -> None:
        """Forgets a recording; what was made ready of it stays."""

    def destroy_executable(self, executable: int) -> None:
        """Launches that are under way are still done."""


class Driver(DeviceCalls, MemoryCalls, StreamCalls, CaptureCalls, Protocol):
    """All of them."""
