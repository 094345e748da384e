"""Derivatives of pooling: the gradient of a maximum goes to the element that was the maximum, the gradient of a mean to
all that it was taken of. Each op and its backward are linear, and each is the other's derivative.

>>> from minitorch_compile.tensor import arange, ops
>>> from minitorch_compile.autograd import grad
>>> x = arange(4.0).view(1, 1, 2, 2).requires_grad_()
>>> grad(ops.max_pool2d(x, 2).sum(), x), grad(ops.avg_pool2d(x, 2).sum(), x)
((tensor([[[[0., 0.],
          [0., 1.]]]]),), (tensor([[[[0.2500, 0.2500],
          [0.2500, 0.2500]]]]),))
"""

from __future__ import annotations

import math

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative
from minitorch_compile.tensor import Tensor, ops

Ints = tuple[int, ...]


@derivative(ops.max_pool_with_indices)
def _(
    grad: tuple[Tensor, None],
    out: tuple[Unused, Tensor],
    x: Layout,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> Gradients:
    return ops.max_pool_with_indices_backward(grad[0], out[1], tuple(x.sizes))


@derivative(ops.max_pool_with_indices_backward)
def _(grad: Tensor, out: Unused, upper: Layout, indices: Tensor, input_sizes: Ints) -> Gradients:
    planes = tuple(input_sizes[:2])
    flat_indices = indices.reshape(*planes, math.prod(indices.sizes[2:]))
    chosen = ops.gather(grad.reshape(*planes, math.prod(input_sizes[2:])), 2, flat_indices)
    return chosen.reshape(tuple(upper.sizes))


@derivative(ops.avg_pool)
def _(
    grad: Tensor,
    out: Unused,
    x: Layout,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Gradients:
    how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return ops.avg_pool_backward(grad, tuple(x.sizes), *how)


@derivative(ops.avg_pool_backward)
def _(
    grad: Tensor,
    out: Unused,
    upper: Layout,
    input_sizes: Ints,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Gradients:
    return ops.avg_pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@derivative(ops.resample)
def _(
    grad: Tensor,
    out: Unused,
    x: Layout,
    dim: int,
    places: Tensor,
    weights: Tensor,
    back_places: Tensor,
    back_weights: Tensor,
) -> Gradients:
    return ops.resample(grad, dim, back_places, back_weights, places, weights)


@derivative(ops.constant_pad_nd)
def _(grad: Tensor, out: Unused, x: Layout, pad: Ints, value: float) -> Gradients:
    return ops.constant_pad_nd(grad, [-n for n in pad])
