"""torch.accelerator: the kind of device beside the CPU that there is, a GPU or none. What is asked is asked of its
module, torch.cuda.

Without one, programs ask is_available() and stay on the CPU:

>>> current_accelerator() if not is_available() else None
>>> get_device_module() in (sys.modules["minitorch_compile.cpu"], sys.modules["minitorch_compile.cuda"])
True
"""

from __future__ import annotations

import sys
from types import ModuleType, TracebackType
from typing import Any

from minitorch_compile.control import assume_constant_result
from minitorch_compile.tensor.dispatch.accelerators import accelerators as _accelerators
from minitorch_compile.tensor.memory.device import device as _device


def _kind() -> str | None:
    """The type of the devices that are there."""
    return next((kind for kind, found in _accelerators.items() if found.is_available()), None)


def _asked() -> Any:
    """The module that answers for them. RuntimeError if there are none."""
    kind = _kind()
    if kind is None:
        raise RuntimeError(
            "Cannot access accelerator device when none is available: tensors live on the CPU here; ask"
            " torch.accelerator.is_available() first"
        )
    return get_device_module(kind)


class Stream:
    """A queue of work: of a GPU, the one that torch.cuda.Stream makes. The CPU has done its work when a call returns,
    so there is nothing to wait for.

    >>> with Stream() as stream:
    ...     stream.record_event().query()
    True
    """

    def __new__(cls, device: Any = "cpu", *, priority: int = 0) -> Any:
        return object.__new__(cls) if _device(device).type == "cpu" else _asked().Stream(device, priority)

    def __init__(self, device: Any = "cpu", *, priority: int = 0) -> None:
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

    def __new__(
        cls, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Any:
        if device is None or _device(device).type == "cpu":
            return object.__new__(cls)
        return _asked().Event(enable_timing, blocking, interprocess)

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
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


@assume_constant_result
def is_available() -> bool:
    """Whether tensors can be on an accelerator.

    >>> torch.accelerator.is_available() == (torch.accelerator.device_count() > 0)
    True
    """
    return _kind() is not None


@assume_constant_result
def device_count() -> int:
    """How many accelerators there are."""
    return _asked().device_count() if is_available() else 0


@assume_constant_result
def current_accelerator(check_available: bool = False) -> _device | None:
    """The kind of accelerator that there is: a device without a number, or None."""
    kind = _kind()
    return None if kind is None else _device(kind)


def current_device_index() -> int:
    """The number of the current one. RuntimeError without one, as from the functions below."""
    return _asked().current_device()


def set_device_index(device: Any, /) -> None:
    """Chooses one, by its number or as a device."""
    _asked().set_device(device)


# The first names of these two, which PyTorch keeps.
current_device_idx = current_device_index
set_device_idx = set_device_index


def current_stream(device: Any = None, /) -> Any:
    """Where this thread's work on one goes."""
    return _asked().current_stream(device)


def set_stream(stream: Any) -> None:
    """Sends work to a stream from now on."""
    _asked().set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """Waits until all work of one is done."""
    _asked().synchronize(device)


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """What one can do: {"supported_dtypes": the dtypes that its tensors can have}."""
    _asked().get_device_capability(device)
    from minitorch_compile.tensor.numerics.dtype import DTYPES

    return {"supported_dtypes": set(DTYPES)}


def empty_cache() -> None:
    """Gives the memory that no tensor is in back to the driver."""
    _asked().empty_cache()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """(free, total) bytes of one, whoever uses them."""
    return _asked().mem_get_info(device_index)


def memory_stats(device_index: Any = None, /) -> dict[str, Any]:
    """All figures of the allocator."""
    return _asked().memory_stats(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """Bytes that tensors take."""
    return _asked().memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that tensors took."""
    return _asked().max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """Bytes that the allocator has from the driver."""
    return _asked().memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that it had."""
    return _asked().max_memory_reserved(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Peaks begin at what is in use now."""
    _asked().reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """What was allocated and freed in all begins at 0."""
    _asked().reset_accumulated_memory_stats(device_index)


class device_index:
    """`with torch.accelerator.device_index(i)`: chooses one inside; None changes nothing. RuntimeError on entering
    without one."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self._before: int | None = None

    def __enter__(self) -> None:
        if self.idx is not None:
            self._before = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._before is not None:
            set_device_index(self._before)
            self._before = None


def get_device_module(device: Any = None) -> ModuleType:
    """torch.get_device_module: the module that answers for a kind of device, that of the accelerator, if there is one,
    else torch.cpu, unless `device` names another.

    RuntimeError for a kind that has none.

    >>> torch.get_device_module("cuda").__name__, torch.get_device_module("cpu") is torch.cpu
    ('minitorch_compile.cuda', True)
    """
    kind = _kind() or "cpu" if device is None else _device(device).type
    module = sys.modules.get(f"{__name__.rpartition('.')[0]}.{kind}")
    if module is None:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return module
