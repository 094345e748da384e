"""Derivatives of copies: the gradient is copied back, or converted back.

>>> from minitorch_compile.tensor import float64, ones
>>> from minitorch_compile.autograd import grad
>>> x = ones(2, requires_grad=True)
>>> grad((x.to(float64) * 2).sum(), x)
(tensor([2., 2.]),)
"""

from __future__ import annotations

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, dtype, ops
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.memory.memory_format import memory_format


@derivative(ops.clone)
def _(grad: Tensor, out: Unused, x: Unused, memory_format: memory_format | None) -> Gradients:
    return grad


@derivative(ops.to_copy)
def _(grad: Tensor, out: Unused, x: Layout, dtype: dtype, memory_format: memory_format | None) -> Gradients:
    return sum_to(grad, x)


@derivative(ops.to_device)
def _(grad: Tensor, out: Unused, x: Layout, device: device, non_blocking: bool) -> Gradients:
    return ops.to_device(grad, x.device)


@derivative(ops.contiguous_copy)
def _(grad: Tensor, out: Unused, x: Unused) -> Gradients:
    return grad


@derivative(ops.copy)
def _(grad: Tensor, out: Unused, x: Layout, src: Layout, non_blocking: bool) -> Gradients:
    return lambda: ops.full(tuple(x.sizes), 0, x.dtype), lambda: sum_to(grad, src)


@derivative(ops.fill)
def _(grad: Tensor, out: Unused, x: Layout, value: float) -> Gradients:
    return ops.full(tuple(x.sizes), 0, x.dtype)
