"""Running sums, products and extremes.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.cumsum, empty_fake((3,)), 0).compact())
x -> scan(x, 0, 'sum')
"""

from __future__ import annotations

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import complex_numbers_have_no_order, decomposes, refuses_if
from minitorch_compile.prims.elementwise import converted, copied, number_like
from minitorch_compile.prims.half_precision import HALF
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype, float32, int64


def _wide(x: Tensor, asked: dtype | None) -> tuple[Tensor, dtype]:
    """x in the dtype to accumulate in, and the dtype of the result."""
    target = asked or (x.dtype if x.dtype.category >= FLOATING else int64)
    return converted(converted(x, target), float32 if target in HALF else target), target


def _scan(x: Tensor, dim: int, kind: str) -> Tensor:
    """The prim; a tensor without dimensions is its own running result."""
    return prims.scan(x, wrap_dim(dim, len(x.sizes)), kind) if x.sizes else copied(x)


@decomposes(ops.cumsum)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """The prim."""
    wide, target = _wide(x, dtype)
    return converted(_scan(wide, dim, "sum"), target)


@decomposes(ops.cumprod)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """The prim."""
    wide, target = _wide(x, dtype)
    return converted(_scan(wide, dim, "prod"), target)


@decomposes(ops.logcumsumexp)
def _(x: Tensor, dim: int) -> Tensor:
    """The prim."""
    return _scan(x, dim, "logaddexp")


refuses_if(ops.running_extreme_indices, complex_numbers_have_no_order)


@decomposes(ops.running_extreme_indices)
def _(x: Tensor, dim: int, largest: bool) -> Tensor:
    """The last place so far where the extreme so far, or a NaN, stood: the running maximum of such places."""
    if not x.sizes:
        return prims.full((), 0, int64)
    at = wrap_dim(dim, len(x.sizes))
    reached = prims.eq(x, _scan(x, at, "amax" if largest else "amin"))
    if x.dtype.is_floating_point:
        reached = prims.bitwise_or(reached, prims.ne(x, x))
    places = prims.broadcast_in_dim(prims.iota(x.sizes[at], 0, 1, int64), tuple(x.sizes), (at,))
    return _scan(prims.where(reached, places, number_like(places, 0)), at, "amax")
