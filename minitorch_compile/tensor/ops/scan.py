"""Running sums, products and extremes along a dimension; differences, which undo the sums.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1, 3, 2])
>>> cumsum(x, 0), cummax(x, 0).values, diff(cumsum(x, 0)), trapezoid(x.float())
(tensor([1, 4, 6]), tensor([1, 3, 3]), tensor([3, 2]), tensor(4.5000))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.stored_only import refuse_stored
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, dtype, int64
from minitorch_compile.tensor.ops import return_types, view
from minitorch_compile.tensor.ops.gathering import gather
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.pointwise import logical_xor, mul, sub
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

# ------------------------------------------------------------------------------------------ sums and products


def _scan_rule(input: TensorBase, dim: int, dtype: dtype | None = None) -> TensorBase:
    wrap_dim(dim, len(input.sizes))
    return empty_fake(input.sizes, None, _scan_dtype(input.dtype, dtype))


def _scan_dtype(element: dtype, asked: dtype | None) -> dtype:
    result = asked or (element if element.category >= FLOATING else int64)
    refuse_stored("cumsum/cumprod", result)
    return result


def _accumulated(ufunc: np.ufunc, input: Array, dim: int, asked: dtype | None) -> Array:
    """A ufunc's running result; half floats are accumulated in single precision, as PyTorch does."""
    target = asked.numpy if asked else (input.dtype if input.dtype.kind in "fc" else np.dtype(np.int64))
    if input.ndim == 0:
        return input.astype(target)
    wide = np.dtype(np.float32) if target == np.float16 else target
    return ufunc.accumulate(input.astype(target, copy=False), dim, wide).astype(target, copy=False)


@kernel_op("scan", methods=True, inplace=True)
def cumsum(input: Array, dim: int, dtype: dtype | None = None) -> Array:
    """The sums of the elements up to and with each along `dim`. Integers and bools add up in int64, unless `dtype` says
    in what.

    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
    """
    return _accumulated(np.add, input, dim, dtype)


@kernel_op("scan", methods=True, inplace=True)
def cumprod(input: Array, dim: int, dtype: dtype | None = None) -> Array:
    """The products of the elements up to and with each along `dim`. Integers and bools are multiplied in int64."""
    return _accumulated(np.multiply, input, dim, dtype)


cumsum.shape_rule(_scan_rule)
cumprod.shape_rule(_scan_rule)


@kernel_op("scan", methods=True)
def logcumsumexp(input: Array, dim: int) -> Array:
    """log(cumsum(exp(x))) along `dim`, without leaving the range of floats. NotImplementedError for other
    dtypes."""
    return input.copy() if input.ndim == 0 else np.logaddexp.accumulate(input, dim)


@logcumsumexp.shape_rule
def _logcumsumexp_rule(input: TensorBase, dim: int) -> TensorBase:
    if input.dtype.category != FLOATING:
        raise NotImplementedError(f"logcumsumexp: implemented for floating-point tensors, got {input.dtype}")
    return _scan_rule(input, dim)


# ------------------------------------------------------------------------------------------ extremes


@kernel_op("scan", torch=False)
def running_extreme_indices(input: Array, dim: int, largest: bool) -> Array:
    """Where the largest (or smallest) of the elements up to and with each stands: the last of equals; NaN wins."""
    if input.ndim == 0:
        return np.zeros((), np.int64)
    extremes = (np.maximum if largest else np.minimum).accumulate(input, dim)
    reached = (input == extremes) | np.isnan(input) if input.dtype.kind == "f" else input == extremes
    places = np.arange(input.shape[dim]).reshape([-1 if d == dim % input.ndim else 1 for d in range(input.ndim)])
    return np.maximum.accumulate(np.where(reached, places, 0), dim)


@running_extreme_indices.shape_rule
def _running_extreme_rule(input: TensorBase, dim: int, largest: bool) -> TensorBase:
    complex_support.refuse_complex("cummax" if largest else "cummin", input.dtype)
    wrap_dim(dim, len(input.sizes))
    return empty_fake(input.sizes, None, int64)


@composite(methods=True)
def cummax(input: Tensor, dim: int) -> Any:
    """(values, indices) of the largest element up to and with each along `dim`."""
    indices = running_extreme_indices(input, dim, True)
    return return_types.cummax(gather(input, dim, indices), indices)


@composite(methods=True)
def cummin(input: Tensor, dim: int) -> Any:
    """(values, indices) of the smallest element up to and with each along `dim`."""
    indices = running_extreme_indices(input, dim, False)
    return return_types.cummin(gather(input, dim, indices), indices)


# ------------------------------------------------------------------------------------------ differences, areas


class Neighbours(NamedTuple):
    """All but the last and all but the first along a dimension: each element beside its successor."""

    left: Any
    right: Any


def neighbours(x: Any, dim: int) -> Neighbours:
    return Neighbours(view.slice(x, dim, 0, -1), view.slice(x, dim, 1))


@composite(methods=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Any:
    """Each element less the one before it along `dim`, n times; of bools, where they change."""
    if not input.sizes:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, input, append) if part is not None]
    x = cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, x.sizes[dim])):
        left, right = neighbours(x, dim)
        x = logical_xor(right, left) if x.dtype is bool_ else sub(right, left)
    return x.clone() if n == 0 else x


@composite()
def trapezoid(y: Tensor, x: Tensor | None = None, dx: Scalar = 1, dim: int = -1) -> Any:
    """The area under the line through the points (x, y) along `dim`; points without `x` are `dx` apart."""
    return sum(_trapezoids(y, x, dx, dim), dim)


@composite()
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, dx: Scalar = 1, dim: int = -1) -> Any:
    """The area under the line through the points (x, y) from the first to each other."""
    return cumsum(_trapezoids(y, x, dx, dim), dim)


def _trapezoids(y: Any, x: Any, dx: Scalar, dim: int) -> Any:
    if y.dtype is bool_:
        raise RuntimeError("trapezoid: received a bool input for `y`, but bool is not supported; call .float()")
    left, right = neighbours(y, dim)
    if x is None:
        return mul(left + right, dx / 2)
    widths = diff(x, dim=-1 if len(x.sizes) == 1 else dim)
    if len(x.sizes) == 1:
        widths = widths.reshape([-1 if d == dim % len(y.sizes) else 1 for d in range(len(y.sizes))])
    return (left + right) * widths / 2


@composite()
def trapz(y: Tensor, x: Tensor | None = None, dx: Scalar = 1, dim: int = -1) -> Any:
    """trapezoid, under its older name."""
    return trapezoid(y, x, dx, dim)
