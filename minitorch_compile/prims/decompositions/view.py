"""Ops that look at the same elements in another way. Between prims there are no strides: a view is a plain function.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.select, empty_fake((2, 3)), 1, -1).compact())
x -> squeeze(slice(x, (0, 2), (2, 3), (1, 1)), (1,))
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import broadcast_to, copied, reshaped
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.memory.viewing import clipped_range, infer_sizes, is_inside
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.ops.view import as_ints
from minitorch_compile.tensor.ops.view_writing import diagonal_places, window_places

Ints = tuple[int, ...]


@decomposes(ops.view)
def _(x: Tensor, size: Ints) -> Tensor:
    """The same elements in row-major order."""
    return reshaped(x, infer_sizes(tuple(size), numel(x.sizes)))


@decomposes(ops.permute)
def _(x: Tensor, dims: Ints) -> Tensor:
    """The dimensions in another order."""
    order = tuple(wrap_dim(d, len(x.sizes)) for d in dims)
    return x if order == tuple(range(len(order))) else prims.transpose(x, order)


@decomposes(ops.transpose)
def _(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions change places."""
    order = list(range(len(x.sizes)))
    if order:
        a, b = wrap_dim(dim0, len(order)), wrap_dim(dim1, len(order))
        order[a], order[b] = order[b], order[a]
    return ops.permute(x, tuple(order))


@decomposes(ops.t)
def _(x: Tensor) -> Tensor:
    """The transpose of a matrix."""
    return ops.permute(x, tuple(range(len(x.sizes)))[::-1])


@decomposes(ops.expand)
def _(x: Tensor, size: Ints) -> Tensor:
    """Repeated along new dimensions and those of size 1."""
    lead = len(size) - len(x.sizes)
    return broadcast_to(x, [x.sizes[d - lead] if n == -1 else n for d, n in enumerate(size)])


@decomposes(ops.unsqueeze)
def _(x: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1."""
    at = wrap_dim(dim, len(x.sizes) + 1)
    return reshaped(x, (*x.sizes[:at], 1, *x.sizes[at:]))


@decomposes(ops.squeeze)
def _(x: Tensor, dim: int | Sequence[int] | None) -> Tensor:
    """Without dimensions of size 1."""
    ndim = len(x.sizes)
    named = range(ndim) if dim is None else [wrap_dim(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim)]
    dims = tuple(sorted(d for d in named if ndim and x.sizes[d] == 1))
    return prims.squeeze(x, dims) if dims else x


@decomposes(ops.select)
def _(x: Tensor, dim: int, index: int) -> Tensor:
    """One index of a dimension: a slice of length 1, without its dimension."""
    at = wrap_dim(dim, len(x.sizes))
    first = index if index >= 0 else index + x.sizes[at]
    return prims.squeeze(ops.slice(x, at, first, first + 1), (at,))


@decomposes(ops.slice)
def _(x: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    """A range of one dimension, clipped as Python's slices are."""
    at = wrap_dim(dim, len(x.sizes))
    first, last = clipped_range(start, end, x.sizes[at])
    low, high, steps = [0] * len(x.sizes), list(x.sizes), [1] * len(x.sizes)
    low[at], high[at], steps[at] = first, max(first, last), step
    whole = first == 0 and last >= x.sizes[at] and step == 1
    return x if whole else prims.slice(x, tuple(low), tuple(high), tuple(steps))


@decomposes(ops.detach)
def _(x: Tensor) -> Tensor:
    """The same: a graph of prims is not differentiated any more."""
    return x


@decomposes(ops.as_strided)
def _(x: Tensor, size: Ints, stride: Ints, storage_offset: int | None) -> Tensor:
    """A gather by computed addresses, if the elements of x lie without gaps so that addresses are known."""
    first = 0 if storage_offset is None else storage_offset - x.offset
    if not is_inside((size, stride, first), x.sizes, x.strides):
        raise NotImplementedError(
            f"decompose: as_strided of a tensor of sizes {list(x.sizes)} and strides {x.strides} reaches memory that is"
            " not its own elements; write it with slice, permute and expand, or apply it to x.contiguous()"
        )
    address = prims.full(tuple(size), first, int64)
    for dim, (n, step) in enumerate(zip(size, stride, strict=True)):
        along = prims.iota(n, 0, step, int64)
        address = prims.add(address, prims.broadcast_in_dim(along, tuple(size), (dim,)))
    in_memory = ops.permute(x, sorted(range(len(x.sizes)), key=lambda d: (-x.strides[d], d)))
    return prims.index(reshaped(in_memory, (numel(x.sizes),)), (address,))


@decomposes(ops.diagonal)
def _(x: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """The elements whose indices in two dimensions differ by the offset."""
    like = ops.diagonal.meta(x, offset, dim1, dim2)
    rows, columns = diagonal_places(like.sizes[-1], offset)
    first, second = wrap_dim(dim1, len(x.sizes)), wrap_dim(dim2, len(x.sizes))
    return ops.movedim(ops.index(ops.movedim(x, (first, second), (0, 1)), [rows, columns]), 0, -1)


@decomposes(ops.unfold)
def _(x: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """The elements at the places of each window."""
    if not x.sizes:
        return ops.slice(reshaped(x, (1,)), 0, 0, size)
    at = wrap_dim(dimension, len(x.sizes))
    count = (x.sizes[at] - size) // step + 1
    return ops.movedim(ops.index(x, [None] * at + [window_places(count, size, step)]), at + 1, -1)


@decomposes(ops.flip)
def _(x: Tensor, dims: Ints) -> Tensor:
    """The prim."""
    along = tuple(sorted(wrap_dim(d, len(x.sizes)) for d in as_ints("flip", dims)))
    return prims.rev(x, along) if along and x.sizes else copied(x)
