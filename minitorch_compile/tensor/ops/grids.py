"""Every combination of several vectors' elements.

>>> from minitorch_compile.tensor import arange, tensor
>>> rows, columns = meshgrid(arange(2), arange(3), indexing="ij")
>>> rows
tensor([[0, 0, 0],
        [1, 1, 1]])
>>> cartesian_prod(tensor([1, 2]), tensor([3, 4])).tolist(), combinations(tensor([1, 2, 3])).tolist()
([[1, 3], [1, 4], [2, 3], [2, 4]], [[1, 2], [1, 3], [2, 3]])
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.symbolic import WHOLE
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.dispatch import converted_by_modes
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import FLOATING, INTEGER, int64
from minitorch_compile.tensor.ops.copies import to
from minitorch_compile.tensor.ops.creation import arange, full
from minitorch_compile.tensor.ops.index_along import take
from minitorch_compile.tensor.ops.joining import stack
from minitorch_compile.tensor.ops.pointwise import floor_divide, pow, remainder
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.splitting import unbind
from minitorch_compile.tensor.ops.view import expand, transpose, unsqueeze, view_op
from minitorch_compile.tensor.tensor_base import wrap
from minitorch_compile.user_warnings import warn_user


@composite()
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> Any:
    """For each of the vectors `tensors`, a tensor in which it runs along a dimension of its own: a tuple of views.

    `indexing`="ij": the first vector runs along dimension 0; "xy": along dimension 1, as in plots. PyTorch warns if it
    isn't given, and takes "ij".

    >>> rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    >>> rows, columns
    (tensor([[0, 0, 0],
            [1, 1, 1]]), tensor([[0, 1, 2],
            [0, 1, 2]]))
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warn_user('meshgrid: pass indexing="ij" or "xy"; without it "ij" is meant', UserWarning)
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in given:
        if len(x.sizes) > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(x.sizes)}")
        if x.dtype is not given[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    sizes = tuple(x.numel() for x in given)
    grids = [
        expand(view_op(x, tuple(sizes[d] if d == own else 1 for d in range(len(sizes)))), sizes)
        for own, x in enumerate(given)
    ]
    return tuple(transpose(grid, 0, 1) for grid in grids) if indexing == "xy" and len(sizes) > 1 else tuple(grids)


@composite()
def cartesian_prod(*tensors: Tensor) -> Any:
    """Every combination of an element of each vector, one row each; of a single vector the vector itself."""
    if any(len(x.sizes) != 1 for x in tensors):
        raise RuntimeError("cartesian_prod: Expect a 1D vector for each argument")
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(grid, (-1,)) for grid in meshgrid(*tensors, indexing="ij")], 1)


@composite()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """Every choice of r elements of a vector, one row each, in order."""
    if len(input.sizes) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.sizes)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return full((0,), 0, input.dtype)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.sizes[0]), r))
    return take(input, converted_by_modes(wrap(np.array(rows, dtype=np.int64).reshape(len(rows), r))))


@composite()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of each element of a vector, one row each: N columns, falling unless `increasing`."""
    if len(x.sizes) != 1:
        raise RuntimeError(f"vander: expected a vector, got sizes {list(x.sizes)}")
    x = to(x, int64) if x.dtype.category < FLOATING else x
    columns = x.sizes[0] if N is None else N
    if columns < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {columns}")
    exponents = arange(columns) if increasing else columns - 1 - arange(columns)
    return pow(unsqueeze(x, 1), to(exponents, x.dtype))


@composite()
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> Any:
    """The places in a tensor of that shape of places in the flattened tensor: an index tensor for each dimension."""
    sizes = (shape,) if isinstance(shape, WHOLE) else tuple(shape)
    if indices.dtype.category != INTEGER:
        raise ValueError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = contiguous_strides(sizes)
    return unbind(stack([remainder(floor_divide(indices, s), n) for n, s in zip(sizes, steps, strict=True)], -1), -1)
