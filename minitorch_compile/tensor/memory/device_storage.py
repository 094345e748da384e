"""Elements that lie in the memory of a device: the program can't look at them, only copy them here and back.

A `Block` is such memory, whoever owns it. Here is one that pretends:

>>> class Pretended:
...     device, nbytes, address = device("cuda", 0), 12, 4096
...     def __init__(self):
...         self.bytes = np.zeros(12, np.uint8)
...     def read(self, start, count):
...         return self.bytes[start : start + count].copy()
...     def write(self, start, data):
...         self.bytes[start : start + data.size] = data
>>> storage = DeviceStorage(Pretended())
>>> len(storage), storage.buffer is None, storage.device
(12, True, device(type='cuda', index=0))
>>> write_window(storage, (2,), (2,), 0, np.array([5, 6], np.int32))
>>> read_window(storage, (3,), (1,), 0, np.dtype(np.int32))
array([5, 0, 6], dtype=int32)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel


class Block(Protocol):
    """Memory of a device, which goes back when the object is dropped. Bytes are counted from its start."""

    device: device
    nbytes: int
    address: int

    def read(self, start: int, count: int) -> np.ndarray:
        """A copy of `count` bytes as uint8, when all work on them is done."""

    def write(self, start: int, data: np.ndarray) -> None:
        """Stores bytes, uint8, before whatever is asked of the device next."""

    def receive(self, data: np.ndarray, non_blocking: bool) -> None:
        """Stores bytes, uint8, at its start. Unless `non_blocking`, they may change when this returns."""

    def send(self, start: int, count: int) -> np.ndarray:
        """What `read` gives, in memory of the host where it will be when the device comes to it."""

    def take(self, start: int, source: Block, first: int, count: int) -> None:
        """Stores `count` bytes of another block of this device, from `first` on, without a way over the host."""

    def take_elements(self, target: Any, source: Any) -> bool:
        """Likewise the elements of a tensor, in a tensor that lies here; False if nobody knows how."""

    def copy(self, nbytes: int) -> Block:
        """Other memory of the same device that begins with these bytes; at least as many."""

    def used_on(self, stream: Any) -> None:
        """A stream other than the one it was made on works with it."""

    def run_again(self, op: Any, bound: Sequence[Any]) -> Any:
        """The results of a call like one that was run here before, without asking anything else; None if there was
        none."""


class DeviceStorage(Storage):
    """The memory of a device. It has bytes, not elements: `buffer` stays None, as there is nothing to look at."""

    __slots__ = ("block",)

    def __init__(self, block: Block) -> None:
        self.buffer, self.version, self.block = None, 0, block

    def __len__(self) -> int:
        return self.block.nbytes

    def __repr__(self) -> str:
        return f"DeviceStorage({self.block.nbytes} bytes on {self.device}, version={self.version})"

    def __reduce__(self) -> tuple[Any, ...]:
        """TypeError: what is written to a file or sent to a process lies in main memory."""
        raise TypeError(f"a tensor on {self.device} can't be pickled: take x.cpu(), or torch.save, which copies it")

    def __deepcopy__(self, memo: dict[int, Any]) -> DeviceStorage:
        copy = memo[id(self)] = DeviceStorage(self.block.copy(self.nbytes))
        return copy

    @property
    def device(self) -> device:
        return self.block.device

    @property
    def nbytes(self) -> int:
        return self.block.nbytes


def read_window(
    storage: Any, sizes: Sequence[int], strides: Sequence[int], offset: int, element: np.dtype
) -> np.ndarray:
    """A copy of the elements that a tensor looks at, with its strides, which can't be written to."""
    if 0 in sizes:
        return np.empty(sizes, element)
    raw = storage.block.read(offset * element.itemsize, _span(sizes, strides) * element.itemsize)
    window: np.ndarray = np.ndarray(sizes, element, raw, 0, [s * element.itemsize for s in strides])
    window.flags.writeable = False  # what is written to a copy would be lost
    return window


def write_window(storage: Any, sizes: Sequence[int], strides: Sequence[int], offset: int, values: np.ndarray) -> None:
    """Stores elements where a tensor looks. What lies between them stays."""
    if 0 in sizes:
        return
    element = values.dtype
    if tuple(strides) == contiguous_strides(tuple(sizes)):
        raw = np.array(np.broadcast_to(values, sizes), order="C").reshape(-1).view(np.uint8)
    else:
        raw = storage.block.read(offset * element.itemsize, _span(sizes, strides) * element.itemsize)
        window: np.ndarray = np.ndarray(sizes, element, raw, 0, [s * element.itemsize for s in strides])
        window[...] = values
    storage.block.write(offset * element.itemsize, raw)


def _span(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """From the first element to behind the last."""
    return 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) if numel(sizes) else 0
