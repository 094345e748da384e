"""torch.cuda.Stream and Event: queues of work on a GPU, and marks in them.

What is in one stream runs in its order; what is in two runs in any order, unless one waits for a mark in the other.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()):
...     side, before = Stream(), Event(enable_timing=True)
...     with stream(side):
...         before.record()
...     current_stream().wait_event(before)
...     current_stream() == default_stream(), side == current_stream()
(True, False)

Without a GPU, programs name the classes in annotations, and choose a stream or None. Making one is a RuntimeError.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from minitorch_compile.cuda.runtime import ADVICE, Runtime, find, required
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.tensor.memory.device import device as Device


def runtime_for(name: str) -> Runtime:
    """The runtime that an object of this class needs. RuntimeError if there is none."""
    found = find()
    if found is None:
        raise RuntimeError(f"torch.cuda.{name} requires CUDA support: {ADVICE}")
    return found


class Stream:
    """A queue of work on a GPU. RuntimeError without one. A `priority` below 0 goes before others."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self._runtime = runtime_for(type(self).__name__)
        least, greatest = self._runtime.driver.stream_priorities(self._runtime.index_of(device))
        self.priority = max(min(priority, least), greatest)
        self.handle = self._runtime.driver.create_stream(self._runtime.index_of(device), self.priority)

    @classmethod
    def of(cls, runtime: Runtime, handle: StreamHandle) -> Stream:
        """The stream that a handle stands for."""
        stream = object.__new__(Stream)
        stream._runtime, stream.handle, stream.priority = runtime, handle, 0
        return stream

    @property
    def device(self) -> Device:
        return self._runtime.devices[self.handle.device]

    @property
    def cuda_stream(self) -> int:
        """The driver's number for it."""
        return self.handle.handle

    stream_id = cuda_stream

    def synchronize(self) -> None:
        """Waits until all that is in it now is done."""
        self._runtime.driver.synchronize_stream(self.handle)

    def query(self) -> bool:
        """Whether all that is in it is done."""
        return self._runtime.driver.stream_is_done(self.handle)

    def record_event(self, event: Event | None = None) -> Event:
        """Puts a mark, a new one if none is given, behind what is in it now."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """What is put into it from now on waits for the mark."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """What is put into it from now on waits for what is in the other one now."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.handle == self.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    def __enter__(self) -> Stream:
        self._context = StreamContext(self)
        self._context.__enter__()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._context.__exit__(kind, error, traceback)


class ExternalStream(Stream):
    """A queue that another library made: `stream_ptr` is the driver's number for it."""

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        self._runtime = runtime_for(type(self).__name__)
        self.handle, self.priority = StreamHandle(self._runtime.index_of(device), stream_ptr), 0


class Event:
    """A mark in a stream, for waiting, and with `enable_timing` for times. RuntimeError without a GPU: on the CPU,
    time.perf_counter() tells the time. `blocking`: who waits for it sleeps."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        self._runtime = runtime_for(type(self).__name__)
        if interprocess:
            raise RuntimeError("torch.cuda.Event: events between processes aren't there yet; leave interprocess out")
        self._timing, self._blocking = enable_timing, blocking
        self._event: int | None = None  # made for the device on which it is first recorded

    def __del__(self) -> None:
        event = getattr(self, "_event", None)
        if event is not None:
            self._runtime.driver.destroy_event(event)

    def _handle(self, device: int) -> int:
        if self._event is None:
            self._event = self._runtime.driver.create_event(device, self._timing, self._blocking)
        return self._event

    def record(self, stream: Stream | None = None) -> None:
        """Puts it behind what is in a stream now, the current one unless another is given."""
        handle = stream.handle if stream is not None else self._runtime.current_stream()
        self._runtime.driver.record_event(self._handle(handle.device), handle)

    def wait(self, stream: Stream | None = None) -> None:
        """What is put into a stream from now on, the current one unless another is given, waits for it."""
        if self._event is not None:
            handle = stream.handle if stream is not None else self._runtime.current_stream()
            self._runtime.driver.wait_event(handle, self._event)

    def query(self) -> bool:
        """Whether it has been passed, or was never recorded."""
        return self._event is None or self._runtime.driver.event_is_done(self._event)

    def synchronize(self) -> None:
        """Waits until it has been passed."""
        if self._event is not None:
            self._runtime.driver.synchronize_event(self._event)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two marks that have been passed. ValueError if one wasn't recorded, or has no timing."""
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._event is None or end_event._event is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return self._runtime.driver.elapsed_time(self._event, end_event._event)

    def __repr__(self) -> str:
        return "<torch.cuda.Event uninitialized>" if self._event is None else f"<torch.cuda.Event {self._event:#x}>"


class StreamContext:
    """`with torch.cuda.stream(s)`: this thread's work goes to s, on the device of s. None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            runtime, handle = self.stream._runtime, self.stream.handle
            self._before = runtime.current_device(), runtime.current_stream(handle.device)
            runtime.set_device(handle.device)
            runtime.set_stream(handle)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.stream is not None:
            device, handle = self._before
            self.stream._runtime.set_stream(handle)
            self.stream._runtime.set_device(device)


def stream(stream: Stream | None) -> StreamContext:
    """The context in which work goes to a stream."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Sends work to a stream from now on; None changes nothing."""
    if stream is not None:
        stream._runtime.set_device(stream.handle.device)
        stream._runtime.set_stream(stream.handle)


def current_stream(device: Any = None) -> Stream:
    """Where this thread's work on a GPU goes. AssertionError if there is none."""
    runtime = required()
    return Stream.of(runtime, runtime.current_stream(runtime.index_of(device)))


def default_stream(device: Any = None) -> Stream:
    """The stream that a GPU always has. AssertionError if there is none."""
    runtime = required()
    return Stream.of(runtime, StreamHandle(runtime.index_of(device)))
