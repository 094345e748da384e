"""Tensors from Python numbers, nested lists and arrays.

>>> tensor([[1, 2], [3, 4]]).dtype, tensor([1.0]).dtype, tensor(True)
(torch.int64, torch.float32, tensor(True))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dtype import FROM_NUMPY, as_dtype, bool_, dtype, get_default_dtype, int64
from minitorch_compile.tensor.ops.creation import on_device
from minitorch_compile.tensor.tensor_base import TensorBase, from_numpy, wrap


def tensor(data: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False) -> Any:
    """A new tensor with a copy of `data`: a number, nested lists, a NumPy array or a tensor.

    Python floats take the default dtype. ValueError for ragged lists, TypeError for what isn't numbers.
    """
    array = _to_array(data)
    target = as_dtype(dtype) if dtype is not None else _natural_dtype(data, array)
    result = on_device(wrap(np.array(array, dtype=target.numpy, order="C")), device)
    if requires_grad:
        result.requires_grad_()
    return result


def as_tensor(data: Any, dtype: dtype | None = None) -> Any:
    """A tensor that shares memory with `data` if it is a tensor or an array and no dtype is to change."""
    if isinstance(data, TensorBase):
        return data if dtype is None or dtype is data.dtype else tensor(data, dtype=dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.numpy == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def _to_array(data: Any) -> np.ndarray:
    if isinstance(data, TensorBase):
        return data.array
    try:
        array = np.asarray(_plain(data))
    except ValueError as error:
        raise ValueError(
            f"tensor: expected sequences of equal length at every level, got a ragged list: {error}"
        ) from None
    if array.dtype not in FROM_NUMPY and array.dtype.kind not in "uif":
        raise TypeError(
            f"tensor: can't make a tensor of {type(data).__name__} elements of type {array.dtype}; expected numbers"
            " or bools"
        )
    return array


def _plain(data: Any) -> Any:
    """Nested lists in which every 0-d tensor is a number and every other tensor an array."""
    if isinstance(data, TensorBase):
        return data.array
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    return data


def _natural_dtype(data: Any, array: np.ndarray) -> dtype:
    from_array = isinstance(data, (TensorBase, np.ndarray, np.generic))
    if from_array and array.dtype in FROM_NUMPY:
        return FROM_NUMPY[array.dtype]
    if array.dtype.kind == "f":
        return get_default_dtype()
    return int64 if array.dtype.kind in "iu" else bool_
