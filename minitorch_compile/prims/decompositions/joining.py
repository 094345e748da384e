"""Ops that put several tensors together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import converted
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import promote_types
from minitorch_compile.tensor.ops.joining import is_nothing


@decomposes(ops.cat)
def _(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Each in the common dtype, one after another."""
    element = reduce(promote_types, [x.dtype for x in tensors])
    parts = [x for x in tensors if not is_nothing(x.sizes)] or tensors
    return prims.cat([converted(x, element) for x in parts], wrap_dim(dim, len(parts[0].sizes)))


@decomposes(ops.split_with_sizes_copy)
def _(x: Tensor, split_sizes: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """A slice for each part, copied."""
    ends = list(accumulate(split_sizes))
    return tuple(ops.clone(ops.slice(x, dim, end - size, end)) for size, end in zip(split_sizes, ends, strict=True))
