"""What stands between tensors and a driver: for each GPU an allocator, a current stream and a generator; and which GPU
a thread works on.

A process has one runtime or none. It is looked for when somebody first asks: simulated GPUs if `MTC_CUDA_SIM` says how
many, else those that CUDA's driver has.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver(devices=2)) as runtime:
...     runtime.devices, runtime.current_device(), runtime.current_stream()
((device(type='cuda', index=0), device(type='cuda', index=1)), 0, StreamHandle(device=0, handle=0))
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaUnavailableError
from minitorch_compile.cuda_runtime.host_allocator import CachingHostAllocator
from minitorch_compile.cuda_runtime.sanitizer import Sanitizer
from minitorch_compile.cuda_runtime.stream_workspaces import StreamWorkspaces
from minitorch_compile.environment_variables import CUDA_SIM
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.random.generator import Generator, default_generator

ADVICE = "tensors live on the CPU here; ask torch.cuda.is_available() first"


class _Thread(threading.local):
    """What each thread has chosen."""

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, StreamHandle] = {}


class Runtime:
    """All GPUs of a driver. Devices are given as numbers here; `index_of` makes them of whatever a program says."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        count = driver.device_count()
        self.devices = tuple(Device("cuda", index) for index in range(count))
        self._default_streams = tuple(map(StreamHandle, range(count)))
        self.allocators = tuple(CachingAllocator(driver, index) for index in range(count))
        self.host_allocator = CachingHostAllocator(driver)
        self.sanitizer: Sanitizer | None = getattr(driver, "sanitizer", None)  # who watches the driver
        if self.sanitizer is not None:
            for allocator in self.allocators:
                allocator.observers.append(self.sanitizer.observe)
        seed = default_generator.initial_seed()
        self.generators = tuple(Generator(device).manual_seed(seed) for device in self.devices)
        self.recordings: dict[int, Any] = {}  # what is under way, by device
        self.recording_streams: dict[int, StreamHandle] = {}  # of each device, for work that is recorded
        self.workspaces: list[StreamWorkspaces] = []  # of libraries
        self.kernels: Any = None  # of the compiler, made when an operation first asks for them
        self._thread = _Thread()

    def made_kernels(self) -> Any:
        """The kernels, made if there are none yet; None without a compiler."""
        if self.kernels is None and kernel_makers:
            self.kernels = kernel_makers[0](self)
        return self.kernels

    def index_of(self, device: Any) -> int:
        """The number of a device: None is the current one. ValueError for another kind, RuntimeError for one that isn't
        there."""
        if device is None:
            return self._thread.device
        if not isinstance(device, int) or isinstance(device, bool):
            device = Device(device)
            if device.type != "cuda":
                raise ValueError(f"Expected a cuda device, but got: {device}")
            device = self._thread.device if device.index is None else device.index
        if not 0 <= device < len(self.devices):
            raise RuntimeError(
                f"CUDA error: invalid device ordinal: there is no cuda:{device}; torch.cuda.device_count() is"
                f" {len(self.devices)}"
            )
        return device

    def current_device(self) -> int:
        """The number of the GPU that "cuda" means in this thread."""
        return self._thread.device

    def set_device(self, index: int) -> None:
        self._thread.device = index

    def current_stream(self, index: int | None = None) -> StreamHandle:
        """Where this thread's work on a GPU goes."""
        index = self._thread.device if index is None else index
        return self._thread.streams.get(index) or self._default_streams[index]

    def set_stream(self, stream: StreamHandle) -> None:
        self._thread.streams[stream.device] = stream

    def recording_stream(self, index: int) -> StreamHandle:
        """A stream of a device in which nothing is ever done but recorded."""
        if index not in self.recording_streams:
            self.recording_streams[index] = self.driver.create_stream(index)
        return self.recording_streams[index]

    def order(self, first: StreamHandle, then: StreamHandle) -> None:
        """What is put into a stream from now on waits for what is in the other one now."""
        if first != then:
            event = self.driver.create_event(first.device)
            self.driver.record_event(event, first)
            self.driver.wait_event(then, event)
            self.driver.destroy_event(event)


# What makes the kernels for a runtime: the compiler registers itself, which this floor can't import.
kernel_makers: list[Callable[[Runtime], Any]] = []

_found: list[Runtime | None] = []  # what was looked for last, above it what a `with using()` put there
_missing = ""


def find() -> Runtime | None:
    """The process's runtime; None if there is no GPU."""
    if not _found:
        _found.append(_look())
    return _found[-1]


def in_use() -> Runtime | None:
    """The runtime, if somebody has asked for it before and there was one."""
    return _found[-1] if _found else None


def required() -> Runtime:
    """The runtime. AssertionError, PyTorch's for a build without CUDA, that says what is missing."""
    runtime = find()
    if runtime is None:
        raise AssertionError(f"Torch not compiled with CUDA enabled: {ADVICE} ({_missing})")
    return runtime


@contextmanager
def using(driver: Driver) -> Iterator[Runtime]:
    """Inside, device="cuda" means the devices of this driver. Tensors that are left over keep its memory."""
    find()
    runtime = Runtime(driver)
    _found.append(runtime)
    try:
        yield runtime
    finally:
        _found.remove(runtime)


def _look() -> Runtime | None:
    global _missing
    from minitorch_compile.cuda_runtime.cuda_bindings_driver import CudaBindingsDriver
    from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
    from minitorch_compile.cuda_runtime.sanitized_driver import watched

    simulated = CUDA_SIM.value()
    try:
        driver, _ = watched(FakeDriver(devices=simulated) if simulated else CudaBindingsDriver())
        return Runtime(driver)
    except CudaUnavailableError as error:
        _missing = str(error)
        return None
