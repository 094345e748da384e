"""Derivatives of matrix products: each factor gets the gradient times the other factor, transposed.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.autograd import grad
>>> a, b = tensor([[1.0, 2.0]], requires_grad=True), tensor([[3.0], [4.0]], requires_grad=True)
>>> grad((a @ b).sum(), [a, b])
(tensor([[3., 4.]]), tensor([[1.],
        [2.]]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import ForOthers, Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops


def _transposed(x: Any) -> Any:
    return ops.transpose(x, -2, -1)


def left_gradient(grad: Tensor, left: Any, right: Tensor, product: Any) -> Any:
    """grad right^T, laid out in memory as `left` is: for a transposed `left` as the transpose of right grad^T."""
    if _column_major(left):
        return _transposed(product(right, _transposed(grad)))
    return product(grad, _transposed(right))


def right_gradient(grad: Tensor, left: Tensor, right: Any, product: Any) -> Any:
    """left^T grad, laid out in memory as `right` is.

    A linear layer's `right` is weight.T: the gradient of the weight comes out in row-major order, without a copy.
    """
    if _column_major(right):
        return _transposed(product(_transposed(grad), left))
    return product(_transposed(left), grad)


def _column_major(x: Any) -> bool:
    return x.strides[-2] == 1 and x.strides[-1] == x.sizes[-2] and x.sizes[-1] > 1


@derivative(ops.mm)
def _(grad: Tensor, out: Unused, x: ForOthers, y: ForOthers) -> Gradients:
    return lambda: left_gradient(grad, x, y, ops.mm), lambda: right_gradient(grad, x, y, ops.mm)


@derivative(ops.bmm)
def _(grad: Tensor, out: Unused, x: ForOthers, y: ForOthers) -> Gradients:
    return lambda: left_gradient(grad, x, y, ops.bmm), lambda: right_gradient(grad, x, y, ops.bmm)


@derivative(ops.addmm)
def _(grad: Tensor, out: Unused, bias: Layout, x: ForOthers, y: ForOthers, beta: float, alpha: float) -> Gradients:
    def scaled(gradient: Any, factor: float) -> Any:
        return gradient if factor == 1 else gradient * factor

    return (
        lambda: sum_to(scaled(grad, beta), bias),
        lambda: scaled(left_gradient(grad, x, y, ops.mm), alpha),
        lambda: scaled(right_gradient(grad, x, y, ops.mm), alpha),
    )
