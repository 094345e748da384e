"""Derivatives of pooling: the gradient of a maximum goes to the element that was the maximum.

>>> from minitorch_compile.tensor import arange, ops
>>> from minitorch_compile.autograd import grad
>>> x = arange(4.0).view(1, 1, 2, 2).requires_grad_()
>>> grad(ops.max_pool2d(x, 2).sum(), x)
(tensor([[[[0., 0.],
          [0., 1.]]]]),)
"""

from __future__ import annotations

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative
from minitorch_compile.tensor import Tensor, ops

Pair = tuple[int, int]


@derivative(ops.max_pool2d_with_indices)
def _(
    grad: tuple[Tensor, None],
    out: tuple[Unused, Tensor],
    x: Layout,
    kernel_size: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    ceil_mode: bool,
) -> Gradients:
    return ops.max_pool2d_with_indices_backward(grad[0], out[1], tuple(x.sizes))


@derivative(ops.max_pool2d_with_indices_backward)
def _(grad: Tensor, out: Unused, upper: Layout, indices: Tensor, input_sizes: tuple[int, ...]) -> Gradients:
    planes = tuple(input_sizes[:2])
    chosen = ops.gather(grad.reshape(*planes, -1), 2, indices.reshape(*planes, -1))
    return chosen.reshape(tuple(upper.sizes))
