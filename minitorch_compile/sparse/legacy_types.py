"""torch.sparse.FloatTensor and its kin: the first names for sparse tensors of a dtype.

>>> s = FloatTensor([[0], [1]], [2.0], (2, 3))
>>> s.shape, s.dtype, isinstance(s, FloatTensor), isinstance(s, DoubleTensor)
(torch.Size([2, 3]), torch.float32, True, False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.sparse.creation import sparse_coo_tensor
from minitorch_compile.tensor.numerics.dtype import dtype, float16, float32, float64, int64


class SparseType(type):
    """A class that makes sparse tensors of its dtype, which are its instances."""

    dtype: dtype

    def __call__(cls, indices: Any, values: Any, size: Any = None) -> Any:
        return sparse_coo_tensor(indices, values, size, dtype=cls.dtype)

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(getattr(value, "is_sparse", False)) and value.dtype is cls.dtype


class FloatTensor(metaclass=SparseType):
    """Sparse tensors of float32."""

    dtype = float32


class DoubleTensor(metaclass=SparseType):
    """Sparse tensors of float64."""

    dtype = float64


class HalfTensor(metaclass=SparseType):
    """Sparse tensors of float16."""

    dtype = float16


class LongTensor(metaclass=SparseType):
    """Sparse tensors of int64."""

    dtype = int64
