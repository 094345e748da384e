"""Ops that collapse dimensions, and softmax, which needs such a result for each row.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.mean, empty_fake((2, 3)), 1).compact())
x -> div(sum(x, (1,)), full((2,), 3.0, torch.float32))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import as_mask, converted, copied, kept, number_like, reshaped
from minitorch_compile.prims.half_precision import HALF
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim, wrap_dims
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import bool_, dtype, float32

Axes = int | Sequence[int] | None


def _reduce(prim: Any, x: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    """A reduction prim over the dimensions that `dim` names. Over no dimensions every element stands for itself."""
    dims = wrap_dims(dim, len(x.sizes))
    return kept(prim(x, dims), dims, keepdim) if dims else copied(x)


@decomposes(ops.sum)
def _(x: Tensor, dim: Axes, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The sum, in the dtype of the result."""
    element = dtype or ops.sum.dtype_rule(x.dtype)
    if element is bool_:
        return ops.any(converted(x, bool_), dim, keepdim)
    wide = float32 if element in HALF else element  # half floats have three digits
    return converted(_reduce(prims.sum, converted(converted(x, element), wide), dim, keepdim), element)


@decomposes(ops.prod)
def _(x: Tensor, dim: Axes, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The product, in the dtype of the result."""
    element = dtype or ops.prod.dtype_rule(x.dtype)
    if element is bool_:
        return ops.all(converted(x, bool_), dim, keepdim)
    return _reduce(prims.prod, converted(x, element), dim, keepdim)


@decomposes(ops.mean)
def _(x: Tensor, dim: Axes, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The sum divided by the number of elements."""
    element = dtype or ops.mean.dtype_rule(x.dtype)
    wide = float32 if element in HALF else element
    total = ops.sum(converted(x, element), dim, keepdim, dtype=wide)
    count = numel([x.sizes[d] for d in wrap_dims(dim, len(x.sizes))])
    return converted(prims.div(total, number_like(total, count)), element)


@decomposes(ops.amax)
def _(x: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    """The largest element."""
    return _reduce(prims.amax, x, dim, keepdim)


@decomposes(ops.amin)
def _(x: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    """The smallest element."""
    return _reduce(prims.amin, x, dim, keepdim)


@decomposes(ops.any)
def _(x: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    """The maximum of a mask; False over no elements."""
    return converted(_of_mask(prims.amax, False, x, dim, keepdim), ops.any.dtype_rule(x.dtype))


@decomposes(ops.all)
def _(x: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    """The minimum of a mask; True over no elements."""
    return converted(_of_mask(prims.amin, True, x, dim, keepdim), ops.all.dtype_rule(x.dtype))


def _of_mask(prim: Any, of_nothing: bool, x: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    dims = ops.any.dims_of(dim, len(x.sizes))
    if any(x.sizes[d] == 0 for d in dims):
        sizes = [n for d, n in enumerate(x.sizes) if d not in dims]
        return kept(prims.full(tuple(sizes), of_nothing, bool_), dims, keepdim)
    return _reduce(prim, as_mask(x), dims, keepdim) if dims else copied(as_mask(x))


@decomposes(ops.argmax)
def _(x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """The index of the largest element."""
    return _arg(prims.argmax, x, dim, keepdim)


@decomposes(ops.argmin)
def _(x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """The index of the smallest element."""
    return _arg(prims.argmin, x, dim, keepdim)


def _arg(prim: Any, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    if dim is None or not x.sizes:
        place = prim(reshaped(x, (numel(x.sizes),)), 0)
        return reshaped(place, [1] * len(x.sizes)) if keepdim else place
    at = wrap_dim(dim, len(x.sizes))
    return kept(prim(x, at), (at,), keepdim)


# ---------------------------------------------------------------------------------------------- softmax and its kin


@decomposes(ops.softmax)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """exp(x - max) / sum, where the maximum keeps exp from overflowing."""
    weights = ops.exp(_shifted(x, dim, dtype))
    return weights / ops.sum(weights, dim, True)


@decomposes(ops.log_softmax)
def log_softmax(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """(x - max) - log(sum(exp(x - max)))."""
    shifted = _shifted(x, dim, dtype)
    return shifted - ops.log(ops.sum(ops.exp(shifted), dim, True))


def _shifted(x: Tensor, dim: int, element: dtype | None) -> Tensor:
    """x less its maximum along `dim`."""
    x = converted(x, element or x.dtype)
    return x - ops.amax(x, dim, True) if numel(x.sizes) else x
