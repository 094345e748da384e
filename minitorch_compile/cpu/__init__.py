"""torch.cpu: the CPU, asked the questions that programs ask a GPU.

>>> is_available(), device_count(), current_device()
(True, 1, 'cpu')
>>> with stream(Stream()):
...     synchronize()
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from minitorch_compile.cpu import amp


class Stream:
    """The CPU's only queue of work: each piece is done when its call returns."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Any) -> None:
        """There is nothing to wait for."""

    def record_event(self) -> None:
        """There is nothing to mark."""

    def wait_event(self, event: Any) -> None:
        """There is nothing to wait for."""


class StreamContext:
    """`with torch.cpu.stream(s)`: there is one queue, so it changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        return None


_only = Stream()


def is_available() -> bool:
    """Whether there is a CPU."""
    return True


def is_initialized() -> bool:
    """Whether it is in use."""
    return True


def device_count() -> int:
    """PyTorch counts all CPUs of a machine as one."""
    return 1


def current_device() -> str:
    """Its name."""
    return "cpu"


def set_device(device: Any) -> None:
    """There is no other to choose."""


def synchronize(device: Any = None) -> None:
    """There is nothing to wait for: a call returns when its work is done."""


def current_stream(device: Any = None) -> Stream:
    """The only queue."""
    return _only


def stream(stream: Stream | None) -> StreamContext:
    """The context in which work goes to a stream."""
    return StreamContext(stream)
