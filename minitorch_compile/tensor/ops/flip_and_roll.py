"""Elements in another order along dimensions: flipped, rolled, rotated.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2], [3, 4]])
>>> flip(x, (0,)), roll(tensor([1, 2, 3]), 1), rot90(x)
(tensor([[3, 4],
        [1, 2]]), tensor([3, 1, 2]), tensor([[2, 4],
        [1, 3]]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.memory_format import contiguous_format, preserved_strides
from minitorch_compile.tensor.ops.copies import clone
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import as_ints, slice, transpose
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


def _listed(dims: Ints) -> Ints:
    """The dimensions to flip. TypeError for a single one that is in no list, as in PyTorch."""
    if isinstance(dims, int):
        raise TypeError("flip(): argument 'dims' (position 2) must be tuple of ints, not int")
    return as_ints("flip", dims)


@kernel_op("indexing", methods=True)
def flip(input: Array, dims: Ints) -> Array:
    """The elements in reverse order along the dimensions `dims`; a copy.

    >>> torch.flip(torch.tensor([[1, 2], [3, 4]]), (0,)), torch.arange(3).flip(0)
    (tensor([[3, 4],
            [1, 2]]), tensor([2, 1, 0]))
    """
    return np.flip(input, tuple(d % input.ndim for d in _listed(dims)) if input.ndim else ()).copy(order="K")


flip.gather_dims = True


@flip.shape_rule
def _flip_rule(input: TensorBase, dims: Ints) -> TensorBase:
    if not isinstance(input, TensorBase):
        raise TypeError(f"flip(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    wrapped = [wrap_dim(d, len(input.sizes)) for d in _listed(dims)]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"flip: dim {tuple(dims)} appears multiple times in the list of dims")
    return empty_fake(input.sizes, preserved_strides(tuple(input.sizes), tuple(input.strides)), input.dtype)


@composite(methods=True)
def fliplr(input: Tensor) -> Any:
    """The columns in reverse order."""
    if len(input.sizes) < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, (1,))


@composite(methods=True)
def flipud(input: Tensor) -> Any:
    """The rows in reverse order."""
    if len(input.sizes) < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, (0,))


@composite(methods=True)
def roll(input: Tensor, shifts: int | Ints, dims: int | Ints = ()) -> Any:
    """The elements moved on by `shifts` along the dimensions `dims`; those that leave at the end come in at the front.

    Without `dims` the flattened tensor is rolled.

    >>> torch.roll(torch.arange(4), 1)
    tensor([3, 0, 1, 2])
    """
    moves = as_ints("roll", shifts)
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        if len(moves) != 1:
            raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:0")
        return reshape(_rolled(reshape(input, (-1,)), moves[0], 0), tuple(input.sizes))
    along = as_ints("roll", dims)
    if len(moves) != len(along):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(along)}")
    for shift, dim in zip(moves, along, strict=True):
        input = _rolled(input, shift, wrap_dim(dim, len(input.sizes)))
    return input


def _rolled(x: Any, shift: int, dim: int) -> Any:
    if not x.sizes or 0 in x.sizes:
        return clone(x)
    n = x.sizes[dim]
    start = (n - shift) % n
    return cat([slice(x, dim, start, n), slice(x, dim, 0, start)], dim)


@composite(methods=True)
def rot90(input: Tensor, k: int = 1, dims: Ints = (0, 1)) -> Any:
    """Turned by 90 degrees k times in the plane of two dimensions, from the first towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if len(input.sizes) < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {len(input.sizes)}")
    first, second = (wrap_dim(d, len(input.sizes)) for d in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turns = k % 4
    if turns == 0:
        return clone(input, contiguous_format)
    if turns == 2:
        return flip(input, (first, second))
    return transpose(flip(input, (second if turns == 1 else first,)), first, second)
