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
def _(grad: Tensor, out: Unused, x: Layout, dim: int, index: Tensor, sparse_grad: bool) -> Gradients:
    return ops.scatter_add(_zeros(x), dim, index, grad)


@derivative(ops.scatter_add)
def _(grad: Tensor, out: Unused, x: Unused, dim: int, index: Tensor, src: Layout) -> Gradients:
    return grad, None, None, lambda: _as_large_as(src, ops.gather(grad, dim, index))


@derivative(ops.scatter_src)
def _(grad: Tensor, out: Unused, x: Unused, dim: int, index: Tensor, src: Layout) -> Gradients:
    return (
        lambda: ops.scatter(grad, dim, index, 0),
        None,
        None,
        lambda: _as_large_as(src, ops.gather(grad, dim, index)),
    )


@derivative(ops.scatter_combine)
def _(
    grad: Tensor, out: Tensor, x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Gradients:
    by_x, by_src = (_by_product if reduce == "prod" else _by_extremes)(grad, out, x, dim, index, src, include_self)
    return by_x if include_self else ops.scatter(by_x, dim, index, 0), None, None, _as_large_as(src, by_src)


def _by_extremes(grad: Any, out: Any, x: Any, dim: int, index: Any, src: Any, include_self: bool) -> tuple[Any, Any]:
    """Those that are the maximum share the gradient equally."""
    chosen = _covered(src, index) == ops.gather(out, dim, index)
    chosen = ops.to_copy(chosen, grad.dtype)
    own = ops.to_copy(x == out, grad.dtype)
    count = ops.scatter_add(own if include_self else ops.scatter(own, dim, index, 0), dim, index, chosen)
    share = grad / ops.maximum(count, ops.ones_like(count))
    return own * share, chosen * ops.gather(share, dim, index)


def _by_product(grad: Any, out: Any, x: Any, dim: int, index: Any, src: Any, include_self: bool) -> tuple[Any, Any]:
    """The product of the other factors: out / factor, or where a factor is 0 the product computed without it."""
    part = _covered(src, index)
    others = ops.scatter_combine(ops.where(x == 0, 1.0, x), dim, index, part, "prod", include_self)
    by_x = grad * others / ops.where(x == 0, 1.0, x)
    zeros = ops.scatter_add(ops.scatter(ops.zeros_like(x), dim, index, 0), dim, index, ops.to_copy(part == 0, x.dtype))
    single = (part == 0) & (ops.gather(zeros, dim, index) == 1)
    without = ops.scatter_combine(x, dim, index, ops.where(single, 1.0, part), "prod", include_self)
    alone = ops.gather(grad * ops.where(zeros == 1, without, out), dim, index)
    by_division = ops.gather(grad * out, dim, index) / ops.where(part == 0, 1.0, part)
    return by_x, ops.where(part == 0, ops.where(single, alone, 0.0), by_division)


def _covered(src: Any, index: Any) -> Any:
    for d, n in enumerate(index.sizes):
        src = ops.slice(src, d, 0, n)
    return src


def _as_large_as(src: Any, grad: Tensor) -> Any:
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
