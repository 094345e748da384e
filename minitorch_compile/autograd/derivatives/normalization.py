"""Derivatives of normalisation.

>>> from minitorch_compile.tensor import ones, ops, tensor
>>> from minitorch_compile.autograd import grad
>>> x, w = tensor([[1.0, 3.0]]), ones(2, requires_grad=True)
>>> grad(ops.layer_norm(x, (2,), w).sum(), w)
(tensor([-1.0000,  1.0000]),)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.strides import numel

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
    normalized = (x - mean) * rstd

    def by_input() -> Any:
        count = numel(normalized_shape)
        scaled = upper if upper is None or weight is None else upper * weight
        by_rstd_too = None if by_rstd is None else by_rstd * (-rstd * rstd / count) * normalized
        return _total(_through_statistics(scaled, normalized, rstd, dims), _share(by_mean, count, x), by_rstd_too)

    return (
        by_input,
        None,
        lambda: None if upper is None else sum_to(upper * normalized, weight),
        lambda: None if upper is None else sum_to(upper, bias),
    )


@derivative(ops.native_batch_norm)
def _(
    grad: Grads, out: tuple[Unused, Tensor, Tensor], x: Tensor, weight: Tensor, bias: Layout, eps: float
) -> Gradients:
    (upper, by_mean, by_variance), (_, mean, variance) = grad, out
    dims = [d for d in range(len(x.sizes)) if d != 1]
    channel = (-1, *[1] * (len(x.sizes) - 2))
    rstd = ops.rsqrt(variance + eps)
    normalized = (x - mean) * rstd

    def by_input() -> Any:
        count = numel(x.sizes[d] for d in dims)
        scaled = upper if upper is None or weight is None else upper * ops.reshape(weight, channel)
        by_variance_too = None if by_variance is None else by_variance * (x - mean) * (2 / count)
        return _total(_through_statistics(scaled, normalized, rstd, dims), _share(by_mean, count, x), by_variance_too)

    return (
        by_input,
        lambda: None if upper is None else ops.reshape(ops.sum(upper * normalized, dims), tuple(weight.sizes)),
        lambda: None if upper is None else ops.reshape(ops.sum(upper, dims), tuple(bias.sizes)),
    )


def _through_statistics(grad: Any, normalized: Tensor, rstd: Tensor, dims: Sequence[int]) -> Any:
    """The gradient less its mean and less its part along what is normalised: moving along these changes nothing.

    With n = normalized, mean' = 1/N and rstd' = -rstd^2 n / N for a row of N elements.
    """
    if grad is None:
        return None
    return (grad - ops.mean(grad, dims, True) - normalized * ops.mean(grad * normalized, dims, True)) * rstd


def _share(by_mean: Any, count: int, x: Tensor) -> Any:
    """What each element gets of the gradient of the mean."""
    return None if by_mean is None else ops.expand(by_mean / count, tuple(x.sizes))


def _total(*parts: Any) -> Any:
    """The sum of the gradients that there are."""
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total
