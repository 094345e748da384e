"""x[...] and x[...] = v: what each kind of index does, in Python's order from left to right.

Ints, slices, None and ... make views; lists, integer tensors and bool masks choose elements and copy.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1, 2, 3], [4, 5, 6]])
>>> x[:, 1:].stride(), x[[1, 0], 2], x[x > 4], x[..., None].shape, x[True].shape
((3, 1), tensor([6, 3]), tensor([5, 6]), torch.Size([2, 3, 1]), torch.Size([1, 2, 3]))
>>> x[x > 4] = 0
>>> x
tensor([[1, 2, 3],
        [4, 0, 0]])
"""

from __future__ import annotations

import builtins
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.symbolic import WHOLE, SymFloat, SymInt
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.dispatch.op_families import check_storable
from minitorch_compile.tensor.memory.device import no_default_device
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, int32, int64, uint8
from minitorch_compile.tensor.ops.copies import to
from minitorch_compile.tensor.ops.creation import full
from minitorch_compile.tensor.ops.indexing import index, index_sizes
from minitorch_compile.tensor.ops.masking import argwhere, masked_fill
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import select, slice, unsqueeze, view_op
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

MASKS = (bool_, uint8)


@composite(torch=False)
def getitem(input: Tensor, key: Any) -> Any:
    """input[key]. IndexError for too many indices, one out of range, or one of an unknown kind."""
    if type(key) is int and input.sizes:  # the most frequent one
        return select(input, 0, key)
    if isinstance(key, TensorBase) and key.dtype in MASKS and len(key.sizes) > 1 and key.sizes == input.sizes:
        return index(reshape(input, (-1,)), [select(argwhere(reshape(key, (-1,))), 1, 0)])
    viewed, indices = _basic(input, _as_tuple(key))
    if indices:
        return index(viewed, indices)
    if viewed is input:  # x[:] is not x itself
        return slice(input) if input.sizes else view_op(input, ())
    return viewed


@composite(torch=False)
def setitem(input: Tensor, key: Any, value: Any) -> None:
    """input[key] = value, in place. A number, or a tensor that expands to the chosen elements."""
    items, source = _as_tuple(key), _as_source(input, value)
    if len(items) == 1 and isinstance(items[0], TensorBase) and items[0].dtype in MASKS and numel(source.sizes) == 1:
        input.copy_(masked_fill(input, _over_all(input, items[0]), view_op(source, ())))  # its sizes are known
        return
    viewed, indices = _basic(input, items)
    if not indices:
        viewed.copy_(_without_leading_ones(source, len(viewed.sizes)))
        return
    if isinstance(value, TensorBase) and value.dtype is not input.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype} for the destination and"
            f" {value.dtype} for the source; convert it with .to({input.dtype})"
        )
    check_storable("index_put_", viewed, empty_fake(viewed.sizes, None, input.dtype))
    chosen = index_sizes(viewed.sizes, [None if i is None else i.sizes for i in indices])
    viewed.index_put_(indices, _without_leading_ones(source, len(chosen)))


def _as_source(input: TensorBase, value: Any) -> Any:
    if isinstance(value, TensorBase):
        return to(value, input.dtype)
    if not isinstance(value, (bool, int, float, complex, np.generic, SymInt, SymFloat)):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a torch.{input.dtype.name} tensor; make a tensor of it"
        )
    return full((), value, input.dtype)


def _without_leading_ones(source: Any, ndim: int) -> Any:
    """PyTorch lets a value have more dimensions than what it is stored in, if the first ones have size 1."""
    while len(source.sizes) > ndim and source.sizes[0] == 1:
        source = select(source, 0, 0)
    return source


def _over_all(x: TensorBase, mask: Any) -> Any:
    """A mask of the first dimensions of x as one that broadcasts to x."""
    _check_mask(x, 0, mask)
    mask = mask if mask.dtype is bool_ else mask != 0
    return view_op(mask, (*mask.sizes, *[1] * (len(x.sizes) - len(mask.sizes)))) if len(mask.sizes) else mask


# ------------------------------------------------------------------------------------------ reading the key


def _as_tuple(key: Any) -> tuple[Any, ...]:
    """The indices one by one. A short list that holds anything but numbers counts as a tuple, as in PyTorch."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and len(key) < 32:
        nested = (TensorBase, Sequence, np.ndarray, builtins.slice)
        if any(item is None or item is Ellipsis or isinstance(item, nested) for item in key):
            return tuple(key)
    return (key,)


def _basic(x: Any, items: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The view that the basic part of the key asks for, and the index tensors to apply to its dimensions."""
    indices: list[Any] = []
    dim = 0
    for place, item in enumerate(_without_ellipsis(x, [_as_index(item) for item in items])):
        if item is None:
            x = unsqueeze(x, dim)
        elif isinstance(item, builtins.slice):
            if item != builtins.slice(None):
                x = slice(x, dim, item.start, item.stop, 1 if item.step is None else item.step)
        elif isinstance(item, WHOLE) and not isinstance(item, bool):
            try:
                x = select(x, dim, item)
            except IndexError as error:  # which knows the dimensions that are left, and not the user's
                size = x.sizes[dim]
                raise IndexError(f"index {item} is out of bounds for dimension {place} with size {size}") from error
            continue
        else:
            x, chosen = _chosen(x, dim, item)
            indices += [None] * (dim - len(indices)) + chosen
            dim += len(chosen)
            continue
        dim += 1
    return x, indices


def _chosen(x: Any, dim: int, item: Any) -> tuple[Any, list[Any]]:
    """An index tensor, or for a mask the places where it holds: an index tensor for each of its dimensions.

    A single bool chooses all or nothing of a new dimension.
    """
    if isinstance(item, bool) or (not item.sizes and item.dtype in MASKS):
        x = unsqueeze(x, dim)
        item = full((1,), item, bool_) if isinstance(item, bool) else view_op(item, (1,))
    if item.dtype not in MASKS:
        return x, [item]
    _check_mask(x, dim, item)
    found = argwhere(item)
    return x, [select(found, 1, d) for d in range(len(item.sizes))]


def _as_index(item: Any) -> Any:
    """An int, slice, None, ..., bool or index tensor. IndexError for anything else."""
    if item is None or item is Ellipsis or isinstance(item, (bool, int, builtins.slice, SymInt)):
        return item
    if isinstance(item, TensorBase):
        if not item.sizes and item.dtype.category < FLOATING and item.dtype not in MASKS and not item.is_fake:
            return int(item.array)  # a 0-d integer tensor is an int, whose value a fake one doesn't have
        if item.dtype not in (int64, int32, *MASKS):
            raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {item.dtype}")
        return item
    if isinstance(item, (Sequence, np.ndarray)) and not isinstance(item, (str, bytes)):
        from minitorch_compile.tensor.ops.construct import tensor

        with no_default_device():  # indices may be in main memory, whatever is indexed
            made = tensor(item) if len(item) else full((0,), 0, int64)
        return _as_index(made) if made.sizes else int(made.array)
    if isinstance(item, (str, bytes)):
        raise TypeError(f"a tensor has no fields: invalid index {item!r}")
    if hasattr(item, "__index__") and not isinstance(item, np.bool_):
        return operator.index(item)
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got"
        f" {type(item).__name__})"
    )


def _dims_used(item: Any) -> int:
    """How many dimensions of the tensor an index stands for."""
    if item is None or isinstance(item, bool):
        return 0
    return len(item.sizes) if isinstance(item, TensorBase) and item.dtype in MASKS else 1


def _without_ellipsis(x: TensorBase, items: list[Any]) -> list[Any]:
    """The key with `...` written out as whole slices."""
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    used = sum(_dims_used(item) for item in items if item is not Ellipsis)
    if used > len(x.sizes):
        raise IndexError(f"too many indices for tensor of dimension {len(x.sizes)}: got {used}")
    if not dots:
        return items
    # PyTorch gives the first of several all that is left, and the others nothing
    rest = [item for item in items[dots[0] + 1 :] if item is not Ellipsis]
    return [*items[: dots[0]], *[builtins.slice(None)] * (len(x.sizes) - used), *rest]


def without_masks(x: TensorBase, indices: Sequence[Any]) -> list[Any]:
    """The indices of index_put, in which a bool mask stands for the places where it holds."""
    result: list[Any] = []
    for item in indices:
        result += [None] if item is None else _chosen(x, len(result), item)[1]
    return result


def _check_mask(x: TensorBase, dim: int, mask: TensorBase) -> None:
    if mask.dtype is uint8:
        warnings.warn("indexing with dtype torch.uint8 is deprecated; use a mask of torch.bool", stacklevel=2)
    if mask.sizes != x.sizes[dim : dim + len(mask.sizes)]:
        raise IndexError(
            f"The shape of the mask {list(mask.sizes)} at index {dim} does not match the shape of the indexed tensor"
            f" {list(x.sizes)} at index {dim}"
        )
