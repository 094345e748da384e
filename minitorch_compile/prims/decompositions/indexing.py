"""Ops that choose elements by other tensors.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, int64, ops
>>> print(decomposed(ops.embedding, empty_fake((5,), dtype=int64), empty_fake((10, 3))).compact())
x, weight -> index(weight, (where(lt(x, full((5,), 0, torch.int64)), sub(x, full((5,), 10, torch.int64)), x),))
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes, refuses
from minitorch_compile.prims.elementwise import broadcast_to, constant, converted, copied, number_like, reshaped
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import broadcast_sizes, numel
from minitorch_compile.tensor.numerics.dtype import dtype, int64
from minitorch_compile.tensor.ops.gathering import neutral_element
from minitorch_compile.tensor.ops.indexing import index_sizes


def _at_least_one_dim(x: Tensor) -> Tensor:
    return x if x.sizes else reshaped(x, (1,))


@decomposes(ops.gather)
def _(x: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Tensor:
    """The prim; a 0-d tensor counts as one of a single element."""
    at = wrap_dim(dim, len(x.sizes))
    found = prims.gather(_at_least_one_dim(x), at, _at_least_one_dim(converted(index, int64)))
    return reshaped(found, index.sizes)


@decomposes(ops.scatter_add)
def _(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """The prim, on the part of src that the index covers."""
    at = wrap_dim(dim, len(x.sizes))
    places = _at_least_one_dim(converted(index, int64))
    return reshaped(prims.scatter_add(_at_least_one_dim(x), at, places, _covered(src, places)), x.sizes)


@decomposes(ops.scatter_src)
def _(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """An index_put whose other indices count, on the part of src that the index covers."""
    at = wrap_dim(dim, len(x.sizes))
    places = _at_least_one_dim(converted(index, int64))
    rows = _at_least_one_dim(x)
    stored = prims.index_put(rows, _grid(places, at, rows.sizes[at]), _covered(src, places), False)
    return reshaped(stored, x.sizes)


@decomposes(ops.scatter_combine)
def _(x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool) -> Tensor:
    """The prim, on the part of src that the index covers; without self, what it covers starts from nothing."""
    if not numel(index.sizes):
        return copied(x)
    at = wrap_dim(dim, len(x.sizes))
    places = _at_least_one_dim(converted(index, int64))
    flat, added = _at_least_one_dim(x), _covered(src, places)
    if not include_self:
        nothing = constant(places.sizes, neutral_element(reduce, x.dtype.numpy), x.dtype)
        flat = prims.index_put(flat, _grid(places, at, flat.sizes[at]), nothing, False)
    return reshaped(prims.scatter_reduce(flat, at, places, added, reduce), x.sizes)


def _covered(src: Tensor, places: Tensor) -> Tensor:
    """The part of src that has an index."""
    src = _at_least_one_dim(src)
    for d, n in enumerate(places.sizes):
        src = ops.slice(src, d, 0, n)
    return src


def _from_the_front(places: Tensor, size: int) -> Tensor:
    """The places, of which negative ones don't count from the end: they become so small that `index` refuses them."""
    return ops.where(places < 0, places - size, places)


def _grid(places: Tensor, at: int, size: int) -> tuple[Tensor, ...]:
    """An index for each dimension: the places along one, below its size; the others count."""
    places = _from_the_front(places, size)
    return tuple(
        places if d == at else prims.broadcast_in_dim(prims.iota(n, 0, 1, int64), tuple(places.sizes), (d,))
        for d, n in enumerate(places.sizes)
    )


def _common_indices(indices: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """The index tensors as int64 and broadcast to their common sizes."""
    sizes = broadcast_sizes(*(i.sizes for i in indices if i is not None))
    return tuple(None if i is None else broadcast_to(converted(i, int64), sizes) for i in indices)


@decomposes(ops.index)
def _(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The prim."""
    return prims.index(x, _common_indices(indices))


@decomposes(ops.index_put)
def _(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Tensor:
    """The prim, with a value for each chosen element."""
    places = _common_indices(indices)
    target = index_sizes(x.sizes, [None if i is None else i.sizes for i in places])
    return prims.index_put(x, places, broadcast_to(values, target), accumulate)


@decomposes(ops.embedding)
def _(input: Tensor, weight: Tensor, padding_idx: int | None) -> Tensor:
    """Rows of the table."""
    return prims.index(weight, (_from_the_front(converted(input, int64), weight.sizes[0]),))


@decomposes(ops.tril)
def _(x: Tensor, diagonal: int) -> Tensor:
    """x where column - row <= diagonal, else 0."""
    return prims.where(prims.le(*_diagonals(x, diagonal)), x, number_like(x, 0))


@decomposes(ops.triu)
def _(x: Tensor, diagonal: int) -> Tensor:
    """x where column - row >= diagonal, else 0."""
    return prims.where(prims.ge(*_diagonals(x, diagonal)), x, number_like(x, 0))


def _diagonals(x: Tensor, diagonal: int) -> tuple[Tensor, Tensor]:
    """Which diagonal each element of a matrix is on, and the one asked for."""
    sizes, ndim = tuple(x.sizes), len(x.sizes)
    rows = prims.broadcast_in_dim(prims.iota(sizes[-2], 0, 1, int64), sizes, (ndim - 2,))
    columns = prims.broadcast_in_dim(prims.iota(sizes[-1], 0, 1, int64), sizes, (ndim - 1,))
    return prims.sub(columns, rows), prims.full(sizes, diagonal, int64)


@decomposes(ops.view_dtype)
def _(x: Tensor, dtype: dtype) -> Tensor:
    """The prim."""
    return prims.view_element_type(x, dtype)


refuses(
    ops.argwhere,
    ops.repeated_positions,
    because="the size of its result depends on the data; torch.where(mask, x, 0) keeps the size",
)
