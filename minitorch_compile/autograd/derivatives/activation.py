"""Derivatives of activations. At a kink they are PyTorch's choice: 0 at the ends of hardtanh, for instance.

>>> from minitorch_compile.tensor import ops, tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([-2.0, 0.0, 6.0], requires_grad=True)
>>> grad(ops.hardtanh(x, 0.0, 6.0).sum(), x)
(tensor([0., 0., 0.]),)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops


@derivative(ops.hardtanh)
def _(grad: Tensor, out: Unused, x: Tensor, low: float, high: float) -> Gradients:
    return ops.where(ops.logical_or(x <= low, x >= high), 0.0, grad)


@derivative(ops.leaky_relu)
def _(grad: Tensor, out: Unused, x: Tensor, negative_slope: float) -> Gradients:
    return ops.where(x > 0, grad, grad * negative_slope)


@derivative(ops.elu)
def _(grad: Tensor, out: Unused, x: Tensor, alpha: float, scale: float, input_scale: float) -> Gradients:
    below = ops.exp(ops.where(x < 0, x, 0.0) * input_scale) * (alpha * scale * input_scale)
    return grad * ops.where(x <= 0, below, scale)


@derivative(ops.hardsigmoid)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return ops.where(ops.logical_and(x > -3, x < 3), grad / 6, 0.0)


@derivative(ops.hardswish)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return ops.where(x <= -3, 0.0, ops.where(x < 3, grad * (x / 3 + 0.5), grad))


@derivative(ops.softplus)
def _(grad: Tensor, out: Unused, x: Tensor, beta: float, threshold: float) -> Gradients:
    scaled = x * beta
    return ops.where(scaled > threshold, grad, grad * ops.sigmoid(scaled))


@derivative(ops.log_sigmoid)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.sigmoid(-x)


@derivative(ops.binary_cross_entropy)
def _(grad: Tensor, out: Unused, x: Tensor, target: Tensor) -> Gradients:
    def by_target() -> Any:
        return sum_to(grad * (ops.log1p(-x) - ops.log(x)), target)

    return lambda: sum_to(grad * (x - target) / ops.clamp((1 - x) * x, min=1e-12), x), by_target
