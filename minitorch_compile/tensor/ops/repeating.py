"""The same elements several times.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1, 2])
>>> repeat(x, (2,)), repeat_interleave(x, 2), repeat_interleave(x, tensor([3, 1])), tile(x, (2, 1)).shape
(tensor([1, 2, 1, 2]), tensor([1, 1, 2, 2]), tensor([1, 1, 1, 2]), torch.Size([2, 2]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.numerics.dtype import FLOATING, int64
from minitorch_compile.tensor.ops.copies import contiguous, contiguous_copy
from minitorch_compile.tensor.ops.index_along import index_select
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import as_ints, expand, unsqueeze, view_op
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase

Ints = tuple[int, ...]


@composite(torch=False, methods=True, gather_dims=True)
def repeat(input: Tensor, repeats: Ints) -> Any:
    """The tensor tiled: `repeats` copies along each dimension, new ones in front. A copy, not a view. RuntimeError for
    fewer numbers than dimensions.

    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    repeats = as_ints("repeat", repeats)
    lead = len(repeats) - len(input.sizes)
    if lead < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got"
            f" {len(repeats)} for a tensor of sizes {list(input.sizes)}"
        )
    if any(count < 0 for count in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension: repeat({list(repeats)})")
    sizes = (1,) * lead + tuple(input.sizes)
    interleaved = view_op(contiguous(input), tuple(n for size in sizes for n in (1, size)))
    tiled = expand(interleaved, tuple(n for count, size in zip(repeats, sizes, strict=True) for n in (count, size)))
    return view_op(contiguous_copy(tiled), tuple(count * size for count, size in zip(repeats, sizes, strict=True)))


@composite(methods=True, gather_dims=True)
def tile(input: Tensor, dims: Ints) -> Any:
    """repeat, in which the last dimensions may be meant: missing counts in front are 1."""
    counts = as_ints("tile", dims)
    return repeat(input, (1,) * (len(input.sizes) - len(counts)) + counts)


@kernel_op("indexing", torch=False)
def repeated_positions(repeats: Array) -> Array:
    """0 repeats[0] times, then 1 repeats[1] times, and so on. Its size depends on the data: it can't be traced."""
    if repeats.size and repeats.min() < 0:
        raise RuntimeError(f"repeat_interleave: repeats can not be negative, got {repeats.min()}")
    return np.repeat(np.arange(repeats.size, dtype=np.int64), repeats)


repeated_positions.shape_depends_on_data = True


@repeated_positions.shape_rule
def _repeated_positions_rule(repeats: TensorBase) -> TensorBase:
    if len(repeats.sizes) != 1 or repeats.dtype.category >= FLOATING:
        raise RuntimeError(
            "repeat_interleave only accepts a 1D vector of integers as repeat, got sizes"
            f" {list(repeats.sizes)} and {repeats.dtype}"
        )
    if repeats.is_fake:
        raise FakeDataError(
            "repeat_interleave: the size of the result depends on the data of `repeats`, which a fake tensor doesn't"
            " have; an int for all elements keeps it known"
        )
    return repeats


@composite(methods=True)
def repeat_interleave(
    input: Tensor, repeats: int | Tensor | None = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Each element of the dimension `dim` several times in a row: `repeats` is an int for all, or a tensor with a count
    for each. `output_size` may say how long the result is.

    Without `dim` the flattened tensor. With a single tensor of counts, the positions themselves.

    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2), torch.tensor([1, 2]).repeat_interleave(torch.tensor([3, 1]))
    (tensor([1, 1, 2, 2]), tensor([1, 1, 1, 2]))
    """
    if repeats is None:
        return repeated_positions(input)
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    at = wrap_dim(dim, len(input.sizes))
    n = input.sizes[at] if input.sizes else 1
    if isinstance(repeats, (list, tuple)):
        from minitorch_compile.tensor.ops.construct import tensor

        repeats = tensor(repeats, dtype=int64)
    if isinstance(repeats, TensorBase) and len(repeats.sizes) == 1 and repeats.sizes[0] != 1:
        if repeats.sizes[0] != n:
            raise RuntimeError(
                f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.sizes[0]} and"
                f" input.size({dim}) = {n}"
            )
        return index_select(input, at, repeated_positions(repeats))
    count = int(repeats)  # also a tensor of one element
    if count < 0:
        raise RuntimeError(f"Repeats must be non-negative, got {count}")
    copies = expand(unsqueeze(input, at + 1), (*input.sizes[: at + 1], count, *input.sizes[at + 1 :]))
    return view_op(contiguous_copy(copies), (*input.sizes[:at], n * count, *input.sizes[at + 1 :]))
