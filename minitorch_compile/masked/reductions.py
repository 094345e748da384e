"""Reductions that leave out what a mask says.

>>> from minitorch_compile import tensor
>>> x = tensor([[-3.0, -2.0, -1.0], [0.0, 1.0, 2.0]])
>>> known = tensor([[True, False, True], [False, False, False]])
>>> sum(x, 1, mask=known), amax(x, 1, mask=known), mean(x, 1, mask=known)
(tensor([-4., 0.]), tensor([-1., -inf]), tensor([-2., nan]))

`mask` is broadcast to the input; without it everything counts. A MaskedTensor brings its own.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import linalg
from minitorch_compile.masked.masked_tensor import MaskedTensor
from minitorch_compile.masked.masking import Dim, DType, canonical, left_out, mask_for
from minitorch_compile.tensor import Tensor, float32, int64, ops

Input = Tensor | MaskedTensor


def _summed_dtype(input: Any, dtype: DType | None) -> DType:
    """Integers add up as int64, if no dtype is named."""
    kind = input.dtype
    small = not (kind.is_floating_point or kind.is_complex)
    return dtype or (int64 if small else kind)


def sum(
    input: Input, dim: Dim = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """The sum of what counts; 0 where nothing does."""
    dims = canonical(dim, input.ndim)
    return ops.sum(left_out("sum", input, mask), dims, bool(keepdim), dtype=_summed_dtype(input, dtype))


def prod(
    input: Input, dim: Dim = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """The product of what counts; 1 where nothing does."""
    dims = canonical(dim, input.ndim)
    result = left_out("prod", input, mask).to(dtype=_summed_dtype(input, dtype))
    for d in reversed(dims):
        result = ops.prod(result, d, bool(keepdim))
    return result


def amax(
    input: Input, dim: Dim = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """The largest of what counts; the least value of the dtype where nothing does."""
    given = left_out("amax", input, mask)
    return ops.amax(given, canonical(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def amin(
    input: Input, dim: Dim = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """The least of what counts; the largest value of the dtype where nothing does."""
    given = left_out("amin", input, mask)
    return ops.amin(given, canonical(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(
    input: Input, dim: int | None = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """Where the largest of what counts is, as a number of the input's dtype, unless another is named."""
    return ops.argmax(left_out("argmax", input, mask), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(
    input: Input, dim: int | None = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """Where the least of what counts is, as a number of the input's dtype, unless another is named."""
    return ops.argmin(left_out("argmin", input, mask), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def _count(input: Any, dim: Dim, keepdim: bool, mask: Any) -> Any:
    """How many elements count."""
    counted = ops.ones(input.shape, dtype=int64) if mask is None else mask_for(input, mask).to(int64)
    return ops.sum(counted, canonical(dim, input.ndim), keepdim)


def mean(
    input: Input, dim: Dim = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """The mean of what counts; nan where nothing does. ValueError for a dtype without fractions."""
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype."
            f" Got: {wanted}"
        )
    count = _count(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=wanted, mask=mask) / count


def median(input: Input, dim: int = -1, *, keepdim: bool = False, dtype: DType | None = None, mask: Any = None) -> Any:
    """The lower median of what counts; nan where nothing does, ValueError if the dtype has no nan."""
    (along,) = canonical(dim, input.ndim)
    floating = input.dtype.is_floating_point
    found = ops.nanmedian(left_out("median", input if floating else input.to(float32), mask), along, keepdim).values
    if floating:
        return found
    if ops.isnan(found).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(dtype=dtype or input.dtype)


def logsumexp(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, dtype: DType | None = None, mask: Any = None
) -> Any:
    """log(sum(exp(x))) of what counts; -inf where nothing does."""
    dims = canonical(dim, input.ndim)
    return ops.logsumexp(left_out("logsumexp", input, mask), dims, keepdim).to(dtype=dtype or input.dtype)


def norm(
    input: Input,
    ord: float | None = 2.0,
    dim: Dim = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Any = None,
) -> Any:
    """The vector norm of what counts, as linalg.vector_norm takes it."""
    length: Any = ord
    given = left_out("norm", input, mask, length)
    return linalg.vector_norm(given, length, canonical(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def _correction(unbiased: bool | None, correction: float | None) -> float:
    """What is taken from the count. AssertionError if it is said twice."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        return 1.0 if unbiased is None or unbiased else 0.0
    return float(correction)


def var(
    input: Input,
    dim: Dim = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Any = None,
) -> Any:
    """The variance of what counts, divided by the count less `correction` (1, unless it or `unbiased` says another)."""
    less = _correction(unbiased, correction)
    kind = input.dtype
    wanted = dtype or (kind if kind.is_floating_point or kind.is_complex else float32)
    computed = wanted if wanted.is_floating_point or wanted.is_complex else float32
    middle = sum(input, dim, keepdim=True, dtype=wanted, mask=mask) / _count(input, dim, True, mask)
    apart = ops.sub(input, middle)
    total = sum(apart * ops.conj(apart), dim, keepdim=keepdim, dtype=computed, mask=mask)
    count = _count(input, dim, bool(keepdim), mask)
    if less:
        real = ops.real(total).dtype if computed.is_complex else computed
        count = ops.clamp(count.to(real) - less, min=0)
    return (total / count).to(dtype=wanted)


def std(
    input: Input,
    dim: Dim = None,
    unbiased: bool | None = None,
    *,
    correction: int | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Any = None,
) -> Any:
    """The square root of the variance."""
    return ops.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))
