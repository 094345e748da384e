"""Derivatives of indexing: reading an element sends its gradient back to where it was read, added up if read twice.

>>> from minitorch_compile.tensor import ones, tensor
>>> from minitorch_compile.autograd import grad
>>> x = ones(3, requires_grad=True)
>>> grad(x[tensor([0, 0, 2])].sum(), x)
(tensor([2., 0., 1.]),)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops


def _zeros(x: Any) -> Any:
    return ops.full(tuple(x.sizes), 0, x.dtype)


@derivative(ops.gather)
def _(grad: Tensor, out: Unused, x: Layout, dim: int, index: Tensor) -> Gradients:
    return ops.scatter_add(_zeros(x), dim, index, grad)


@derivative(ops.scatter_add)
def _(grad: Tensor, out: Unused, x: Unused, dim: int, index: Tensor, src: Layout) -> Gradients:
    return grad, None, None, lambda: _as_large_as(src, ops.gather(grad, dim, index))


def _as_large_as(src: Layout, grad: Tensor) -> Any:
    """Zeros in the part of `src` that the index didn't reach."""
    for d, n in enumerate(src.sizes):
        if grad.sizes[d] != n:
            rest = [n - grad.sizes[d] if i == d else m for i, m in enumerate(grad.sizes)]
            grad = ops.cat([grad, ops.full(tuple(rest), 0, grad.dtype)], d)
    return grad


@derivative(ops.index)
def _(grad: Tensor, out: Unused, x: Layout, indices: Tensor) -> Gradients:
    return ops.index_put(_zeros(x), indices, grad, True)


@derivative(ops.index_put)
def _(grad: Tensor, out: Unused, x: Unused, indices: Tensor, values: Layout, accumulate: bool) -> Gradients:
    def by_input() -> Any:
        return grad if accumulate else ops.index_put(grad, indices, ops.full((), 0, grad.dtype), False)

    return by_input, None, lambda: sum_to(ops.index(grad, indices), values)


@derivative(ops.embedding)
def _(grad: Tensor, out: Unused, input: Tensor, weight: Layout, padding_idx: int | None) -> Gradients:
    if padding_idx is not None:
        padding = padding_idx % weight.sizes[0]
        grad = ops.where(ops.unsqueeze(input == padding, -1), 0.0, grad)
    return None, ops.index_put(_zeros(weight), [input], grad, True)


@derivative(ops.tril)
def _(grad: Tensor, out: Unused, x: Unused, diagonal: int) -> Gradients:
    return ops.tril(grad, diagonal)


@derivative(ops.triu)
def _(grad: Tensor, out: Unused, x: Unused, diagonal: int) -> Gradients:
    return ops.triu(grad, diagonal)
