"""Derivatives of ops that put tensors together: each gets its part of the gradient.

>>> from minitorch_compile.tensor import ones, ops
>>> from minitorch_compile.autograd import grad
>>> x, y = ones(1, requires_grad=True), ones(2, requires_grad=True)
>>> grad((ops.cat([x, y]) * ops.arange(3)).sum(), [x, y])
(tensor([0.]), tensor([1., 2.]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.ops.joining import is_nothing


@derivative(ops.cat)
def _(grad: Tensor, out: Unused, tensors: Layout, dim: int) -> Gradients:
    return lambda: _parts(grad, tensors, dim)  # type: ignore[arg-type]  # one Layout for each tensor of the list


def _parts(grad: Tensor, tensors: Sequence[Layout], dim: int) -> list[Tensor]:
    at = wrap_dim(dim, len(grad.sizes))
    parts, start = [], 0
    for x in tensors:
        if is_nothing(x.sizes):
            parts.append(ops.full((0,), 0, x.dtype))
            continue
        end = start + x.sizes[at]
        parts.append(sum_to(ops.slice(grad, at, start, end), x))
        start = end
    return parts


@derivative(ops.split_with_sizes_copy)
def _(grad: Any, out: Unused, x: Layout, split_sizes: Sequence[int], dim: int) -> Gradients:
    at = wrap_dim(dim, len(x.sizes))

    def zeros(size: int) -> Any:
        return ops.full((*x.sizes[:at], size, *x.sizes[at + 1 :]), 0, x.dtype)

    grads = grad if isinstance(grad, tuple) else (grad,)
    return ops.cat([zeros(size) if g is None else g for g, size in zip(grads, split_sizes, strict=True)], at)
