"""Distances and angles between rows.

>>> from minitorch_compile.tensor import tensor
>>> x, y = tensor([[3.0, 4.0]]), tensor([[0.0, 2.0]])
>>> cosine_similarity(x, y), pairwise_distance(x, y, p=1, eps=0.0), pdist(tensor([[0.0], [1.0], [3.0]]))
(tensor([0.8000]), tensor([5.]), tensor([1., 3., 2.]))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.accelerators import moved
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.dispatch import converted_by_modes
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import FLOATING, promote_types
from minitorch_compile.tensor.ops.copies import to
from minitorch_compile.tensor.ops.index_along import index_select
from minitorch_compile.tensor.ops.norms import linalg_vector_norm
from minitorch_compile.tensor.ops.pointwise import abs, clamp, ne, where
from minitorch_compile.tensor.ops.reduction import amax, sum
from minitorch_compile.tensor.ops.view import expand, view_op
from minitorch_compile.tensor.tensor_base import from_numpy


def row_distance(difference: Any, p: float) -> Any:
    """The p-norm of a difference along the last dimension, with the slopes that PyTorch gives distances.

    Several largest components have a full slope each for p = inf, where a norm's share one; for p = 0 there are zeros.
    """
    if p == 0:
        return sum(where(difference == difference, to(ne(difference, 0), difference.dtype), difference), -1)
    if p != math.inf:
        return linalg_vector_norm(difference, p, -1)
    size = abs(difference)
    largest = amax(size, -1, True)
    slopes = sum(where(size == largest, size, 0.0), -1)
    distance = largest.detach().squeeze(-1)
    return where(distance == math.inf, distance, distance + (slopes - slopes.detach()))


@composite(functional=True)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between x1 and x2 along `dim`; norms below `eps` count as `eps`. The inputs broadcast.

    RuntimeError for integers.
    """
    common = promote_types(x1.dtype, x2.dtype)
    if common.category < FLOATING:
        raise RuntimeError(
            f"cosine_similarity: expected common dtype to be floating point, yet common dtype is {common}"
        )
    sizes = broadcast_sizes(x1.sizes, x2.sizes)
    at = wrap_dim(dim, len(sizes))
    x1, x2 = (_with_dim(to(x, common), at, sizes) for x in (x1, x2))
    return sum(_unit(x1, at, eps) * _unit(x2, at, eps), at)


def _with_dim(x: Any, dim: int, sizes: Sequence[int]) -> Any:
    """x with as many dimensions as `sizes`, and that size along `dim`; the others may still broadcast."""
    if not sizes:  # numbers are vectors of one component
        return view_op(x, (1,))
    own = [1] * (len(sizes) - len(x.sizes)) + list(x.sizes)
    own[dim] = sizes[dim]
    return expand(x, own)


def _unit(x: Any, dim: int, eps: float) -> Any:
    """x divided by its norm. The norm is clamped in value only: the gradient passes as if it weren't."""
    norm = linalg_vector_norm(x, 2, dim, True)
    return x / (norm + (clamp(norm, min=eps) - norm).detach())


@composite(functional=True)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension; `eps` keeps it from 0."""
    return linalg_vector_norm(x1 - x2 + eps, p, -1, keepdim)


@composite(functional=True)
def pdist(input: Tensor, p: float = 2.0) -> Any:
    """The p-norm distances between all pairs of rows i < j of a matrix, in that order. RuntimeError for another shape
    or a negative p."""
    if len(input.sizes) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(input.sizes)}D")
    if input.dtype.category < FLOATING:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    pairs = [from_numpy(rows.astype(np.int64)) for rows in np.triu_indices(input.sizes[0], 1)]
    on_device = input.storage.block is not None
    first, second = (converted_by_modes(moved(rows, input.device) if on_device else rows) for rows in pairs)
    return row_distance(index_select(input, 0, first) - index_select(input, 0, second), p)


__all__ = ["cosine_similarity", "pairwise_distance", "pdist", "row_distance"]
