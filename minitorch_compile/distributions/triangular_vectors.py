"""Lower triangular matrices as vectors of what may differ from 0, and back.

>>> from minitorch_compile.tensor import tensor
>>> vec_to_tril_matrix(tensor([1.0, 2.0, 3.0]))
tensor([[1., 0.],
        [2., 3.]])
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor import Tensor, ops


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Any:
    """A vector's numbers, row by row, at and below a diagonal (-1: below the main one); zeros above."""
    length = vec.shape[-1]
    side = round((math.sqrt(8 * length + 1) - 1 - 2 * diag) / 2)
    rows, columns = ops.tril_indices(side, side, diag)
    if rows.shape[0] != length:
        raise RuntimeError(
            f"The size of last dimension is {length} which cannot be expressed as the lower triangular part"
        )
    return (
        ops.zeros((*vec.shape[:-1], side * side), dtype=vec.dtype, device=vec.device)
        .index_copy(-1, rows * side + columns, vec)
        .reshape((*vec.shape[:-1], side, side))
    )


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Any:
    """The numbers at and below a diagonal, row by row."""
    side = mat.shape[-1]
    if not -side <= diag < side:
        raise ValueError(f"diag ({diag}) provided is outside [{-side}, {side - 1}].")
    rows, columns = ops.tril_indices(side, side, diag)
    return mat[..., rows, columns]
