"""Derivatives of convolution. The op and its two gradients are three products of one family: each pair gives the third.

>>> from minitorch_compile.tensor import ones, ops
>>> from minitorch_compile.autograd import grad
>>> x, w = ones(1, 1, 3, 3), ones(1, 1, 2, 2, requires_grad=True)
>>> grad(ops.conv2d(x, w).sum(), w)
(tensor([[[[4., 4.],
          [4., 4.]]]]),)
"""

from __future__ import annotations

from minitorch_compile.autograd.derivative_table import ForOthers, Gradients, Layout, Unused, derivative
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.memory_format import contiguous_format, suggested_format

Ints = tuple[int, ...]


def _ordered(grad: Tensor, x: Layout, weight: Layout) -> Tensor:
    """A gradient in the memory order that the convolution had: channels last if its input or its weight lies so."""
    orders = [suggested_format(layout.sizes, layout.strides) for layout in (x, weight)]
    order = next((o for o in orders if o is not contiguous_format), contiguous_format)
    return grad if suggested_format(grad.sizes, grad.strides) is order else ops.clone(grad, memory_format=order)


@derivative(ops.convolution)
def _(
    grad: Tensor,
    out: Unused,
    x: ForOthers,
    weight: ForOthers,
    bias: Layout,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Gradients:
    return (
        lambda: _ordered(
            ops.convolution_input_grad(grad, weight, tuple(x.sizes), stride, padding, dilation, groups), x, weight
        ),
        lambda: _ordered(
            ops.convolution_weight_grad(grad, x, tuple(weight.sizes), stride, padding, dilation, groups), x, weight
        ),
        lambda: ops.sum(grad, (0, *range(2, 2 + len(stride)))),
    )


@derivative(ops.convolution_input_grad)
def _(
    grad: Tensor,
    out: Unused,
    upper: ForOthers,
    weight: ForOthers,
    input_sizes: tuple[int, ...],
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Gradients:
    return (
        lambda: _ordered(ops.convolution(grad, weight, None, stride, padding, dilation, groups), upper, weight),
        lambda: _ordered(
            ops.convolution_weight_grad(upper, grad, tuple(weight.sizes), stride, padding, dilation, groups),
            upper,
            weight,
        ),
    )


@derivative(ops.convolution_weight_grad)
def _(
    grad: Tensor,
    out: Unused,
    upper: ForOthers,
    x: ForOthers,
    weight_sizes: tuple[int, ...],
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Gradients:
    return (
        lambda: ops.convolution(x, grad, None, stride, padding, dilation, groups),
        lambda: ops.convolution_input_grad(upper, grad, tuple(x.sizes), stride, padding, dilation, groups),
    )


@derivative(ops.im2col)
def _(
    grad: Tensor, out: Unused, x: Layout, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> Gradients:
    return ops.col2im(grad, tuple(x.sizes[2:]), kernel_size, dilation, padding, stride)


@derivative(ops.col2im)
def _(
    grad: Tensor,
    out: Unused,
    columns: Unused,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> Gradients:
    return ops.im2col(grad, kernel_size, dilation, padding, stride)
