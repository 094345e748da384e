"""Gradients of convolutions by themselves, as PyTorch has them.

>>> from minitorch_compile import ones
>>> conv1d_weight(ones(1, 1, 4), (1, 1, 3), ones(1, 1, 2))
tensor([[[2., 2., 2.]]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd import grad
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.grad_mode import enable_grad


def _of_input(conv: Callable[..., Any], input_size: Any, weight: Tensor, grad_output: Tensor, *rest: Any) -> Any:
    """What d loss / d output is for the input, which the gradient doesn't depend on: the product is linear in it."""
    with enable_grad():
        x = ops.zeros(tuple(input_size), dtype=weight.dtype).requires_grad_()
        return grad(conv(x, weight, None, *rest), x, grad_output)[0]


def _of_weight(conv: Callable[..., Any], input: Tensor, weight_size: Any, grad_output: Tensor, *rest: Any) -> Any:
    with enable_grad():
        w = ops.zeros(tuple(weight_size), dtype=input.dtype).requires_grad_()
        return grad(conv(input, w, None, *rest), w, grad_output)[0]


def conv1d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of conv1d with respect to an input of `input_size`."""
    return _of_input(F.conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of conv1d with respect to a weight of `weight_size`."""
    return _of_weight(F.conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of conv2d with respect to an input of `input_size`."""
    return _of_input(F.conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of conv2d with respect to a weight of `weight_size`."""
    return _of_weight(F.conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of conv3d with respect to an input of `input_size`."""
    return _of_input(F.conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of conv3d with respect to a weight of `weight_size`."""
    return _of_weight(F.conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)
