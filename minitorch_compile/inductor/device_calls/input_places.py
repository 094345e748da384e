"""Where a recording reads what it is given: memory of its own, filled before each launch.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> with using(FakeDriver()) as runtime:
...     place = Place(runtime, 0, Buffer.contiguous("x", (2,), float32))
...     place.fill(tensor([1.0, 2.0]).cuda())
...     rate = HostPlace(runtime, 0, Buffer.contiguous("rate", (), float32))
...     rate.fill(tensor(0.5))
...     print(place.tensor, rate.tensor)
tensor([1., 2.], device='cuda:0') tensor(0.5000, device='cuda:0')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.cuda.device_block import DeviceBlock
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.tensor.memory.device_storage import DeviceStorage
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.tensor_base import from_parts


class Place:
    """Memory for an input that lies on the device, in the layout that the graph was compiled for."""

    def __init__(self, runtime: Runtime, index: int, buffer: Buffer) -> None:
        self.block = DeviceBlock(runtime, index, buffer.nbytes)
        self.item, self.nbytes, self.strides = buffer.dtype.itemsize, buffer.nbytes, tuple(buffer.strides)
        self.tensor: Any = from_parts(
            DeviceStorage(self.block), 0, Size(buffer.sizes), self.strides, buffer.dtype, self.block.device
        )

    def fill(self, x: Any) -> None:
        """Copies the elements, behind what is in the current stream."""
        storage = x.storage
        if x.strides != self.strides or storage.flips:
            self.tensor.store_result(x)
        else:
            self.block.take(0, storage.block, x.offset * self.item, self.nbytes)


class HostPlace(Place):
    """Memory for one that lies in main memory, and is written only when it has changed."""

    def __init__(self, runtime: Runtime, index: int, buffer: Buffer) -> None:
        super().__init__(runtime, index, buffer)
        self.last = b""

    def fill(self, x: Any) -> None:
        now = x.array.tobytes()
        if now != self.last:
            self.last = now
            self.block.write(0, np.frombuffer(now, np.uint8))


def is_plain_in_main_memory(x: Any, strides: Sequence[int]) -> bool:
    """Whether a tensor's bytes are those that a graph wants, one behind the other."""
    return tuple(x.strides) == tuple(strides) == contiguous_strides(tuple(x.sizes)) and not x.storage.flips
