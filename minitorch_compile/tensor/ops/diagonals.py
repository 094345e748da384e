"""Diagonals: taken out, put in, made into matrices; and tensors with a part of them replaced.

>>> from minitorch_compile.tensor import tensor, zeros
>>> x = tensor([[1, 2], [3, 4]])
>>> diag(x), diag(tensor([1, 2])), trace(x)
(tensor([1, 4]), tensor([[1, 0],
        [0, 2]]), tensor(5))
>>> select_scatter(x, tensor([7, 8]), 0, 1)
tensor([[1, 2],
        [7, 8]])
"""

from __future__ import annotations

import builtins
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Scalar, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.ops.copies import clone, contiguous
from minitorch_compile.tensor.ops.creation import arange, full
from minitorch_compile.tensor.ops.indexing import index_put
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.ops.reshaping import atleast_2d, movedim, reshape
from minitorch_compile.tensor.ops.view import as_strided, diagonal, slice

Ints = tuple[int, ...]


@composite(methods=True)
def diag(input: Tensor, diagonal: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal; `diagonal` counts from the main one,
    upwards. RuntimeError for other dimensions.

    >>> torch.diag(torch.tensor([1, 2])), torch.diag(torch.tensor([[1, 2], [3, 4]]))
    (tensor([[1, 0],
            [0, 2]]), tensor([1, 4]))
    """
    if len(input.sizes) == 1:
        return diag_embed(input, diagonal)
    if len(input.sizes) != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {len(input.sizes)}D")
    return clone(diagonal_of(input, diagonal))


diagonal_of = diagonal


@composite(methods=True)
def diagflat(input: Tensor, offset: int = 0) -> Any:
    """The matrix with the flattened input on a diagonal."""
    return diag_embed(reshape(input, (-1,)), offset)


@composite(methods=True)
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices, in the dimensions `dim1` and `dim2`, with the last dimension of the input on the diagonal that lies
    `offset` above the main one.

    >>> torch.diag_embed(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    if not input.sizes:
        raise RuntimeError("diag_embed: expected at least 1 dimension, got a 0-d tensor")
    ndim = len(input.sizes) + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = input.sizes[-1]
    n = length + builtins.abs(offset)
    places = arange(length)
    rows, columns = (places, places + offset) if offset >= 0 else (places - offset, places)
    batch = tuple(input.sizes[:-1])
    made = index_put(full((*batch, n, n), 0, input.dtype), [None] * len(batch) + [rows, columns], input)
    return contiguous(movedim(made, (-2, -1), (first, second)))


@composite(methods=True)
def trace(input: Tensor) -> Any:
    """The sum of the diagonal of a matrix."""
    if len(input.sizes) != 2:
        raise RuntimeError("trace: expected a matrix")
    return sum(diagonal(input))


@composite(torch=False, methods=True)
def fill_diagonal_(input: Tensor, fill_value: Scalar, wrap: bool = False) -> Any:
    """Stores one value on the main diagonal; with `wrap` a tall matrix has it again every columns + 1 rows."""
    sizes = input.sizes
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) != 1:
        raise RuntimeError(f"all dimensions of input must be of equal length, got {list(sizes)}")
    step = builtins.sum(input.strides)
    if not (wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1):
        as_strided(input, (min(sizes),), (step,), input.offset).fill_(fill_value)
        return input
    blocks, left = divmod(sizes[0], sizes[1] + 1)  # a block is a diagonal and the row of others below it
    height = input.strides[0] * (sizes[1] + 1)
    as_strided(input, (blocks, sizes[1]), (height, step), input.offset).fill_(fill_value)
    as_strided(input, (left,), (step,), input.offset + (blocks * height if left else 0)).fill_(fill_value)
    return input


# ------------------------------------------------------------------------------------------ a part replaced


def _replaced(name: str, input: Tensor, src: Tensor, part: Any) -> Any:
    """A copy of `input` in which the view `part(copy)` has the elements of src."""
    result = src.in_each_example(clone(input))
    window = part(result)
    if tuple(window.sizes) != tuple(src.sizes):
        raise RuntimeError(
            f"{name}: expected src to have a size equal to the part it replaces, {list(window.sizes)}, got"
            f" {list(src.sizes)}"
        )
    window.copy_(src)
    return result


@composite(methods=True)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Any:
    """`input` with src in place of input.select(dim, index)."""
    return _replaced("select_scatter", input, src, lambda x: x.select(dim, index))


@composite(methods=True)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """`input` with src in place of every step-th index of a dimension from start up to end."""
    return _replaced("slice_scatter", input, src, lambda x: slice(x, dim, start, end, step))


@composite(methods=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """`input` with src in place of input.diagonal(offset, dim1, dim2)."""
    return _replaced("diagonal_scatter", input, src, lambda x: diagonal(x, offset, dim1, dim2))


@composite(methods=True)
def as_strided_scatter(input: Tensor, src: Tensor, size: Ints, stride: Ints, storage_offset: int | None = None) -> Any:
    """`input` with src in place of input.as_strided(size, stride, storage_offset)."""
    return _replaced("as_strided_scatter", input, src, lambda x: as_strided(x, size, stride, storage_offset))


@composite()
def block_diag(*tensors: Tensor) -> Any:
    """The matrix with the given matrices on its diagonal, zeros elsewhere; vectors count as rows, numbers as 1 x 1."""
    blocks = []
    for position, x in enumerate(tensors):
        if len(x.sizes) > 2:
            raise RuntimeError(
                f"block_diag: Input tensors must have 2 or fewer dimensions. Input {position} has {len(x.sizes)}"
                " dimensions"
            )
        blocks.append(atleast_2d(x))
    if not blocks:
        return full((1, 0), 0, full((), 0.0).dtype)
    width, left = builtins.sum(x.sizes[1] for x in blocks), 0
    rows = []
    for x in blocks:
        height, right = x.sizes[0], width - left - x.sizes[1]
        rows.append(cat([full((height, left), 0, x.dtype), x, full((height, right), 0, x.dtype)], 1))
        left += x.sizes[1]
    return cat(rows, 0)
