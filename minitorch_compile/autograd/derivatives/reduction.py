"""Derivatives of reductions: what was summed gets the gradient of the sum, each element its share.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([3.0, 1.0, 3.0], requires_grad=True)
>>> grad(x.mean(), x), grad(x.amax(), x)        # equal maxima share
((tensor([0.3333, 0.3333, 0.3333]),), (tensor([0.5000, 0.0000, 0.5000]),))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, dtype, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dims
from minitorch_compile.tensor.memory.strides import numel

Dims = int | Sequence[int] | None


def keep_dims(reduced: Tensor, x: Any, dim: Dims, keepdim: bool) -> Any:
    """The result of a reduction of `x` as it would be with keepdim=True."""
    if keepdim or not x.sizes:
        return reduced
    dims = wrap_dims(dim, len(x.sizes))
    return ops.reshape(reduced, tuple(1 if d in dims else n for d, n in enumerate(x.sizes)))


def spread(grad: Tensor, x: Any, dim: Dims, keepdim: bool) -> Any:
    """A gradient of reduced elements, repeated for each element that was reduced."""
    return ops.expand(keep_dims(grad, x, dim, keepdim), tuple(x.sizes))


@derivative(ops.sum)
def _(grad: Tensor, out: Unused, x: Layout, dim: Dims, keepdim: bool, dtype: dtype | None) -> Gradients:
    return sum_to(spread(grad, x, dim, keepdim), x)


@derivative(ops.mean)
def _(grad: Tensor, out: Unused, x: Layout, dim: Dims, keepdim: bool, dtype: dtype | None) -> Gradients:
    sizes = [x.sizes[d] for d in wrap_dims(dim, len(x.sizes))]
    return sum_to(spread(grad if 0 in sizes else grad / numel(sizes), x, dim, keepdim), x)


@derivative(ops.prod)
def _(grad: Tensor, out: Unused, x: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Gradients:
    factors = ops.to_copy(x, grad.dtype)  # which `dtype` may have rounded, or freed from an imaginary part
    return sum_to(keep_dims(grad, x, dim, keepdim) * _product_of_others(factors, wrap_dims(dim, len(x.sizes))), x)


def _product_of_others(x: Tensor, dims: Sequence[int]) -> Any:
    """For each element the product of those that are multiplied with it: of all before it times all after it.

    Dividing the whole product by the element would be shorter, and wrong where the element is 0.
    """
    order = [d for d in range(len(x.sizes)) if d not in dims] + list(dims)
    moved = ops.permute(x, tuple(order))
    rows = ops.reshape(moved, (*moved.sizes[: len(order) - len(dims)], numel(x.sizes[d] for d in dims)))
    before, after = (_shifted(_running_product(rows, forward), 1, forward) for forward in (True, False))
    others = ops.reshape(before * after, tuple(moved.sizes))
    return ops.permute(others, tuple(order.index(d) for d in range(len(order))))


def _running_product(rows: Tensor, forward: bool) -> Any:
    """At each place the product of it and all before (or after) it, by doubling: log2(n) multiplications of rows."""
    reach = 1
    while reach < rows.sizes[-1]:
        rows = rows * _shifted(rows, reach, forward)
        reach *= 2
    return rows


def _shifted(rows: Tensor, by: int, forward: bool) -> Any:
    """The rows moved by some places, with ones coming in."""
    n = rows.sizes[-1]
    ones = ops.full((*rows.sizes[:-1], min(by, n)), 1, rows.dtype)
    if forward:
        return ops.cat([ones, ops.slice(rows, -1, 0, n - min(by, n))], -1)
    return ops.cat([ops.slice(rows, -1, min(by, n), n), ones], -1)


def _shared_by_equals(grad: Tensor, out: Tensor, x: Tensor, dim: Dims, keepdim: bool) -> Gradients:
    """The elements equal to the extreme one share its gradient evenly."""
    equal = ops.to_copy(x == keep_dims(out, x, dim, keepdim), grad.dtype)
    return keep_dims(grad, x, dim, keepdim) * (equal / ops.sum(equal, dim, True))


derivative(ops.amax)(_shared_by_equals)
derivative(ops.amin)(_shared_by_equals)


@derivative(ops.softmax)
def _(grad: Tensor, out: Tensor, x: Layout, dim: int, dtype: dtype | None) -> Gradients:
    weighted = grad * out
    return sum_to(weighted - out * ops.sum(weighted, dim, True), x)


@derivative(ops.log_softmax)
def _(grad: Tensor, out: Tensor, x: Layout, dim: int, dtype: dtype | None) -> Gradients:
    return sum_to(grad - ops.exp(out) * ops.sum(grad, dim, True), x)
