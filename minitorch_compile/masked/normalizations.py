"""Operations along a dimension, as if it had only those elements that count.

>>> from minitorch_compile import tensor
>>> softmax(tensor([0.0, 0.0, 9.0]), 0, mask=tensor([True, True, False]))
tensor([0.5000, 0.5000, 0.0000])

What is left out gets no meaning: 0 here, another value there.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.masked.masking import DType, canonical, left_out
from minitorch_compile.masked.reductions import Input, norm
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, ops


def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Any = None) -> Any:
    """Sums of what counts up to here."""
    (along,) = canonical(dim, input.ndim)
    wanted = dtype or input.dtype
    return ops.cumsum(left_out("sum", input, mask), along, dtype=wanted).to(dtype=wanted)


def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Any = None) -> Any:
    """Products of what counts up to here."""
    (along,) = canonical(dim, input.ndim)
    wanted = dtype or input.dtype
    return ops.cumprod(left_out("prod", input, mask), along, dtype=wanted).to(dtype=wanted)


def softmax(input: Input, dim: int, *, dtype: DType | None = None, mask: Any = None) -> Any:
    """exp(x) / sum(exp(x)) over what counts."""
    (along,) = canonical(dim, input.ndim)
    return F.softmax(left_out("amax", input, mask).to(dtype or input.dtype), along)


def log_softmax(input: Input, dim: int, *, dtype: DType | None = None, mask: Any = None) -> Any:
    """The logarithm of `softmax`."""
    (along,) = canonical(dim, input.ndim)
    return F.log_softmax(left_out("amax", input, mask).to(dtype or input.dtype), along)


def softmin(input: Input, dim: int, *, dtype: DType | None = None, mask: Any = None) -> Any:
    """exp(-x) / sum(exp(-x)) over what counts."""
    (along,) = canonical(dim, input.ndim)
    return F.softmin(left_out("amin", input, mask).to(dtype or input.dtype), along)


def normalize(
    input: Input, ord: float, dim: int, *, eps: float = 1e-12, dtype: DType | None = None, mask: Any = None
) -> Any:
    """x divided by the norm of what counts, which is at least `eps`."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return left_out("sum", input, mask) / ops.maximum(length, length.new_full([], eps))


def logaddexp(
    input: Input, other: Input, *, dtype: DType | None = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    """log(exp(x) + exp(y)), where what is left out is -inf."""
    first, second = left_out("logaddexp", input, input_mask), left_out("logaddexp", other, other_mask)
    return ops.logaddexp(first, second).to(dtype=dtype or input.dtype)
