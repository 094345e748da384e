"""The element in the middle, the most frequent one, and quantiles between.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 5.0, 2.0, 2.0])
>>> median(x), mode(x).values, quantile(x, 0.75)
(tensor(2.), tensor(2.), tensor(2.7500))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import bool_, float32, float64, int64
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.blending import lerp
from minitorch_compile.tensor.ops.creation import full
from minitorch_compile.tensor.ops.gathering import gather
from minitorch_compile.tensor.ops.pointwise import ceil, clamp, floor, isnan, logical_not, round, where
from minitorch_compile.tensor.ops.reduction import amax, any, sum
from minitorch_compile.tensor.ops.sorting import chosen, sort
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

# ------------------------------------------------------------------------------------------ median and mode


@kernel_op("sorting", torch=False)
def median_index(input: Array, dim: int, ignore_nan: bool) -> Array:
    """Where the median along `dim` stands, kept as a dimension of size 1: the lower of the two in the middle.

    NaN is the median where there is one, unless it is ignored.
    """
    if input.ndim == 0:
        return np.zeros((), np.int64)
    order = np.argsort(input, dim, kind="stable")
    nans = np.isnan(input) if input.dtype.kind == "f" else np.zeros(input.shape, bool)
    valid = input.shape[dim] - nans.sum(dim, keepdims=True)
    middle = np.maximum(valid - 1, 0) // 2 if ignore_nan else np.full_like(valid, (input.shape[dim] - 1) // 2)
    index = np.take_along_axis(order, middle, dim)
    return index if ignore_nan else np.where(nans.any(dim, keepdims=True), nans.argmax(dim, keepdims=True), index)


@kernel_op("sorting", torch=False)
def mode_index(input: Array, dim: int) -> Array:
    """Where the most frequent element along `dim` last stands, kept as a dimension of size 1: the smallest of those."""
    if input.ndim == 0:
        return np.zeros((), np.int64)
    order = np.argsort(input, dim, kind="stable")
    ordered = np.moveaxis(np.take_along_axis(input, order, dim), dim, -1)
    starts = np.ones(ordered.shape, bool)
    starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    places = np.arange(ordered.shape[-1])
    since_start = places - np.maximum.accumulate(np.where(starts, places, 0), -1)
    end_of_longest = np.moveaxis(since_start.argmax(-1, keepdims=True), -1, dim)
    return np.take_along_axis(order, end_of_longest, dim)


def _one_of_each_rule(name: str, input: TensorBase, dim: int) -> TensorBase:
    at = wrap_dim(dim, len(input.sizes))
    if input.sizes and input.sizes[at] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {at} to have non-zero size.")
    return empty_fake([1 if d == at else n for d, n in enumerate(input.sizes)], None, int64)


@median_index.shape_rule
def _median_rule(input: TensorBase, dim: int, ignore_nan: bool) -> TensorBase:
    complex_support.refuse_complex("median", input.dtype)
    return _one_of_each_rule("median", input, dim)


@mode_index.shape_rule
def _mode_rule(input: TensorBase, dim: int) -> TensorBase:
    complex_support.refuse_complex("mode", input.dtype)
    return _one_of_each_rule("mode", input, dim)


@composite(methods=True)
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle, the lower one of two; with `dim`, (values, indices) over that dimension, which stays
    with size 1 if `keepdim`. NaN if there is one.

    >>> torch.median(torch.tensor([3, 1, 4, 2]))
    tensor(2)
    """
    return _median(input, dim, keepdim, False)


@composite(methods=True)
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """median of what isn't NaN."""
    return _median(input, dim, keepdim, True)


def _median(input: Any, dim: int | None, keepdim: bool, ignore_nan: bool) -> Any:
    if input.dtype is bool_:
        raise NotImplementedError("median: implemented for numbers, got a bool tensor; call .int() first")
    if dim is not None:
        result = return_types.nanmedian if ignore_nan else return_types.median
        return result(*chosen(input, median_index(input, dim, ignore_nan), dim, keepdim))
    flat = input.reshape(-1)
    if 0 in input.sizes:
        return full((), math.nan, dtype=input.dtype)
    value: Any = chosen(flat, median_index(flat, 0, ignore_nan), 0, False)[0]
    if not flat.dtype.is_floating_point:
        return value
    equal = where(isnan(value), isnan(flat), flat == value.detach())
    return amax(where(equal, flat, -math.inf))  # so that elements equal to the median share its gradient


@composite(methods=True)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the most frequent element along `dim`, the smallest of equals."""
    return return_types.mode(*chosen(input, mode_index(input, dim), dim, keepdim))


# ------------------------------------------------------------------------------------------ quantiles

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@composite(methods=True)
def quantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    """The value below which a share `q` of the elements along `dim` lies, interpolated between the two nearest.

    `q` may be a 1-D tensor: then the result has a first dimension of its size. NaN if there is one.
    RuntimeError unless input is float32 or float64 and q within [0, 1].
    """
    return _quantile(input, q, dim, keepdim, interpolation, False)


@composite(methods=True)
def nanquantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    """quantile of what isn't NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


def _quantile(input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    _check_quantile(input, q, interpolation)
    q = full((), q, dtype=input.dtype) if not isinstance(q, TensorBase) else q
    rows = _last(input, dim)
    values = _between(sort(rows, -1).values, _ranks(rows, q, ignore_nan), interpolation)
    return _placed(values, input, q, dim, keepdim)


def _check_quantile(input: Any, q: Any, interpolation: str) -> None:
    if input.dtype not in (float32, float64):
        raise RuntimeError(f"quantile() input tensor must be either float or double dtype, got {input.dtype}")
    if 0 in input.sizes:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if isinstance(q, TensorBase):
        if q.dtype is not input.dtype:
            raise RuntimeError(f"quantile() q tensor must be same dtype as the input tensor, got {q.dtype}")
        if len(q.sizes) > 1:
            raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, got {len(q.sizes)} dimensions")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of {', '.join(INTERPOLATIONS)}, but got {interpolation}"
        )


def _last(input: Any, dim: int | None) -> Any:
    """The input with the dimension in question last; flat if there is none."""
    return input.reshape(-1) if dim is None or not input.sizes else input.movedim(dim, -1)


def _ranks(rows: Any, q: Any, ignore_nan: bool) -> Any:
    """For each row and quantile, the place (with a fraction) in the order of the row."""
    last = rows.sizes[-1] - 1
    nans = isnan(rows)
    if ignore_nan:
        last = clamp(sum(logical_not(nans), -1, True, dtype=rows.dtype) - 1, min=0.0)
        return q.reshape(-1) * last
    places = (q.reshape(-1) * last).expand(*rows.sizes[:-1], q.numel())
    return where(any(nans, -1, True), float(last), places)  # NaN is the largest, so it stands last


def _between(ordered: Any, ranks: Any, interpolation: str) -> Any:
    if interpolation == "lower":
        ranks = floor(ranks)
    elif interpolation == "higher":
        ranks = ceil(ranks)
    elif interpolation == "nearest":
        ranks = round(ranks)
    below = floor(ranks)
    low, high = (gather(ordered, -1, place.to(int64)) for place in (below, ceil(ranks)))
    if interpolation in ("linear", "midpoint"):
        return lerp(low, high, 0.5 if interpolation == "midpoint" else ranks - below)
    return low


def _placed(values: Any, input: Any, q: Any, dim: int | None, keepdim: bool) -> Any:
    """Quantiles first, if there are several; the reduced dimension of size 1, if it is kept."""
    values = values.movedim(-1, 0) if q.sizes else values.squeeze(-1)
    if not keepdim:
        return values
    if dim is None or not input.sizes:
        return values.reshape((*q.sizes, *[1] * len(input.sizes)))
    return values.unsqueeze(wrap_dim(dim, len(input.sizes)) + len(q.sizes))
