"""Sizes as tensors, which programs compute with that are to be exported; here as everywhere.

>>> from minitorch_compile import ones
>>> shape_as_tensor(ones(2, 3)), reshape_from_tensor_shape(ones(2, 3), shape_as_tensor(ones(6))).shape
(tensor([2, 3]), torch.Size([6]))
"""

from __future__ import annotations

from minitorch_compile.tensor import Tensor, tensor


def shape_as_tensor(x: Tensor) -> Tensor:
    """The sizes of x: int64, [x.ndim]."""
    return tensor(list(x.shape))


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """x with the sizes in `shape`, [ndim] integers. RuntimeError if they don't fit."""
    return x.reshape(shape.tolist())
