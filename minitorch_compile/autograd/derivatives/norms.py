"""The derivative of the vector norm, with 0 for the gradient where the norm has a kink, as PyTorch chooses.

>>> from minitorch_compile.tensor import ops, tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([[3.0, -4.0], [0.0, 0.0]], requires_grad=True)
>>> grad(ops.linalg_vector_norm(x, dim=1).sum(), x)
(tensor([[ 0.6000, -0.8000],
        [ 0.0000,  0.0000]]),)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, derivative
from minitorch_compile.autograd.derivatives.reduction import Dims, keep_dims
from minitorch_compile.tensor import Tensor, ops


@derivative(ops._vector_norm)
def _(grad: Tensor, out: Tensor, x: Tensor, dim: Dims, keepdim: bool, ord: float) -> Gradients:
    if ord == 0:
        return None  # how many elements are not 0: a staircase
    grad, out = keep_dims(grad, x, dim, keepdim), keep_dims(out, x, dim, keepdim)
    if ord == 1:
        return grad * ops.sgn(x)
    if ord == 2:
        return x * _unless_zero(grad / out, out)
    if math.isinf(ord):
        extreme = ops.to_copy(ops.abs(x) == out, out.dtype)
        return ops.sgn(x) * (extreme * grad / ops.sum(extreme, dim, True))
    power = _unless_zero(ops.pow(ops.abs(x), ord - 1), x)
    return ops.sgn(x) * power * _unless_zero(grad / ops.pow(out, ord - 1), out)


def _unless_zero(value: Any, x: Any) -> Any:
    """The value, or 0 where x is 0."""
    return ops.where(x == 0, ops.full((), 0.0, value.dtype), value)
