"""Row numbers of entries, and where each row begins: the one from the other.

>>> from minitorch_compile.tensor import tensor
>>> begins = _convert_indices_from_coo_to_csr(tensor([0, 0, 2]), 3)
>>> begins, _convert_indices_from_csr_to_coo(begins, tensor([1, 2, 0]))
(tensor([0, 2, 2, 3]), tensor([[0, 0, 2],
        [1, 2, 0]]))
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.tensor_base import wrap


def _convert_indices_from_coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins, and the end; `input` has the rows of the entries, which are sorted."""
    begins = np.searchsorted(input.array, np.arange(size + 1))
    return wrap(begins.astype(np.int32 if out_int32 else np.int64))


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Row and column of each entry; with `transpose`, column and row."""
    begins, columns = crow_indices.array, col_indices.array
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    both = np.stack([columns, rows] if transpose else [rows, columns])
    return wrap(both.astype(np.int32 if out_int32 else np.int64))
