"""How far elements lie from their mean.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.0, 3.0], [2.0, 8.0]])
>>> var(x, 1), std(x, 1, unbiased=False), var_mean(x, dim=0)
(tensor([ 2., 18.]), tensor([1., 3.]), (tensor([ 0.5000, 12.5000]), tensor([1.5000, 5.5000])))
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dims
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import FLOATING, complex32, complex64, float16, float32
from minitorch_compile.tensor.ops.pointwise import eq, sqrt, square, where
from minitorch_compile.tensor.ops.reduction import mean, sum

Axes = int | Sequence[int] | None
WIDER = {float16: float32, complex32: complex64}
NOT_FLOATING = "std and var only support floating point and complex dtypes, got {}; call .float() first"


@composite(methods=True)
def var(
    input: Tensor,
    dim: Axes | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The variance over `dim` (an int, several, or None for all), in two passes; the sum of squares is divided by count
    - correction. With `keepdim` the dimensions stay, with size 1.

    `correction` is 1 by default; `unbiased`=False means 0. A single bool in the place of `dim` is `unbiased`.
    RuntimeError for integers.

    >>> x = torch.tensor([[1.0, 3.0], [2.0, 6.0]])
    >>> x.var(dim=1), torch.var(x, dim=1, correction=0)
    (tensor([2., 8.]), tensor([1., 4.]))
    """
    return _var_mean(input, dim, unbiased, keepdim, correction)[0]


@composite(methods=True)
def std(
    input: Tensor,
    dim: Axes | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """The standard deviation over `dim` (an int, several, or None for all): the square root of var. `correction` is
    taken from the count that the squares are divided by, 1 by default; `unbiased`=False means 0. With `keepdim` the
    dimensions stay, with size 1. RuntimeError for integers.

    >>> x = torch.tensor([[1.0, 3.0], [2.0, 6.0]])
    >>> x.std(dim=1), torch.std(x, dim=1, correction=0)
    (tensor([1.4142, 2.8284]), tensor([1., 2.]))
    """
    return _root(_var_mean(input, dim, unbiased, keepdim, correction)[0])


@composite()
def var_mean(
    input: Tensor,
    dim: Axes | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(var, mean) over `dim`."""
    return _var_mean(input, dim, unbiased, keepdim, correction)


@composite()
def std_mean(
    input: Tensor,
    dim: Axes | bool = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(std, mean) over `dim`."""
    variance, average = _var_mean(input, dim, unbiased, keepdim, correction)
    return _root(variance), average


def _root(variance: Any) -> Any:
    """The square root, whose gradient at 0 is 0: elements that are all equal pull nowhere."""
    at_zero = eq(variance, 0)
    return where(at_zero, 0.0, sqrt(where(at_zero, 1.0, variance)))


def _var_mean(input: Any, dim: Any, unbiased: bool | None, keepdim: bool, correction: float | None) -> tuple[Any, Any]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError("var/std: unbiased and correction say the same; give one of them")
        correction = int(unbiased)
    if input.dtype.category < FLOATING:
        raise RuntimeError(NOT_FLOATING.format(input.dtype))
    if input.dtype in WIDER:  # whose squares overflow early, and whose sums lose digits
        variance, average = _var_mean(input.to(WIDER[input.dtype]), dim, None, keepdim, correction)
        return variance.to(float16), average.to(input.dtype)
    dims = wrap_dims(dim, len(input.sizes))
    average = mean(input, dims, True)
    centred = input - average
    count = numel(input.sizes[d] for d in dims)
    freedom = builtins.max(count - (1 if correction is None else correction), 0)
    squares = square(centred.real) + square(centred.imag) if input.dtype.is_complex else centred * centred
    variance = sum(squares, dims, keepdim) / freedom
    return variance, average if keepdim else average.squeeze(dims)
