"""The derivative of layer normalisation.

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
    upper, (_, mean, rstd) = grad[0], out
    dims = tuple(range(len(x.sizes) - len(normalized_shape), len(x.sizes)))
    normalized = (x - mean) * rstd
    return (
        lambda: _input_gradient(grad, normalized, rstd, weight, dims),
        None,
        lambda: None if upper is None else sum_to(upper * normalized, weight),
        lambda: None if upper is None else sum_to(upper, bias),
    )


def _input_gradient(grad: Grads, normalized: Tensor, rstd: Tensor, weight: Tensor | None, dims: tuple[int, ...]) -> Any:
    """The row's gradient less its mean and less its part along the normalised row: moving along these changes nothing.

    With n = normalized, mean' = 1/N and rstd' = -rstd^2 n / N for a row of N elements.
    """
    upper, by_mean, by_rstd = grad
    total = None
    if upper is not None:
        g = upper if weight is None else upper * weight
        total = (g - ops.mean(g, dims, True) - normalized * ops.mean(g * normalized, dims, True)) * rstd
    count = 1
    for d in dims:
        count *= normalized.sizes[d]
    if by_mean is not None:
        total = _plus(total, ops.expand(by_mean / count, tuple(normalized.sizes)))
    if by_rstd is not None:
        total = _plus(total, by_rstd * (-rstd * rstd / count) * normalized)
    return total


def _plus(total: Any, part: Any) -> Any:
    return part if total is None else total + part
