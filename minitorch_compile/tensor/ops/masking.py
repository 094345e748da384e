"""Elements chosen by a bool mask, and the places where something isn't 0.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 2.0, 3.0])
>>> masked_fill(x, x > 1, 0), masked_select(x, x > 1), nonzero(x > 1)
(tensor([1., 0., 0.]), tensor([2., 3.]), tensor([[1],
        [2]]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import bool_, int64
from minitorch_compile.tensor.numerics.element_conversion import element_of
from minitorch_compile.tensor.ops.copies import clone, contiguous, to
from minitorch_compile.tensor.ops.indexing import index
from minitorch_compile.tensor.ops.pointwise import sub, where
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.scan import cumsum
from minitorch_compile.tensor.ops.view import expand, select, unsqueeze
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase


@kernel_op("indexing", methods=True)
def argwhere(input: Array) -> Array:
    """The indices of the elements that are not 0, one row each. Its size depends on the data: it can't be traced."""
    return np.stack(np.nonzero(input), axis=0).T if input.ndim else np.empty((int(input != 0), 0), np.int64)


argwhere.shape_depends_on_data = True


@argwhere.shape_rule
def _argwhere_rule(input: TensorBase) -> TensorBase:
    if not isinstance(input, TensorBase):
        raise TypeError(f"nonzero(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if input.is_fake:
        raise FakeDataError(
            "nonzero: the size of the result depends on the data, which a fake tensor doesn't have;"
            " torch.where(mask, x, 0) keeps the sizes"
        )
    return input


@composite(methods=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: one row each, or with `as_tuple` an index tensor for each dimension.

    >>> torch.nonzero(torch.tensor([[0, 5], [6, 0]])), torch.nonzero(torch.tensor([0, 7]), as_tuple=True)
    (tensor([[0, 1],
            [1, 0]]), (tensor([1]),))
    """
    if not as_tuple:
        return argwhere(input)
    rows = argwhere(unsqueeze(input, 0) if not input.sizes else input)
    return tuple(select(rows, 1, d) for d in range(max(len(input.sizes), 1)))


def _check_mask(name: str, mask: Any) -> None:
    if not isinstance(mask, TensorBase):
        raise TypeError(f"{name}(): argument 'mask' must be Tensor, not {type(mask).__name__}")
    if mask.dtype is not bool_:
        raise RuntimeError(f"{name}: only supports boolean masks, but got mask with dtype {mask.dtype}")


@composite(methods=True, inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Scalar) -> Any:
    """`value`, a number or 0-d tensor, where the bool `mask` holds, else the input; keeps the input's dtype. The mask
    broadcasts.

    >>> torch.tensor([1.0, -2.0]).masked_fill(torch.tensor([False, True]), 0.0)
    tensor([1., 0.])
    """
    _check_mask("masked_fill", mask)
    if isinstance(value, TensorBase):
        if value.sizes:
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with"
                f" {len(value.sizes)} dimension(s)."
            )
        return contiguous(where(mask, to(value, input.dtype), input))
    return contiguous(where(mask, element_of(value, input.dtype), input))


@composite(methods=True)
def masked_select(input: Tensor, mask: Tensor) -> Any:
    """The elements where the bool `mask` holds, one after another; the two broadcast."""
    _check_mask("masked_select", mask)
    sizes = broadcast_sizes(input.sizes, mask.sizes)
    if not sizes:
        return index(reshape(input, (1,)), [select(argwhere(reshape(mask, (1,))), 1, 0)])
    found = argwhere(expand(mask, sizes))
    return index(expand(input, sizes), [select(found, 1, d) for d in range(len(sizes))])


@composite(methods=True, inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The elements of `source`, in order, where the bool `mask` holds, else the input.

    RuntimeError if source has too few.
    """
    _check_mask("masked_scatter", mask)
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}"
        )
    sizes = broadcast_sizes(input.sizes, mask.sizes)
    chosen, given = reshape(expand(mask, sizes), (-1,)), reshape(source, (-1,))
    place = sub(cumsum(to(chosen, int64), 0), 1)  # in `source`; -1 before the first
    if not (place.is_fake or place.is_example):
        _check_source(given, 1 + int(select(place, 0, -1)) if place.sizes[0] else 0)
    elif not given.sizes[0]:
        raise FakeDataError("masked_scatter: from an empty source, it depends on the data if anything is taken")
    if not given.sizes[0]:
        return clone(expand(input, sizes))
    values = index(given, [place])
    return reshape(where(chosen, values, reshape(expand(input, sizes), (-1,))), sizes)


def _check_source(given: TensorBase, count: int) -> None:
    if count > given.sizes[0]:
        raise RuntimeError(
            f"masked_scatter: expected source to have at least {count} elements, as the mask holds there, but it has"
            f" {given.sizes[0]}"
        )
