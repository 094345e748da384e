"""Derivatives of running sums and products: each element takes part in all results from its own place on.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor([2.0, 3.0, 4.0], requires_grad=True)
>>> grad(x.cumsum(0).sum(), x), grad(x.cumprod(0).sum(), x)
((tensor([3., 2., 1.]),), (tensor([16., 10.,  6.]),))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Layout, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, dtype, int64, ops


def reversed_along(x: Tensor, dim: int) -> Any:
    """The elements along `dim` from the last to the first."""
    if not x.sizes:
        return x
    at = dim % len(x.sizes)
    return ops.index(x, [None] * at + [ops.arange(x.sizes[at] - 1, -1, -1, dtype=int64)]) if x.sizes[at] else x


def from_here_on(x: Tensor, dim: int) -> Any:
    """The sums of each element and all after it."""
    return reversed_along(ops.cumsum(reversed_along(x, dim), dim), dim)


@derivative(ops.cumsum)
def _(grad: Tensor, out: Unused, x: Layout, dim: int, dtype: dtype | None) -> Gradients:
    return sum_to(from_here_on(grad, dim), x)


@derivative(ops.cumprod)
def _(grad: Tensor, out: Unused, x: Tensor, dim: int, dtype: dtype | None) -> Gradients:
    """out_j = out_(j-1) x_j, backwards: reach_j = grad_j + x_(j+1) reach_(j+1) is the gradient of out_j, and that of
    x_j is out_(j-1) reach_j. Nothing is divided, so an x may be 0."""
    if not x.sizes or 0 in x.sizes:
        return sum_to(grad, x)
    factors = ops.to_copy(x, grad.dtype)
    before = _moved(ops.cumprod(factors, dim), dim, 1, 1.0)
    return sum_to(before * _linear_recurrence(grad, _moved(factors, dim, -1, 0.0), dim), x)


def _linear_recurrence(b: Any, a: Any, dim: int) -> Any:
    """r_j = b_j + a_j r_(j+1) for all j, by doubling: after k rounds each has taken in the 2^k places from its own."""
    reach, size = 1, b.sizes[dim]
    while reach < size:
        b, a = b + a * _moved(b, dim, -reach, 0.0), a * _moved(a, dim, -reach, 1.0)
        reach *= 2
    return b


def _moved(x: Any, dim: int, by: int, coming_in: float) -> Any:
    """The elements along `dim` moved by some places, with a number coming in."""
    size, at = x.sizes[dim], dim % len(x.sizes)
    new = ops.full([abs(by) if d == at else n for d, n in enumerate(x.sizes)], coming_in, dtype=x.dtype)
    if by > 0:
        return ops.cat([new, ops.slice(x, at, 0, size - by)], at)
    return ops.cat([ops.slice(x, at, -by, size), new], at)


@derivative(ops.logcumsumexp)
def _(grad: Tensor, out: Tensor, x: Tensor, dim: int) -> Gradients:
    """The sum of grad_j exp(x_i - out_j) from i on, as a recurrence whose factors exp(out_i - out_(i+1)) are at most 1.

    Where everything up to a place is -inf, its share is 0.
    """
    finite = ops.where(out == -math.inf, 0.0, out)
    own_share = ops.exp(x - finite)
    if not x.sizes or 0 in x.sizes:
        return grad * own_share
    return own_share * _linear_recurrence(grad, ops.exp(out - _moved(finite, dim, -1, math.inf)), dim)
