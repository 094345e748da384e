"""Derivatives of views: the gradient is viewed the other way round.

>>> from minitorch_compile.tensor import ones
>>> from minitorch_compile.autograd import grad
>>> x = ones(2, 2, requires_grad=True)
>>> grad(x[:, 0].sum(), x)
(tensor([[1., 0.],
        [1., 0.]]),)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.autograd.memory_order import check_inside, places, unflatten
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.memory.viewing import clipped_range
from minitorch_compile.tensor.ops.view_writing import add_windows, with_diagonal

Ints = tuple[int, ...]


@derivative(ops.view)
def _(grad: Tensor, out: Unused, x: Layout, size: Ints) -> Gradients:
    return ops.reshape(grad, tuple(x.sizes))


@derivative(ops.as_strided)
def _(grad: Tensor, out: Unused, x: Layout, size: Ints, stride: Ints, storage_offset: int | None) -> Gradients:
    first = 0 if storage_offset is None else storage_offset - x.offset
    check_inside(size, stride, first, x)
    flat = ops.full((numel(x.sizes),), 0, grad.dtype)
    return unflatten(ops.index_put(flat, [places(size, stride, first)], grad, True), x)


@derivative(ops.permute)
def _(grad: Tensor, out: Unused, x: Unused, dims: Ints) -> Gradients:
    order = [wrap_dim(d, len(dims)) for d in dims]
    return ops.permute(grad, tuple(order.index(d) for d in range(len(order))))


@derivative(ops.transpose)
def _(grad: Tensor, out: Unused, x: Unused, dim0: int, dim1: int) -> Gradients:
    return ops.transpose(grad, dim0, dim1)


@derivative(ops.t)
def _(grad: Tensor, out: Unused, x: Unused) -> Gradients:
    return ops.t(grad)


@derivative(ops.expand)
def _(grad: Tensor, out: Unused, x: Layout, size: Ints) -> Gradients:
    return sum_to(grad, x)


@derivative(ops.unsqueeze)
def _(grad: Tensor, out: Unused, x: Unused, dim: int) -> Gradients:
    return ops.squeeze(grad, dim)


@derivative(ops.squeeze)
def _(grad: Tensor, out: Unused, x: Layout, dim: int | Sequence[int] | None) -> Gradients:
    return ops.reshape(grad, tuple(x.sizes))


@derivative(ops.select)
def _(grad: Tensor, out: Unused, x: Layout, dim: int, index: int) -> Gradients:
    at = wrap_dim(dim, len(x.sizes))
    first = index + x.sizes[at] if index < 0 else index
    return _embedded(ops.unsqueeze(grad, at), x, at, first, 1)


@derivative(ops.slice)
def _(grad: Tensor, out: Unused, x: Layout, dim: int, start: int | None, end: int | None, step: int) -> Gradients:
    at = wrap_dim(dim, len(x.sizes))
    return _embedded(grad, x, at, clipped_range(start, end, x.sizes[at])[0], step)


def _embedded(grad: Tensor, x: Layout, dim: int, first: int, step: int) -> Any:
    """The gradient of part of a dimension as that of the whole: zeros elsewhere."""
    if grad.sizes[dim] == 0:
        return ops.full(tuple(x.sizes), 0, grad.dtype)
    if step > 1:  # zeros between the elements: one more dimension, of which the gradient is the first element
        grad = ops.unsqueeze(grad, dim + 1)
        between = [step - 1 if d == dim + 1 else n for d, n in enumerate(grad.sizes)]
        grad = ops.cat([grad, ops.full(tuple(between), 0, grad.dtype)], dim + 1)
        grad = ops.reshape(grad, (*x.sizes[:dim], grad.sizes[dim] * step, *x.sizes[dim + 1 :]))
        grad = ops.slice(grad, dim, 0, x.sizes[dim] - first)
    before, after = first, x.sizes[dim] - first - grad.sizes[dim]

    def zeros(count: int) -> Any:
        return ops.full(tuple(count if d == dim else n for d, n in enumerate(x.sizes)), 0, grad.dtype)

    parts = ([zeros(before)] if before else []) + [grad] + ([zeros(after)] if after else [])
    return ops.cat(parts, dim) if len(parts) > 1 else grad


@derivative(ops.diagonal)
def _(grad: Tensor, out: Unused, x: Layout, offset: int, dim1: int, dim2: int) -> Gradients:
    return with_diagonal(ops.full(tuple(x.sizes), 0, grad.dtype), grad, offset, dim1, dim2)


@derivative(ops.unfold)
def _(grad: Tensor, out: Unused, x: Layout, dimension: int, size: int, step: int) -> Gradients:
    return add_windows(ops.full(tuple(x.sizes), 0, grad.dtype), grad, dimension, size, step)


@derivative(ops.flip)
def _(grad: Tensor, out: Unused, x: Unused, dims: Ints) -> Gradients:
    return ops.flip(grad, dims)
