"""What the Python part of a generated file needs: tensors to flat arrays, and flat arrays to tensors.

These functions run at every call of compiled code, so they do as little as they can.

>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> tensor_of(np.arange(6, dtype=np.float32), Size((2, 3)), (3, 1), float32).array
array([[0., 1., 2.],
       [3., 4., 5.]], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.inductor.ir.extern_call import INDEX_ERROR
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase


def tensor_of(buffer: np.ndarray, sizes: Size, strides: tuple[int, ...], element: dtype) -> Any:
    """A tensor that owns a flat array."""
    tensor = object.__new__(TensorBase.concrete)
    tensor.storage = Storage(buffer)
    tensor.offset = 0
    tensor.sizes = sizes
    tensor.strides = strides
    tensor.dtype = element
    tensor.device = CPU
    return tensor


def flat(tensor: TensorBase) -> np.ndarray:
    """The elements of a tensor's storage from the tensor's first one on."""
    buffer = tensor.storage.buffer
    assert buffer is not None
    return buffer[tensor.offset :]


def restride(tensor: TensorBase, sizes: tuple[int, ...], strides: tuple[int, ...], name: str) -> TensorBase:
    """A tensor of these strides with the same elements. RuntimeError if its sizes are not those compiled for."""
    if tuple(tensor.sizes) != sizes:
        raise RuntimeError(
            f"compiled graph: {name} was compiled for sizes {list(sizes)}, but the tensor has sizes"
            f" {list(tensor.sizes)}; compile the graph again for these sizes"
        )
    steps = zip(sizes, tensor.strides, strides)
    if all(size == 1 or a == b for size, a, b in steps):
        return tensor
    length = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    buffer = np.empty(length, tensor.dtype.numpy)
    result = tensor_of(buffer, Size(sizes), strides, tensor.dtype)
    result.array[...] = tensor.array
    return result


def index_error(status: np.ndarray) -> Exception:
    """The error that a kernel reported: PyTorch's class for indexing, and for gather and its kin."""
    kind, value, size = (int(number) for number in status)
    return (IndexError if kind == INDEX_ERROR else RuntimeError)(
        f"index {value} is out of bounds for dimension with size {size}"
    )
