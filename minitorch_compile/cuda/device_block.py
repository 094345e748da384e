"""The memory of one tensor on a GPU: allocated on the current stream, and given back when nobody has it any more.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()) as runtime:
...     block = DeviceBlock(runtime, 0, 4)
...     block.write(1, np.array([7, 8], np.uint8))
...     print(block.read(1, 2))
[7 8]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.cuda.pinned_memory import pinned_bytes
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.driver import StreamHandle

SMALL = 1 << 20  # bytes: more are copied by the driver, which takes all of the bandwidth for one copy


class DeviceBlock:
    """`address` is where its bytes begin, 0 if there are none. Copies go over the current stream of its device."""

    __slots__ = ("__weakref__", "address", "allocator", "device", "nbytes", "runtime")

    def __init__(self, runtime: Runtime, index: int, nbytes: int, stream: StreamHandle | None = None) -> None:
        self.runtime, self.nbytes = runtime, nbytes
        self.device, self.allocator = runtime.devices[index], runtime.allocators[index]
        self.address = 0  # so that __del__ has one if there is no memory left
        self.address = self.allocator.allocate(nbytes, stream or runtime.current_stream(index))

    def __del__(self) -> None:
        if self.address:
            self.allocator.free_later(self.address)  # takes no lock: a finalizer may run anywhere

    def run_again(self, op: Any, bound: Sequence[Any]) -> Any:
        """The results of a call for which kernels are at hand; None if there are none."""
        kernels = self.runtime.kernels
        return None if kernels is None else kernels.run_again(op, bound)

    def step_together(self, rule: str, rows: Sequence[Any], numbers: Sequence[Any]) -> None:
        """Steps many parameters on this device by one kernel; `optim/fused.py` says what a row is."""
        self.runtime.made_kernels().optimizers.run(rule, rows, numbers)

    @property
    def index(self) -> int:
        """The number of its device."""
        number = self.device.index
        assert number is not None
        return number

    def read(self, start: int, count: int) -> np.ndarray:
        """A copy of `count` bytes, when all work that this thread has given to the device is done."""
        host = np.empty(count, np.uint8)
        if count:
            stream = self.runtime.current_stream(self.index)
            self.runtime.driver.copy_device_to_host(host.ctypes.data, self.address + start, count, stream)
            self.runtime.driver.synchronize_stream(stream)
        return host

    def write(self, start: int, data: np.ndarray) -> None:
        """Stores bytes behind the work that this thread has given to the device."""
        if data.size:
            data = np.ascontiguousarray(data)
            stream = self.runtime.current_stream(self.index)
            self.runtime.driver.copy_host_to_device(self.address + start, data.ctypes.data, data.size, stream)

    def receive(self, data: np.ndarray, non_blocking: bool) -> None:
        """Stores bytes at its start, as `write` does, from memory that may be pinned and change later: unless
        `non_blocking`, they are there when this returns."""
        if not data.size:
            return
        stream, driver, address = self.runtime.current_stream(self.index), self.runtime.driver, data.ctypes.data
        driver.copy_host_to_device(self.address, address, data.size, stream)
        if driver.is_pinned(address) and not (
            non_blocking and self.runtime.host_allocator.record_stream(address, stream)
        ):
            driver.synchronize_stream(stream)

    def send(self, start: int, count: int) -> np.ndarray:
        """What `read` gives, in pinned memory, where it is when the stream has come to it: this doesn't wait."""
        host = pinned_bytes(self.runtime, count)
        if count:
            stream = self.runtime.current_stream(self.index)
            self.runtime.driver.copy_device_to_host(host.ctypes.data, self.address + start, count, stream)
            self.runtime.host_allocator.record_stream(host.ctypes.data, stream)
        return host

    def take(self, start: int, source: Any, first: int, count: int) -> None:
        """Stores bytes of another block of this device, behind the work that this thread has given to it."""
        if count:
            stream = self.runtime.current_stream(self.index)
            self.runtime.driver.copy_device_to_device(self.address + start, source.address + first, count, stream)

    def take_elements(self, target: Any, source: Any) -> bool:
        """Stores the elements of a tensor on this device in a tensor in this block, if there are kernels for it."""
        kernels = self.runtime.kernels
        return kernels is not None and bool(kernels.copy(target, source))

    def copy(self, nbytes: int) -> DeviceBlock:
        """Another block on this device that begins with these bytes."""
        other = DeviceBlock(self.runtime, self.index, nbytes)
        other.take(0, self, 0, self.nbytes)
        return other

    def copies(self, blocks: Sequence[DeviceBlock]) -> list[DeviceBlock]:
        """A copy of each of several blocks on this device: small ones are copied by few kernels, if there are any."""
        made = [DeviceBlock(self.runtime, self.index, block.nbytes) for block in blocks]
        pairs, kernels = [*zip(blocks, made)], self.runtime.kernels
        together = [pair for pair in pairs if kernels is not None and 0 < pair[0].nbytes <= SMALL]
        if together:
            kernels.copy_bytes([(block.address, other.address, block.nbytes) for block, other in together], self.index)
        for block, other in pairs:
            if (block, other) not in together:
                other.take(0, block, 0, block.nbytes)
        return made

    def used_on(self, stream: Any) -> None:
        """Keeps the memory back, when it is freed, until what is in this stream now is done."""
        self.runtime.allocators[self.index].record_stream(self.address, stream)


class ForeignBlock(DeviceBlock):
    """Memory that another library has allocated, and that `owner` keeps."""

    __slots__ = ("owner",)

    def __init__(self, runtime: Runtime, index: int, address: int, nbytes: int, owner: Any) -> None:
        self.runtime = runtime
        self.device = runtime.devices[index]
        self.allocator = runtime.allocators[index]
        self.nbytes = nbytes
        self.address = address
        self.owner = owner

    def __del__(self) -> None:
        """Its owner frees it."""

    def used_on(self, stream: Any) -> None:
        """Its owner has to know by other means."""
