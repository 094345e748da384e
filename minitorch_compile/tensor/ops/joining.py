"""Ops that put several tensors together.

>>> from minitorch_compile.tensor import tensor
>>> cat([tensor([1, 2]), tensor([3])]), stack([tensor([1, 2]), tensor([3, 4])], dim=1)
(tensor([1, 2, 3]), tensor([[1, 3],
        [2, 4]]))
>>> column_stack([tensor([1, 2]), tensor([3, 4])]).tolist(), hstack([tensor(1), tensor([2, 3])])
([[1, 3], [2, 4]], tensor([1, 2, 3]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.symbolic import expect_equal_sizes
from minitorch_compile.tensor.dispatch.declare import alias, composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.memory_format import contiguous_format, strides_in, suggested_format
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, promote_types
from minitorch_compile.tensor.ops.reshaping import atleast_1d, atleast_2d, atleast_3d, reshape
from minitorch_compile.tensor.ops.view import unsqueeze
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("joining")
def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Tensors one after another along the dimension `dim`. `tensors` is a list or tuple; the other sizes must be equal
    (RuntimeError); dtypes combine as those of operands do. Empty one-dimensional tensors are left out.

    >>> torch.cat([torch.zeros(1, 2), torch.ones(2, 2)])
    tensor([[0., 0.],
            [1., 1.],
            [1., 1.]])
    >>> torch.cat([torch.zeros(2, 1), torch.ones(2, 2)], dim=1).shape
    torch.Size([2, 3])
    """
    element = tensors[0].dtype if len({t.dtype for t in tensors}) == 1 else _promoted(tensors)
    parts = [t for t in tensors if not is_nothing(t.shape)] or tensors
    return np.concatenate([t.astype(element, copy=False) for t in parts], axis=dim)


def _promoted(tensors: Sequence[Array]) -> np.dtype:
    element = FROM_NUMPY[tensors[0].dtype]
    for t in tensors[1:]:
        element = promote_types(element, FROM_NUMPY[t.dtype])
    return element.numpy


def is_nothing(sizes: Sequence[int]) -> bool:
    """Whether these are the sizes of tensor([]), which PyTorch lets stand among tensors of any dimensions."""
    return tuple(sizes) == (0,)


@cat.shape_rule
def _cat_rule(tensors: Sequence[TensorBase], dim: int = 0) -> TensorBase:
    _check_list("cat", tensors)
    element = tensors[0].dtype
    for position, t in enumerate(tensors):
        if not t.sizes:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated; torch.stack makes a new"
                " dimension"
            )
        element = promote_types(element, t.dtype)
    parts = [t for t in tensors if not is_nothing(t.sizes)] or tensors
    first, total = parts[0], 0
    at = wrap_dim(dim, len(first.sizes))
    for position, t in enumerate(parts):
        if not _alike_but_for(at, t.sizes, first.sizes):
            raise RuntimeError(
                f"cat: sizes of tensors must match except in dimension {at}: tensor 0 is {list(first.sizes)}, tensor"
                f" {position} is {list(t.sizes)}"
            )
        total += t.sizes[at]
    sizes = tuple(total if d == at else n for d, n in enumerate(first.sizes))
    return empty_fake(sizes, _cat_strides(tensors, sizes), element)


def _alike_but_for(dim: int, a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether sizes agree in all dimensions but one."""
    return expect_equal_sizes((*a[:dim], *a[dim + 1 :]), (*b[:dim], *b[dim + 1 :]))


def _cat_strides(tensors: Sequence[TensorBase], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """In the memory format that all tensors have, else in row-major order."""
    formats = {suggested_format(t.sizes, t.strides) for t in tensors} if len(sizes) > 3 else set()
    return strides_in(formats.pop() if len(formats) == 1 else contiguous_format, sizes)


def _check_list(name: str, tensors: Any) -> None:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        error = ValueError if name == "cat" else RuntimeError
        raise error(f"{name}: expected a non-empty list of Tensors")
    for position, t in enumerate(tensors):
        if not isinstance(t, TensorBase):
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, but found element of type"
                f" {type(t).__name__} at pos {position}"
            )


concat = alias("concat", cat)
concatenate = alias("concatenate", cat)


@composite()
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of equal sizes side by side along a new dimension, at the place `dim`. `tensors` is a list or tuple.
    RuntimeError if the sizes differ, or there are none.

    >>> a, b = torch.tensor([1, 2]), torch.tensor([3, 4])
    >>> torch.stack([a, b])
    tensor([[1, 2],
            [3, 4]])
    >>> torch.stack([a, b], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    _check_list("stack", tensors)
    at = wrap_dim(dim, len(tensors[0].sizes) + 1)
    for position, t in enumerate(tensors):
        if not expect_equal_sizes(t.sizes, tensors[0].sizes):
            raise RuntimeError(
                f"stack: expects each tensor to be equal size, but got {list(tensors[0].sizes)} at entry 0 and"
                f" {list(t.sizes)} at entry {position}"
            )
    return cat([unsqueeze(t, at) for t in tensors], at)


@composite()
def hstack(tensors: Sequence[Tensor]) -> Any:
    """Tensors side by side: along the second dimension, vectors along their only one."""
    _check_list("hstack", tensors)
    given = [atleast_1d(t) for t in tensors]
    return cat(given, 0 if len(given[0].sizes) == 1 else 1)


@composite()
def vstack(tensors: Sequence[Tensor]) -> Any:
    """Tensors one below the other: along the first dimension; a vector is a row."""
    _check_list("vstack", tensors)
    return cat([atleast_2d(t) for t in tensors], 0)


row_stack = alias("row_stack", vstack)


@composite()
def dstack(tensors: Sequence[Tensor]) -> Any:
    """Tensors one behind the other: along the third dimension."""
    _check_list("dstack", tensors)
    return cat([atleast_3d(t) for t in tensors], 2)


@composite()
def column_stack(tensors: Sequence[Tensor]) -> Any:
    """Vectors, and numbers, as the columns of a matrix; tensors of more dimensions side by side."""
    _check_list("column_stack", tensors)
    return hstack([t if len(t.sizes) > 1 else reshape(t, (t.numel(), 1)) for t in tensors])
