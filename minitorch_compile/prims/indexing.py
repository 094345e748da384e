"""Prims that choose elements by computed indices. IndexError for one that is out of range.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2, 3], [4, 5, 6]])
>>> gather(x, 1, tensor([[2], [0]])), index(x, (None, tensor([0, 2])))
(tensor([[3],
        [4]]), tensor([[1, 3],
        [4, 6]]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.prims.prim import check_dim, check_index, check_like, check_tensor, describe, prim, refuse
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.ops.indexing import index_sizes
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def _check_along(name: str, x: Any, dim: int, index: Any) -> None:
    check_tensor(name, "x", x)
    check_dim(name, "dim", dim, x)
    check_index(name, "index", index)
    fits = len(index.sizes) == len(x.sizes)
    if not fits or any(i > n for d, (i, n) in enumerate(zip(index.sizes, x.sizes, strict=True)) if d != dim):
        raise refuse(name, "index", f"no larger than x, {describe(x)}, apart from dimension {dim}", describe(index))


def _gather_rule(name: str, x: Any, dim: int, index: Any) -> TensorBase:
    _check_along(name, x, dim, index)
    return empty_fake(index.sizes, None, x.dtype)


@prim("indexing", _gather_rule, dtypes="any; int64 for index", sizes="those of index")
def gather(x: Array, dim: int, index: Array) -> Array:
    """out[i][j] = x[i][index[i][j]] for dim = 1, and likewise for others. The result has the sizes of `index`."""
    return ops.gather.kernel(x, dim, index)


def _scatter_add_rule(name: str, x: Any, dim: int, index: Any, src: Any) -> TensorBase:
    _check_along(name, x, dim, index)
    check_like(name, "src", src, "index in sizes and x in dtype", empty_fake(index.sizes, None, x.dtype))
    return empty_fake(x.sizes, None, x.dtype)


@prim("indexing", _scatter_add_rule, dtypes="any; int64 for index", sizes="those of x")
def scatter_add(x: Array, dim: int, index: Array, src: Array) -> Array:
    """x with src[i][j] added at x[i][index[i][j]] for dim = 1; several may land on one element."""
    return ops.scatter_add.kernel(x, dim, index, src)


def _scatter_reduce_rule(name: str, x: Any, dim: int, index: Any, src: Any, reduce: str) -> TensorBase:
    if reduce not in ("prod", "amax", "amin"):
        raise refuse(name, "reduce", "'prod', 'amax' or 'amin'", repr(reduce))
    return _scatter_add_rule(name, x, dim, index, src)


@prim("indexing", _scatter_reduce_rule, dtypes="any; int64 for index", sizes="those of x")
def scatter_reduce(x: Array, dim: int, index: Array, src: Array, reduce: str) -> Array:
    """As scatter_add, but combined by multiplication, or by taking the largest or smallest; NaN wins over both."""
    return ops.scatter_combine.kernel(x, dim, index, src, reduce, True)


def _indexed_sizes(name: str, x: Any, indices: Any) -> tuple[int, ...]:
    check_tensor(name, "x", x)
    if not isinstance(indices, (tuple, list)) or len(indices) > len(x.sizes):
        raise refuse(name, "indices", f"at most one index for each dimension of x, {describe(x)}", indices)
    tensors = [i for i in indices if i is not None]
    if not tensors:
        raise refuse(name, "indices", "a tuple with at least one tensor", indices)
    for position, i in enumerate(indices):
        if i is not None:
            check_index(name, f"indices[{position}]", i)
            check_like(name, f"indices[{position}]", i, "the other indices", tensors[0])
    return index_sizes(x.sizes, [None if i is None else i.sizes for i in indices])


def _index_rule(name: str, x: Any, indices: Any) -> TensorBase:
    return empty_fake(_indexed_sizes(name, x, indices), None, x.dtype)


@prim(
    "indexing",
    _index_rule,
    dtypes="any; int64 for indices",
    sizes="those of x, with those of the indices for the indexed dimensions",
)
def index(x: Array, indices: Sequence[Array | None]) -> Array:
    """x[indices], where None stands for a whole dimension. Negative indices count from the end.

    The dimensions of the indices stand where the first index stood if all are adjacent, else in front, as in NumPy.
    """
    return ops.index.kernel(x, indices)


def _index_put_rule(name: str, x: Any, indices: Any, values: Any, accumulate: Any) -> TensorBase:
    target = empty_fake(_indexed_sizes(name, x, indices), None, x.dtype)
    check_like(name, "values", values, "x[indices]", target)
    if not isinstance(accumulate, bool):
        raise refuse(name, "accumulate", "a bool", describe(accumulate))
    return empty_fake(x.sizes, None, x.dtype)


@prim("indexing", _index_put_rule, dtypes="any; int64 for indices", sizes="those of x")
def index_put(x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool) -> Array:
    """x with x[indices] = values, or += if `accumulate`. Without it, of several values for one element any may win."""
    return ops.index_put.kernel(x, indices, values, accumulate)
