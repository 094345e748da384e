"""torch.accelerator on a machine without one: programs ask is_available() and stay on the CPU.

>>> is_available(), device_count(), current_accelerator()
(False, 0, None)
>>> synchronize()
Traceback (most recent call last):
RuntimeError: Cannot access accelerator device when none is available: tensors live on the CPU here; ask ...
"""

from __future__ import annotations

import sys
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from minitorch_compile.tensor.memory.device import device as _device


def is_available() -> bool:
    """Whether tensors can be on an accelerator: never."""
    return False


def device_count() -> int:
    """How many accelerators there are."""
    return 0


def current_accelerator(check_available: bool = False) -> _device | None:
    """The kind of accelerator that this build computes on: none."""
    return None


class Stream:
    """A queue of work. The CPU has done its work when a call returns, so there is nothing to wait for.

    >>> with Stream() as stream:
    ...     stream.record_event().query()
    True
    """

    def __init__(self, device: Any = "cpu", *, priority: int = 0) -> None:
        if _device(device).type != "cpu":
            _refuse()
        self.device, self.stream_id = _device("cpu"), 0

    def synchronize(self) -> None:
        """Waits for the work in it."""

    def query(self) -> bool:
        """Whether it is done."""
        return True

    def wait_stream(self, stream: Any) -> None:
        """Waits for that of another."""

    def wait_event(self, event: Any) -> None:
        """Waits for what an event marks."""

    def record_event(self, event: Any = None) -> Any:
        """The event, or a new one, at the end of the queue."""
        return Event() if event is None else event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None: ...


class Event:
    """A mark in such a queue."""

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if _device("cpu" if device is None else device).type != "cpu":
            _refuse()
        self.device, self.event_id = _device("cpu"), 0

    def record(self, stream: Any = None) -> None:
        """Marks what there is."""

    def wait(self, stream: Any = None) -> None:
        """Has a queue wait for it."""

    def synchronize(self) -> None:
        """Waits for it."""

    def query(self) -> bool:
        """Whether it has been reached."""
        return True


def _refuse() -> NoReturn:
    raise RuntimeError(
        "Cannot access accelerator device when none is available: tensors live on the CPU here; ask"
        " torch.accelerator.is_available() first"
    )


def current_device_index() -> int:
    """RuntimeError: there is none."""
    _refuse()


def set_device_index(device: Any, /) -> None:
    """RuntimeError: there is none."""
    _refuse()


# The first names of these two, which PyTorch keeps.
current_device_idx = current_device_index
set_device_idx = set_device_index


def current_stream(device: Any = None, /) -> Any:
    """RuntimeError: there is no queue of work."""
    _refuse()


def set_stream(stream: Any) -> None:
    """RuntimeError: there is no queue of work."""
    _refuse()


def synchronize(device: Any = None, /) -> None:
    """RuntimeError: there is nothing to wait for."""
    _refuse()


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """RuntimeError: there is none."""
    _refuse()


def empty_cache() -> None:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def memory_allocated(device_index: Any = None, /) -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def max_memory_allocated(device_index: Any = None, /) -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def memory_reserved(device_index: Any = None, /) -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def max_memory_reserved(device_index: Any = None, /) -> int:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """RuntimeError: there is no memory but the machine's own."""
    _refuse()


class device_index:
    """`with torch.accelerator.device_index(i)`: None changes nothing; RuntimeError on entering for any other."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            _refuse()

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        return None


def get_device_module(device: Any = None) -> ModuleType:
    """torch.get_device_module: the module that answers for a kind of device, torch.cpu unless `device` names another.

    RuntimeError for a kind that has none.

    >>> torch.get_device_module("cuda").is_available(), torch.get_device_module() is torch.cpu
    (False, True)
    """
    kind = "cpu" if device is None else _device(device).type
    module = sys.modules.get(f"{__name__.rpartition('.')[0]}.{kind}")
    if module is None:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return module
