"""Running sums and products; and the ops that put elements in order, which no prim does.

>>> from minitorch_compile.prims.decomposer import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.cumsum, empty_fake((3,)), 0).compact())
x -> cumsum(x, 0)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes, refuses
from minitorch_compile.prims.elementwise import converted, copied
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dtype import FLOATING, dtype, float16, float32, int64
from minitorch_compile.tensor.strides import wrap_dim

Tensor = Any


def _wide(x: Tensor, asked: dtype | None) -> tuple[Tensor, dtype]:
    """x in the dtype to accumulate in, and the dtype of the result."""
    target = asked or (x.dtype if x.dtype.category >= FLOATING else int64)
    return converted(converted(x, target), float32 if target is float16 else target), target


@decomposes(ops.cumsum)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """The prim."""
    wide, target = _wide(x, dtype)
    total = prims.cumsum(wide, wrap_dim(dim, len(x.sizes))) if x.sizes else copied(wide)
    return converted(total, target)


@decomposes(ops.cumprod)
def _(x: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """By doubling: after k rounds each element is the product of the 2^k up to its place."""
    wide, target = _wide(x, dtype)
    if not x.sizes:
        return copied(converted(wide, target))
    at = wrap_dim(dim, len(x.sizes))
    reach, size = 1, x.sizes[at]
    while reach < size:
        ones = ops.full([reach if d == at else n for d, n in enumerate(x.sizes)], 1, dtype=wide.dtype)
        wide = wide * ops.cat([ones, ops.slice(wide, at, 0, size - reach)], at)
        reach *= 2
    return copied(converted(wide, target))


refuses(ops.logcumsumexp, because="there is no prim that scans with logaddexp; log(cumsum(exp(x))) compiles")
refuses(ops.running_extreme_indices, because="there is no prim that scans with maximum")
refuses(ops.argsort, ops.topk_indices, because="there is no prim that sorts: what it compares depends on the data")
refuses(ops.median_index, ops.mode_index, because="there is no prim that sorts: what it compares depends on the data")
refuses(ops.searchsorted_places, because="a binary search reads places that depend on what it read before")
refuses(ops.isin_elements, because="it sorts; (x[:, None] == choices).any(1) compiles")
refuses(
    ops.unique_parts,
    ops.unique_consecutive_parts,
    ops.bincount,
    because="the size of its result depends on the data; torch.zeros(n).index_add(0, x, ones) counts in a fixed size",
)
refuses(ops.histc, because="where its bins lie depends on the data; torch.zeros(n).index_add(0, bin, ones) counts")
