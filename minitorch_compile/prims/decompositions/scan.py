"""Running sums, products and extremes. All but sums are found by doubling, for which any associative function does.

>>> from minitorch_compile.prims.decomposer import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.cumsum, empty_fake((3,)), 0).compact())
x -> cumsum(x, 0)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import converted, copied
from minitorch_compile.prims.half_precision import HALF
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dtype import FLOATING, dtype, float32, int64
from minitorch_compile.tensor.strides import wrap_dim

Tensor = Any


def _wide(x: Tensor, asked: dtype | None) -> tuple[Tensor, dtype]:
    """x in the dtype to accumulate in, and the dtype of the result."""
    target = asked or (x.dtype if x.dtype.category >= FLOATING else int64)
    return converted(converted(x, target), float32 if target in HALF else target), target


@decomposes(ops.cumsum)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """The prim."""
    wide, target = _wide(x, dtype)
    total = prims.cumsum(wide, wrap_dim(dim, len(x.sizes))) if x.sizes else copied(wide)
    return converted(total, target)


@decomposes(ops.cumprod)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """By doubling."""
    wide, target = _wide(x, dtype)
    return copied(converted(_running(ops.mul, wide, dim, 1), target))


@decomposes(ops.logcumsumexp)
def _(x: Tensor, dim: int) -> Tensor:
    """By doubling; the logarithm of a sum of exponentials is itself one of three or more."""
    return copied(_running(ops.logaddexp, x, dim, -math.inf))


def _running(combine: Any, x: Tensor, dim: int, neutral: float) -> Tensor:
    """Each element combined with all before it: after k rounds, with the 2^k - 1 before it."""
    if not x.sizes:
        return x
    at = wrap_dim(dim, len(x.sizes))
    reach, size = 1, x.sizes[at]
    while reach < size:
        before = ops.full([reach if d == at else n for d, n in enumerate(x.sizes)], neutral, dtype=x.dtype)
        x = combine(ops.cat([before, ops.slice(x, at, 0, size - reach)], at), x)
        reach *= 2
    return x


@decomposes(ops.running_extreme_indices)
def _(x: Tensor, dim: int, largest: bool) -> Tensor:
    """By doubling, of pairs of a value and its place; the first elements meet themselves."""
    if not x.sizes:
        return prims.full((), 0, int64)
    at = wrap_dim(dim, len(x.sizes))
    reach, size = 1, x.sizes[at]
    places = prims.broadcast_in_dim(prims.iota(size, 0, 1, int64), tuple(x.sizes), (at,))
    while reach < size:
        earlier, earlier_places = (
            ops.cat([ops.slice(y, at, 0, reach), ops.slice(y, at, 0, size - reach)], at) for y in (x, places)
        )
        stays = x >= earlier if largest else x <= earlier
        if x.dtype.category == FLOATING:  # NaN wins over everything, the last one over others
            stays = ops.logical_or(ops.isnan(x), ops.logical_and(stays, ops.logical_not(ops.isnan(earlier))))
        x, places = ops.where(stays, x, earlier), ops.where(stays, places, earlier_places)
        reach *= 2
    return places
