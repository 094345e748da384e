"""Putting elements in order. Only positions are computed here; values, and so gradients, come from `gather`.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([2.0, 3.0, 1.0])
>>> sort(x, descending=True).values, argsort(x), topk(x, 2).indices, kthvalue(x, 1).values
(tensor([3., 2., 1.]), tensor([2, 0, 1]), tensor([1, 0]), tensor(1.))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.strides import is_dense
from minitorch_compile.tensor.numerics.dtype import bool_, int64
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.gathering import gather
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("sorting", methods=True)
def argsort(input: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    """The positions that put the elements along `dim` in order, falling if `descending`; NaN is the largest. Equal
    elements keep their order (PyTorch promises that only if `stable`).

    >>> torch.argsort(torch.tensor([3, 1, 2]))
    tensor([1, 2, 0])
    """
    if input.ndim == 0:
        return np.zeros((), np.int64)
    return _stable_order(input, dim, descending)


def _stable_order(input: Array, dim: int, descending: bool) -> Array:
    """Descending: the mirror image of the mirror image's ascending order, so that equal elements keep theirs."""
    if not descending:
        return np.argsort(input, dim, kind="stable")
    mirrored = np.argsort(np.flip(input, dim), dim, kind="stable")
    return input.shape[dim] - 1 - np.flip(mirrored, dim)


@argsort.shape_rule
def _argsort_rule(input: TensorBase, dim: int = -1, descending: bool = False, stable: bool = False) -> TensorBase:
    wrap_dim(dim, len(input.sizes))
    complex_support.refuse_complex("argsort", input.dtype)
    return empty_fake(input.sizes, _layout_of(input), int64)


def _layout_of(input: TensorBase) -> Sequence[int]:
    """The strides of a sorted tensor: those of the input, without gaps."""
    if is_dense(input.sizes, input.strides):
        return input.strides
    return elementwise_strides(input.sizes, [(input.sizes, input.strides)])


@composite(methods=True)
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False) -> Any:
    """(values, indices): the elements along `dim` in order, falling if `descending`, and where they stood. NaN is the
    largest. Equal ones keep their order; PyTorch promises that only if `stable`.

    >>> torch.sort(torch.tensor([3, 1, 2])).values, torch.tensor([3, 1, 2]).sort(descending=True).indices
    (tensor([1, 2, 3]), tensor([0, 2, 1]))
    """
    indices = argsort(input, dim, descending, bool(stable))
    return return_types.sort(_in_layout_of(indices, input, dim), indices)


def _in_layout_of(indices: Any, input: Any, dim: int) -> Any:
    """The elements that the indices name, in the memory order of the indices: gathered with the dimensions in that
    order."""
    order = sorted(range(len(indices.sizes)), key=lambda d: (-indices.strides[d], d))
    if order == list(range(len(order))):
        return gather(input, dim, indices)
    found = gather(input.permute(order), order.index(wrap_dim(dim, len(order))), indices.permute(order))
    return found.permute([order.index(d) for d in range(len(order))])


@composite(methods=True)
def msort(input: Tensor) -> Any:
    """The elements along the first dimension in order."""
    return sort(input, 0).values


PARTITION_PAYS = 4  # below this share of the elements, finding the largest first is faster than sorting all


@kernel_op("sorting", torch=False)
def topk_indices(input: Array, k: int, dim: int, largest: bool) -> Array:
    """Where the k largest (or smallest) elements along `dim` stand, in order; NaN is the largest."""
    if input.ndim == 0:
        return np.zeros((), np.int64)
    size = input.shape[dim]
    if k == 0 or k > size // PARTITION_PAYS:
        return np.take(_stable_order(input, dim, largest), np.arange(k), dim)
    places = np.arange(size - k, size) if largest else np.arange(k)
    candidates = np.take(np.argpartition(input, size - k if largest else k - 1, dim), places, dim)
    candidates.sort(dim)  # so that equal elements come in their order
    order = _stable_order(np.take_along_axis(input, candidates, dim), dim, largest)
    return np.take_along_axis(candidates, order, dim)


@topk_indices.shape_rule
def _topk_rule(input: TensorBase, k: int, dim: int, largest: bool) -> TensorBase:
    at = wrap_dim(dim, len(input.sizes))
    if not 0 <= k <= (input.sizes[at] if input.sizes else 1):
        raise RuntimeError(f"selected index k out of range: k = {k}, sizes {list(input.sizes)}, dim {dim}")
    if input.dtype is bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU; call .int() first")
    complex_support.refuse_complex("topk", input.dtype)
    return empty_fake([k if d == at else n for d, n in enumerate(input.sizes)], None, int64)


@composite(methods=True)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the `k` largest elements along `dim`, or of the smallest unless `largest`; in order if
    `sorted`. RuntimeError if there are fewer than k.

    >>> torch.topk(torch.tensor([3, 1, 4, 2]), 2).values
    tensor([4, 3])
    """
    indices = topk_indices(input, k, dim, largest)
    return return_types.topk(gather(input, dim, indices), indices)


@composite(methods=True)
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices) of the `k`-th smallest element along `dim`, k >= 1, which stays with size 1 if `keepdim`.
    RuntimeError if there are fewer than k.

    >>> torch.kthvalue(torch.tensor([3, 1, 4, 2]), 2)
    torch.return_types.kthvalue(
    values=tensor(2),
    indices=tensor(3))
    """
    if input.dtype is bool_:
        raise NotImplementedError("kthvalue: implemented for numbers, got a bool tensor; call .int() first")
    at = wrap_dim(dim, len(input.sizes))
    size = input.sizes[at] if input.sizes else 1
    if size == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {at} to have non-zero size.")
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {at}: k = {k}, size {size}")
    place = argsort(input, dim).narrow(at, k - 1, 1).contiguous() if input.sizes else argsort(input)
    return return_types.kthvalue(*chosen(input, place, dim, keepdim))


def chosen(input: Any, indices: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """(values, indices) of the elements that indices of size 1 along `dim` name, with that dimension or without."""
    values = gather(input, dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))
