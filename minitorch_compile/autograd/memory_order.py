"""A tensor's elements as they lie in memory, and the places of a window in them: what a strided view picks out.

>>> from minitorch_compile.tensor import arange
>>> from minitorch_compile.autograd.node import Layout
>>> x = arange(6).view(2, 3).t()
>>> flatten(x.contiguous(), Layout(x)).tolist()       # the memory behind x, whatever the layout of the argument
[0, 1, 2, 3, 4, 5]
>>> places((2, 2), (3, 1), 1)                         # of the window [[1, 2], [4, 5]]
tensor([[1, 2],
        [4, 5]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.node import Layout
from minitorch_compile.tensor import Tensor, int64, ops
from minitorch_compile.tensor.memory.strides import is_dense, numel


def _slowest_first(layout: Layout) -> list[int]:
    """The dimensions of a dense tensor in the order of its memory. RuntimeError if there are gaps or overlaps."""
    if not is_dense(layout.sizes, layout.strides):
        raise RuntimeError(
            f"a gradient through a strided view or an in-place write needs a base without gaps or overlaps, got sizes"
            f" {list(layout.sizes)} and strides {layout.strides}; call .contiguous() on it first"
        )
    return sorted(range(len(layout.sizes)), key=lambda d: -layout.strides[d])


def flatten(x: Tensor, layout: Layout) -> Any:
    """The elements of `x` one after another, as a tensor of that layout has them in memory."""
    return ops.reshape(ops.permute(x, tuple(_slowest_first(layout))), (numel(layout.sizes),))


def unflatten(flat: Tensor, layout: Layout) -> Any:
    """The tensor whose memory, in that layout, holds the elements of `flat`."""
    order = _slowest_first(layout)
    ordered = ops.reshape(flat, tuple(layout.sizes[d] for d in order))
    return ops.permute(ordered, tuple(order.index(d) for d in range(len(order))))


def places(sizes: Sequence[int], strides: Sequence[int], first: int) -> Any:
    """For each element of a window its place in the flat memory."""
    result = ops.full(tuple(sizes), first, int64)
    for dim, (n, stride) in enumerate(zip(sizes, strides, strict=True)):
        along = ops.arange(n) * stride
        result = result + ops.reshape(along, tuple(n if d == dim else 1 for d in range(len(sizes))))
    return result


def check_inside(sizes: Sequence[int], strides: Sequence[int], first: int, layout: Layout) -> None:
    """RuntimeError unless the window lies within a tensor of that layout."""
    last = first + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if numel(sizes) and (first < 0 or last >= numel(layout.sizes)):
        raise RuntimeError(
            f"as_strided: the window reaches elements {first} to {last} counted from its input, which has only"
            f" {numel(layout.sizes)}: no gradient can be sent there; apply as_strided to the tensor that owns the"
            " storage"
        )
