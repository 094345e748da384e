"""Derivatives of normalisation.

>>> from minitorch_compile.tensor import ones, ops, tensor
>>> from minitorch_compile.autograd import grad
>>> x, w = tensor([[1.0, 3.0]]), ones(2, requires_grad=True)
>>> grad(ops.layer_norm(x, (2,), w).sum(), w)
(tensor([-1.0000,  1.0000]),)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float32

Grads = tuple[Tensor | None, Tensor | None, Tensor | None]


@derivative(ops.native_layer_norm)
def _(
    grad: Grads,
    out: tuple[Unused, Tensor, Tensor],
    x: Tensor,
    normalized_shape: tuple[int, ...],
    weight: Tensor,
    bias: Layout,
    eps: float,
) -> Gradients:
    (upper, by_mean, by_rstd), (_, mean, rstd) = grad, out
    dims = tuple(range(len(x.sizes) - len(normalized_shape), len(x.sizes)))
    count = numel(normalized_shape)
    upper, centred = wide(upper), wide(x) - mean

    def by_input() -> Any:
        by_rstd_too = None if by_rstd is None else by_rstd * (-rstd * rstd * rstd / count) * centred
        by_out = None
        if upper is not None:
            scaled = upper if weight is None else upper * wide(weight)
            total, along = ops.sum(scaled, dims, True), ops.sum(scaled * centred, dims, True)
            by_out = _through_statistics(scaled, total, along, centred, rstd, count) * rstd
        return _total(x, by_out, _share(by_mean, count, x), by_rstd_too)

    return (
        by_input,
        None,
        lambda: None if upper is None else sum_to(upper * (centred * rstd), weight),
        lambda: None if upper is None else sum_to(upper, bias),
    )


@derivative(ops.native_batch_norm)
def _(
    grad: Grads, out: tuple[Unused, Tensor, Tensor], x: Tensor, weight: Tensor, bias: Layout, eps: float
) -> Gradients:
    (upper, by_mean, by_variance), (_, mean, variance) = grad, out
    dims = [d for d in range(len(x.sizes)) if d != 1]
    count = numel(x.sizes[d] for d in dims)
    upper, centred, rstd = wide(upper), wide(x) - mean, ops.rsqrt(variance + eps)
    total = along = None
    if upper is not None:
        total, along = ops.sum(upper, dims, True), ops.sum(upper * centred, dims, True)

    def by_input() -> Any:
        by_variance_too = None if by_variance is None else by_variance * centred * (2 / count)
        by_out = None
        if upper is not None:
            scale = rstd if weight is None else rstd * ops.reshape(wide(weight), (-1, *[1] * (len(x.sizes) - 2)))
            by_out = _through_statistics(upper, total, along, centred, rstd, count) * scale
        return _total(x, by_out, _share(by_mean, count, x), by_variance_too)

    return (
        by_input,
        lambda: None if along is None else sum_to(ops.reshape(along * rstd, tuple(weight.sizes)), weight),
        lambda: None if total is None else sum_to(ops.reshape(total, tuple(bias.sizes)), bias),
    )


def _through_statistics(grad: Any, total: Any, along: Any, centred: Any, rstd: Any, count: int) -> Any:
    """The gradient less its mean and less its part along what is normalised: moving along these changes nothing.

    `total` is the sum of the gradient, `along` that of the gradient times what is centred. With n = centred * rstd,
    mean' = 1/N and rstd' = -rstd^2 n / N for a row of N elements.
    """
    return grad - (centred * (rstd * (rstd * along / count)) + total / count)  # rstd * rstd has no float16


def _share(by_mean: Any, count: int, x: Tensor) -> Any:
    """What each element gets of the gradient of the mean."""
    return None if by_mean is None else ops.expand(by_mean / count, tuple(x.sizes))


def wide(x: Any) -> Any:
    """Half precision in float32, in which the statistics are, too: gradients are rounded once."""
    return x if x is None or x.dtype.itemsize >= 4 else ops.to_copy(x, float32)


def _total(x: Tensor, *parts: Any) -> Any:
    """The sum of the gradients that there are, in the dtype of `x`."""
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total if total is None else ops.to(total, x.dtype)
