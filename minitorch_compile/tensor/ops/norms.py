"""Norms of vectors and matrices, as torch.linalg has them.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[3.0, 4.0], [0.0, 0.0]])
>>> linalg_vector_norm(x, dim=1), linalg_matrix_norm(x), linalg_norm(x, 1), linalg_norm(x, "nuc")
(tensor([5., 0.]), tensor(5.), tensor(4.), tensor(5.))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, reduction
from minitorch_compile.tensor.dispatch.op import Array, Tensor, find
from minitorch_compile.tensor.memory.dimensions import wrap_dim, wrap_dims
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.factorizations import linalg_svdvals
from minitorch_compile.tensor.ops.reduction import amax, amin, sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import permute

Axes = int | Sequence[int] | None


def _absolute(element: dtype) -> dtype:
    """The dtype of a norm: that of the absolute values."""
    if element.category < FLOATING:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {element}; use .float()"
        )
    return element.to_real()


@reduction(_absolute, torch=False)
def _vector_norm(input: Array, dim: Axes = None, keepdim: bool = False, ord: float = 2.0) -> Array:
    """(sum |x|^ord)^(1/ord) over `dim`; the largest or smallest |x| for ord = inf or -inf, how many aren't 0 for 0."""
    size = np.abs(input)
    if ord == math.inf:
        return size.max(dim, keepdims=keepdim)
    if ord == -math.inf:
        return size.min(dim, keepdims=keepdim)
    if ord == 0:
        return (size != 0).sum(dim, keepdims=keepdim)
    if ord == 1:
        return size.sum(dim, keepdims=keepdim)
    if ord == 2:
        return np.sqrt((size * size).sum(dim, keepdims=keepdim))
    return (size**ord).sum(dim, keepdims=keepdim) ** (1 / ord)


@composite(torch=False)
def linalg_vector_norm(
    input: Tensor, ord: float = 2, dim: Axes = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Any:
    """The norm of the elements as one vector, or over `dim` only; see _vector_norm for `ord`, any number.

    RuntimeError for integers, and for the largest of no elements.
    """
    if isinstance(ord, str):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str, got {ord!r}")
    input = _in_dtype("linalg.vector_norm", input, dtype)
    dims = wrap_dims(None if dim == () else dim, len(input.sizes))
    if (ord < 0 or ord == math.inf) and any(input.sizes[d] == 0 for d in dims):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {float(ord)} norm on an empty tensor because the operation does"
            " not have an identity"
        )
    return _vector_norm(input, dims, keepdim, float(ord))


def _in_dtype(name: str, x: Any, dtype: dtype | None) -> Any:
    if dtype is None or dtype is x.dtype:
        return x
    if dtype.category < max(x.dtype.category, FLOATING) or (
        dtype.category == x.dtype.category and dtype.itemsize < x.dtype.itemsize
    ):
        raise RuntimeError(
            f"{name}: the dtype of the input ({x.dtype}) should be convertible without narrowing to the specified dtype"
            f" ({dtype})"
        )
    return to_copy(x, dtype)


@composite(torch=False)
def linalg_matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Any:
    """The norm of the matrices that two dimensions make.

    "fro": the root of the sum of squares; "nuc": the sum of singular values; 2 and -2: the largest and smallest of
    them; 1 and -1: the largest and smallest sum of a column's absolute values; inf and -inf: of a row's.
    """
    name = "linalg.matrix_norm"
    if len(A.sizes) < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions, got {list(A.sizes)}")
    if isinstance(dim, int) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    A = _in_dtype(name, A, dtype)
    rows, columns = (wrap_dim(d, len(A.sizes)) for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return _vector_norm(A, (rows, columns), keepdim, 2.0)
    if ord in ("nuc", 2, -2):
        return _of_singular_values(A, ord, rows, columns, keepdim)
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"{name}: Order {ord} not supported; choose 'fro', 'nuc', 1, 2, inf or one of -1, -2, -inf")
    added, compared = (rows, columns) if abs_of(ord) == 1 else (columns, rows)
    totals = _vector_norm(A, (added,), True, 1.0)
    extreme = (amax if ord > 0 else amin)(totals, compared, True)
    return extreme if keepdim else extreme.squeeze((rows, columns))


def abs_of(number: float) -> float:
    """The absolute value of a number (`abs` here is the op)."""
    return -number if number < 0 else number


def _of_singular_values(A: Any, ord: Any, rows: int, columns: int, keepdim: bool) -> Any:
    others = [d for d in range(len(A.sizes)) if d not in (rows, columns)]
    values = linalg_svdvals(permute(A, (*others, rows, columns)))
    result = sum(values, -1) if ord == "nuc" else (amax if ord > 0 else amin)(values, -1)
    if not keepdim:
        return result
    return reshape(result, tuple(1 if d in (rows, columns) else n for d, n in enumerate(A.sizes)))


@composite(torch=False)
def linalg_norm(
    input: Tensor, ord: Any = None, dim: Axes = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Any:
    """The vector norm if `dim` is an int or it has one dimension, the matrix norm if `dim` has two or it is a matrix.

    `ord`: a number, inf, -inf, or, of matrices, "fro" or "nuc". Without ord and dim, the 2-norm of all elements. With
    `keepdim` the dimensions stay, with size 1; `dtype` is what the input is converted to first.

    >>> torch.linalg.norm(torch.tensor([3.0, 4.0])), torch.linalg.norm(torch.ones(2, 2), ord=1)
    (tensor(5.), tensor(2.))
    """
    if ord is None:
        return linalg_vector_norm(input, 2, dim, keepdim, dtype=dtype)
    if dim is None and len(input.sizes) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {len(input.sizes)}D."
        )
    count = (1 if isinstance(dim, int) else len(dim)) if dim is not None else len(input.sizes)
    if count == 2 or isinstance(ord, str):
        return linalg_matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return linalg_vector_norm(input, ord, dim, keepdim, dtype=dtype)


@composite(methods=True)
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Axes = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: dtype | None = None,
) -> Any:
    """torch.norm: the vector norm of all elements, or over the dimensions in `dim`, however many they are.

    `p` is its order: a number, inf for the largest magnitude; "fro" is 2; "nuc" is the sum of the singular values of
    the matrices that two dimensions make. With `keepdim` the dimensions stay, with size 1; `dtype` is what the input is
    converted to first.

    >>> x = torch.tensor([[3.0, 4.0], [0.0, 5.0]])
    >>> torch.norm(x[0]), x.norm(p=1, dim=1)
    (tensor(5.), tensor([7., 5.]))
    """
    if out is not None:
        return find("norm")(input, p, dim, keepdim, dtype=dtype, out=out)
    if p == "nuc":
        matrix = tuple(range(len(input.sizes))) if dim is None else dim
        return linalg_matrix_norm(input, "nuc", matrix, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: unknown norm {p!r}; choose 'fro', 'nuc' or a number")
    return linalg_vector_norm(input, 2 if p == "fro" or p is None else p, dim, keepdim, dtype=dtype)
