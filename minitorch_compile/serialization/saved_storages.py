"""The tensors of what is saved, by the memory that they look at: each stretch of it is written once.

What no saved tensor looks at is not written: a row of a large table takes the bytes of the row. Tensors that look at
one storage get one entry in the file, from the first to the last element that any of them has, and share memory again
when they are loaded. An entry is named after the tensor that it consists of, in row-major order, so that other readers
of safetensors find it under its name; where there is no such tensor, it is flat, and `#storage` is added to the name.

>>> from minitorch_compile.tensor import arange
>>> x = arange(6).view(2, 3)
>>> storages = SavedStorages()
>>> references = [storages.refer(x[1:], "row"), storages.refer(x[1, :2], "part")]
>>> storages.entries()
{'row': array([[3, 4, 5]])}
>>> references
[{'tensor': 'row'}, {'tensor': 'row', 'view': ['int64', 0, [2], [1]]}]
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.tensor_base import from_parts

Reference = dict[str, Any]


class SavedStorages:
    """Collects tensors and arrays under names; `entries()` then completes the references that were given for them."""

    def __init__(self) -> None:
        self.groups: dict[int, list[tuple[Reference, Tensor, str]]] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self.copies: dict[tuple[Storage, np.dtype], Storage] = {}  # of the memory of devices

    def refer(self, tensor: Tensor, path: str) -> Reference:
        """What stands for a tensor; it is completed when all tensors are known."""
        reference: Reference = {"tensor": ""}
        self.groups.setdefault(id(tensor.storage.memory), []).append((reference, tensor, path or "tensor"))
        return reference

    def on_host(self, tensor: Tensor) -> Tensor:
        """A tensor whose elements are in main memory: of one on a device, over a copy of its memory. Those that share
        memory share the copy."""
        if tensor.storage.block is None:
            return tensor
        memory, element = tensor.storage.memory, tensor.dtype.numpy
        if (memory, element) not in self.copies:
            whole = memory.nbytes // element.itemsize * element.itemsize
            self.copies[memory, element] = Storage(memory.block.read(0, whole).view(element))
        copy: Tensor = from_parts(
            self.copies[memory, element], tensor.offset, tensor.sizes, tensor.strides, tensor.dtype, CPU
        )
        return copy

    def refer_to_array(self, array: np.ndarray, path: str) -> str:
        """The name of an entry for a NumPy array."""
        return self._add(path or "array", array)

    def entries(self) -> dict[str, np.ndarray]:
        """The arrays to be written, by name."""
        for group in self.groups.values():
            self._write_group(group)
        return self.arrays

    def _add(self, path: str, array: np.ndarray) -> str:
        name = path
        for number in itertools.count(2):
            if name not in self.arrays and name != "__metadata__":
                break
            name = f"{path}#{number}"
        self.arrays[name] = array
        return name

    def _write_group(self, group: list[tuple[Reference, Tensor, str]]) -> None:
        buffer = group[0][1].storage.memory.buffer
        unit = max(buffer.itemsize, *(tensor.dtype.itemsize for _, tensor, _ in group))
        stretches = [_bytes_of(tensor) for _, tensor, _ in group if 0 not in tensor.sizes] or [(0, 0)]
        begin = min(stretches)[0] // unit * unit
        end = min(-(-max(end for _, end in stretches) // unit) * unit, buffer.nbytes)
        alone = _alone(group)
        whole = next((row for row in group if _is_all(row[1], begin, end, buffer.dtype)), None)
        turned = alone if whole is None and alone is not None and fills(alone, end - begin) else None
        if whole is not None:
            name = self._add(whole[2], whole[1].detach().array)
        elif turned is not None:
            name = self._add(group[0][2], turned.detach().array)
        else:
            name = self._add(f"{group[0][2]}#storage", buffer.view(np.uint8)[begin:end].view(buffer.dtype))
        for reference, tensor, _ in group:
            reference["tensor"] = name
            if turned is not None:
                reference["strides"] = list(tensor.strides)
            elif whole is None or not _look_alike(tensor, whole[1]):
                offset = tensor.offset - begin // tensor.dtype.itemsize if 0 not in tensor.sizes else 0
                reference["view"] = [tensor.dtype.name, offset, list(tensor.sizes), list(tensor.strides)]


def _alone(group: list[tuple[Reference, Tensor, str]]) -> Tensor | None:
    """The one tensor of a group in which all look alike."""
    first = group[0][1]
    return first if all(_look_alike(first, tensor) for _, tensor, _ in group) else None


def _look_alike(x: Tensor, y: Tensor) -> bool:
    return (x.dtype, x.offset, x.sizes, x.strides) == (y.dtype, y.offset, y.sizes, y.strides)


def _bytes_of(tensor: Tensor) -> tuple[int, int]:
    """Where the first element that a tensor has begins in its storage, and where the last one ends."""
    if 0 in tensor.sizes:
        return 0, 0
    last = sum((n - 1) * s for n, s in zip(tensor.sizes, tensor.strides, strict=True))
    return tensor.offset * tensor.dtype.itemsize, (tensor.offset + last + 1) * tensor.dtype.itemsize


def _is_all(tensor: Tensor, begin: int, end: int, element: np.dtype) -> bool:
    """Whether a tensor is a stretch of memory, in row-major order."""
    in_order = tensor.strides == contiguous_strides(tensor.sizes)
    return in_order and tensor.dtype.numpy == element and _bytes_of(tensor) == (begin, end)


def fills(tensor: Tensor, length: int) -> bool:
    """Whether a tensor has each element of that many bytes once, in whatever order."""
    steps = sorted((s, n) for n, s in zip(tensor.sizes, tensor.strides, strict=True) if n != 1)
    expected = 1
    for stride, size in steps:
        if stride != expected:
            return False
        expected *= size
    return expected * tensor.dtype.itemsize == length and 0 not in tensor.sizes
