"""A driver for machines without a GPU, and for tests: device memory on the host, and streams that run when they must.

With order="eager" work runs as soon as it is put into a stream. With order="latest" it runs when somebody waits for it,
and not before, as if the device were very slow. So who forgot to wait sees it in the data, each time:

>>> import numpy as np
>>> driver = FakeDriver(order="latest")
>>> producer, consumer, done = driver.create_stream(0), driver.create_stream(0), driver.create_event(0)
>>> address, host = driver.allocate(0, 4), np.zeros(4, np.uint8)
>>> driver.set_memory(address, 7, 4, producer)
>>> driver.copy_device_to_host(host.ctypes.data, address, 4, consumer)
>>> print(host)
[255 255 255 255]
>>> driver.record_event(done, producer)
>>> driver.wait_event(consumer, done)
>>> driver.copy_device_to_host(host.ctypes.data, address, 4, consumer)
>>> print(host)
[7 7 7 7]
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from itertools import count
from typing import Literal

import numpy as np

from minitorch_compile.cuda_runtime.driver import DeviceProperties, StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError
from minitorch_compile.cuda_runtime.fake_capture import FakeCaptures
from minitorch_compile.cuda_runtime.fake_memory import FakeMemory
from minitorch_compile.cuda_runtime.fake_stream import FakeEvent, FakeStream, Work

# Between the first addresses of two devices, so that an address says whose it is; and beyond all of the host's.
DEVICE_STRIDE = 1 << 48
PRIORITIES = (0, -5)  # those of an H100
NOT_PINNED = "memory of the host that isn't pinned may be gone when the recording is launched"


class FakeDriver:
    """`devices` devices with `memory` bytes each. Time passes by a millisecond with each piece of work that runs."""

    def __init__(
        self,
        devices: int = 1,
        memory: int = 1 << 30,
        order: Literal["eager", "latest"] = "eager",
        backed: bool = True,
    ) -> None:
        self.order = order
        self._memories = [FakeMemory((1 + device) * DEVICE_STRIDE, memory, backed) for device in range(devices)]
        self._streams = {StreamHandle(device): FakeStream() for device in range(devices)}
        self._events: dict[int, FakeEvent] = {}
        self._pinned: dict[int, np.ndarray] = {}
        self._captures = FakeCaptures()
        self._graphs: dict[int, list[Work]] = {}  # recordings, and what was made ready of them
        self._handles = count(3)  # 1 and 2 are names of the default streams
        self._lock = threading.RLock()
        self._milliseconds = 0

    # ------------------------------------------------------------------------------------------ devices

    def device_count(self) -> int:
        return len(self._memories)

    def properties(self, device: int) -> DeviceProperties:
        return DeviceProperties(
            name="fake device",
            major=9,
            minor=0,
            total_memory=self._memory(device).total,
            multi_processor_count=4,
            warp_size=32,
            max_threads_per_block=1024,
            max_threads_per_multi_processor=2048,
            regs_per_multiprocessor=65536,
            shared_memory_per_block=48 << 10,
            shared_memory_per_block_optin=227 << 10,
            shared_memory_per_multiprocessor=228 << 10,
            L2_cache_size=1 << 20,
            is_integrated=False,
            uuid=f"00000000-0000-0000-0000-{device:012}",
        )

    def memory_info(self, device: int) -> tuple[int, int]:
        memory = self._memory(device)
        return memory.total - memory.used, memory.total

    def synchronize_device(self, device: int) -> None:
        with self._lock:
            for handle in list(self._captures.of):
                self._captures.refuse("cuCtxSynchronize", handle, "it would wait for the device")
            for handle, stream in list(self._streams.items()):
                if handle.device == device:
                    stream.run_until(stream.end)

    def enter(self, device: int) -> None:
        self._memory(device)

    def can_access_peer(self, device: int, peer: int) -> bool:
        return self._memory(device) is not self._memory(peer)

    def enable_peer_access(self, device: int, peer: int) -> None:
        if not self.can_access_peer(device, peer):
            raise CudaError("cuCtxEnablePeerAccess", "CUDA_ERROR_INVALID_DEVICE", f"device {device} is its own peer")

    def _memory(self, device: int) -> FakeMemory:
        if not 0 <= device < len(self._memories):
            there = f"there are {len(self._memories)}"
            raise CudaError("cuDeviceGet", "CUDA_ERROR_INVALID_DEVICE", f"no device {device}; {there}")
        return self._memories[device]

    # ------------------------------------------------------------------------------------------ memory

    def allocate(self, device: int, nbytes: int) -> int:
        with self._lock:
            return self._memory(device).allocate(nbytes)

    def device_of_address(self, address: int) -> int:
        self.bytes_at(address, 1)
        return address // DEVICE_STRIDE - 1

    def free(self, device: int, address: int) -> None:
        with self._lock:
            self.synchronize_device(device)
            self._memory(device).free(address)

    def allocate_host(self, nbytes: int) -> int:
        block = np.zeros(nbytes, np.uint8)
        self._pinned[block.ctypes.data] = block
        return block.ctypes.data

    def free_host(self, address: int) -> None:
        if self._pinned.pop(address, None) is None:
            raise CudaError("cuMemFreeHost", "CUDA_ERROR_INVALID_VALUE", f"no pinned memory begins at {address:#x}")

    def bytes_at(self, address: int, nbytes: int) -> np.ndarray:
        """A view of device memory, or of pinned memory of the host, for what stands in for a kernel. CudaError unless
        all of it lies in one block."""
        with self._lock:
            if address < DEVICE_STRIDE and self.is_pinned(address):
                return _host_bytes(address, nbytes)
            return self._memory(address // DEVICE_STRIDE - 1).bytes_at(address, nbytes)

    def copy_host_to_device(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        if not self.is_pinned(source):
            self._captures.refuse("cuMemcpyHtoDAsync", stream, NOT_PINNED)
        target, given = self.bytes_at(destination, nbytes), _host_bytes(source, nbytes)
        taken = given if self.is_pinned(source) else given.copy()
        self.launch(lambda: np.copyto(target, taken), stream)

    def copy_device_to_host(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        if not self.is_pinned(destination):
            self._captures.refuse("cuMemcpyDtoHAsync", stream, NOT_PINNED)
        target, given = _host_bytes(destination, nbytes), self.bytes_at(source, nbytes)
        self.launch(lambda: np.copyto(target, given), stream)
        if not self.is_pinned(destination):
            self.synchronize_stream(stream)

    def copy_device_to_device(self, destination: int, source: int, nbytes: int, stream: StreamHandle) -> None:
        target, given = self.bytes_at(destination, nbytes), self.bytes_at(source, nbytes)
        self.launch(lambda: np.copyto(target, given), stream)

    def copy_peer(
        self, destination: int, source: int, nbytes: int, devices: tuple[int, int], stream: StreamHandle
    ) -> None:
        for device, address in zip(devices, (destination, source)):
            if address // DEVICE_STRIDE - 1 != device:
                explanation = f"{address:#x} is no address of device {device}"
                raise CudaError("cuMemcpyPeerAsync", "CUDA_ERROR_INVALID_VALUE", explanation)
        self.copy_device_to_device(destination, source, nbytes, stream)

    def set_memory(self, destination: int, value: int, nbytes: int, stream: StreamHandle) -> None:
        target = self.bytes_at(destination, nbytes)
        self.launch(lambda: target.fill(value), stream)

    def is_pinned(self, address: int) -> bool:
        return any(start <= address < start + block.nbytes for start, block in self._pinned.items())

    # ------------------------------------------------------------------------------------------ streams

    def launch(self, work: Callable[[], None], stream: StreamHandle) -> None:
        """Puts a call into a stream: what a kernel is here."""
        with self._lock:
            queue = self._stream(stream)
            if self._captures.takes(work, stream):
                return
            queue.put(self._timed(work))
            if self.order == "eager":
                queue.run_until(queue.end)

    def advance(self, stream: StreamHandle) -> None:
        """Runs the next piece of work of a stream, if there is one: a test's way to choose the order."""
        with self._lock:
            self._stream(stream).run_next()

    def _timed(self, work: Work) -> Work:
        def run() -> None:
            self._milliseconds += 1
            work()

        return run

    def stream_priorities(self, device: int) -> tuple[int, int]:
        return PRIORITIES

    def create_stream(self, device: int, priority: int = 0) -> StreamHandle:
        self._memory(device)
        handle = StreamHandle(device, next(self._handles))
        with self._lock:
            self._streams[handle] = FakeStream()
        return handle

    def destroy_stream(self, stream: StreamHandle) -> None:
        self.synchronize_stream(stream)
        if not stream.handle:
            raise CudaError("cuStreamDestroy", "CUDA_ERROR_INVALID_HANDLE", "the default stream stays")
        del self._streams[stream]

    def synchronize_stream(self, stream: StreamHandle) -> None:
        with self._lock:
            self._captures.refuse("cuStreamSynchronize", stream, "it would wait for the stream")
            queue = self._stream(stream)
            queue.run_until(queue.end)

    def stream_is_done(self, stream: StreamHandle) -> bool:
        with self._lock:
            self._captures.refuse("cuStreamQuery", stream, "nothing in it is ever done")
            queue = self._stream(stream)
            return self._asked(queue, queue.end)

    def _stream(self, handle: StreamHandle) -> FakeStream:
        if handle not in self._streams:
            raise CudaError("stream", "CUDA_ERROR_INVALID_HANDLE", f"{handle} is no stream; was it destroyed?")
        return self._streams[handle]

    def _asked(self, queue: FakeStream, position: int) -> bool:
        """The answer to a query. Then something is done, or who asks until the answer is yes would never end."""
        passed = queue.is_past(position)
        if not passed:
            queue.run_next()
        return passed

    # ------------------------------------------------------------------------------------------ events

    def create_event(self, device: int, timing: bool = False, blocking: bool = False) -> int:
        self._memory(device)
        event = next(self._handles)
        self._events[event] = FakeEvent(device, timing)
        return event

    def destroy_event(self, event: int) -> None:
        self._event(event)
        del self._events[event]

    def record_event(self, event: int, stream: StreamHandle) -> None:
        with self._lock:
            mark, queue = self._event(event), self._stream(stream)
            if mark.device != stream.device:
                explanation = f"an event of device {mark.device} can't be recorded in {stream}"
                raise CudaError("cuEventRecord", "CUDA_ERROR_INVALID_HANDLE", explanation)
            if self._captures.records_event(event, stream):
                return
            # A new mark: who waits for the old one goes on doing so.
            new = self._events[event] = FakeEvent(mark.device, mark.timing, queue, queue.end + 1)

            def pass_by() -> None:
                new.passed_at = float(self._milliseconds)

            queue.put(pass_by)
            if self.order == "eager":
                queue.run_until(queue.end)

    def wait_event(self, stream: StreamHandle, event: int) -> None:
        with self._lock:
            mark, queue = self._event(event), self._stream(stream)
            if self._captures.waits_for(stream, event):
                return
            queue.put(mark.wait)
            if self.order == "eager":
                queue.run_until(queue.end)

    def event_is_done(self, event: int) -> bool:
        with self._lock:
            mark = self._event(event)
            return mark.stream is None or self._asked(mark.stream, mark.position)

    def synchronize_event(self, event: int) -> None:
        with self._lock:
            self._event(event).wait()

    def elapsed_time(self, start: int, end: int) -> float:
        marks = self._event(start), self._event(end)
        if not all(mark.timing and mark.stream is not None for mark in marks):
            explanation = "both events must be made with timing=True, and recorded"
            raise CudaError("cuEventElapsedTime", "CUDA_ERROR_INVALID_HANDLE", explanation)
        first, last = (mark.passed_at for mark in marks)
        if first is None or last is None:
            raise CudaError("cuEventElapsedTime", "CUDA_ERROR_NOT_READY", "wait for both events first")
        return last - first

    # ------------------------------------------------------------------------------------------ recordings

    def begin_capture(self, stream: StreamHandle, mode: str = "global") -> None:
        with self._lock:
            self._stream(stream)
            self._captures.begin(stream)

    def end_capture(self, stream: StreamHandle) -> int:
        with self._lock:
            return self._new_graph(self._captures.end(stream))

    def is_capturing(self, stream: StreamHandle) -> bool:
        return stream in self._captures.of

    def instantiate_graph(self, graph: int) -> int:
        return self._new_graph(self._graph(graph))

    def prepared_graph(self, device: int, executable: int) -> Callable[[int], None]:
        def put(stream: int) -> None:
            for work in self._graph(executable):
                self.launch(work, StreamHandle(device, stream))

        return put

    def destroy_graph(self, graph: int) -> None:
        self._graph(graph)
        del self._graphs[graph]

    destroy_executable = destroy_graph

    def _new_graph(self, works: list[Work]) -> int:
        graph = next(self._handles)
        self._graphs[graph] = works
        return graph

    def _graph(self, graph: int) -> list[Work]:
        if graph not in self._graphs:
            raise CudaError("graph", "CUDA_ERROR_INVALID_HANDLE", f"{graph} is no recording; was it destroyed?")
        return self._graphs[graph]

    def _event(self, event: int) -> FakeEvent:
        if event not in self._events:
            raise CudaError("event", "CUDA_ERROR_INVALID_HANDLE", f"{event} is no event; was it destroyed?")
        return self._events[event]


def _host_bytes(address: int, nbytes: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
