"""torch.sparse: tensors of which only some elements are kept.

>>> from minitorch_compile import ones, sparse_coo_tensor
>>> s = sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
>>> mm(s, ones(2, 1)), sum(s)
(tensor([[2.],
        [3.]]), tensor(5.))
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from minitorch_compile.sparse import methods, operations, saved
from minitorch_compile.sparse.creation import sparse_coo_tensor, sparse_csr_tensor
from minitorch_compile.sparse.legacy_types import DoubleTensor, FloatTensor, HalfTensor, LongTensor
from minitorch_compile.tensor.ops.joining import stack
from minitorch_compile.tensor.tensor_base import wrap


def mm(mat1: Any, mat2: Any) -> Any:
    """The product of matrices, of which the first is sparse, with gradients for both."""
    return operations.product(mat1, mat2)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * mat + alpha * (mat1 @ mat2), of which mat1 is sparse."""
    return operations.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Any, dim: int | Sequence[int] | None = None, dtype: Any = None) -> Any:
    """The sum of all, or over dimensions; sparse as long as a sparse dimension is left."""
    return operations.total(input, dim, dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """softmax over the entries along a dimension; what isn't kept counts as minus infinity."""
    return operations.normalized(input if dtype is None else input.to(dtype), dim, logarithm=False)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return operations.normalized(input if dtype is None else input.to(dtype), dim, logarithm=True)


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * input + alpha * (mat1 @ mat2), at the places of input only. It is a tensor in the layout of rows."""
    return input * beta + operations.in_layout_of(
        input, operations.coordinates(input).like(_at_places(mat1, mat2, operations.coordinates(input)) * alpha)
    )


def spdiags(diagonals: Any, offsets: Any, shape: Sequence[int], layout: Any = None) -> Any:
    """A matrix with these rows as its diagonals, `offsets` places above the main one."""
    rows = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    places = [int(place) for place in (offsets if offsets.ndim else offsets.unsqueeze(0))]
    if len(places) != rows.sizes[0]:
        raise RuntimeError(
            f"spdiags(): Number of diagonals ({rows.sizes[0]}) does not match the number of offsets ({len(places)})"
        )
    if len(set(places)) != len(places):
        raise RuntimeError("spdiags(): Offset tensor contains duplicate values")
    found = [
        (row, column, rows[number, column])
        for number, place in enumerate(places)
        for column in range(builtins.min(rows.sizes[1], shape[1]))
        if 0 <= (row := column - place) < shape[0]
    ]
    if not found:
        return sparse_coo_tensor(shape, dtype=diagonals.dtype)
    indices = [[row for row, _, _ in found], [column for _, column, _ in found]]
    made = sparse_coo_tensor(indices, stack([value for _, _, value in found]), shape)
    return made.to_sparse(layout=layout)


def _at_places(mat1: Any, mat2: Any, x: Any) -> Any:
    rows, columns = (wrap(row.copy()) for row in x._places.array)
    return (mat1.index_select(0, rows) * mat2.index_select(1, columns).t()).sum(-1)


__all__ = [
    "addmm",
    "log_softmax",
    "methods",
    "mm",
    "sampled_addmm",
    "softmax",
    "sparse_coo_tensor",
    "sparse_csr_tensor",
    "spdiags",
    "sum",
]
