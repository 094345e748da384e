"""Memory formats: in which order the dimensions of a tensor lie in memory.

`channels_last` is NHWC memory under NCHW sizes: the channels of one pixel are neighbours.

>>> strides_in(channels_last, (2, 3, 4, 5))
(60, 1, 15, 3)
>>> is_in_format((2, 3, 4, 5), (60, 1, 15, 3), channels_last), is_in_format((2, 3), (3, 1), channels_last)
(True, False)

Source: c10/core/MemoryFormat.h of PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.strides import Ints, contiguous_strides, is_contiguous, is_dense, recalled


class memory_format:
    """One of `contiguous_format`, `channels_last`, `channels_last_3d`, `preserve_format`. Compare with `is`.

    `order` says, for the two formats that fix one, from which dimension to which memory runs, slowest first.
    """

    __module__ = "minitorch_compile"  # as PyTorch shows it

    __slots__ = ("name", "order")

    def __init__(self, name: str, order: Ints | None = None) -> None:
        self.name = name
        self.order = order

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # a singleton: unpickling finds this module's global of that name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))


class layout:
    """How elements are stored: `strided`, or the sparse ways."""

    __module__ = "minitorch_compile"  # as PyTorch shows it

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


jagged = layout("jagged")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")


def strides_in(format: memory_format, sizes: Sequence[int]) -> Ints:
    """The strides of a new tensor in that format. RuntimeError if the format is for another number of dimensions."""
    if format.order is None:
        return contiguous_strides(tuple(sizes))
    if len(sizes) != len(format.order):
        raise RuntimeError(
            f"required rank {len(format.order)} tensor to use {format.name} format, got sizes {list(sizes)}"
        )
    result, step = [0] * len(sizes), 1
    for dim in reversed(format.order):
        result[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(result)


def is_in_format(sizes: Sequence[int], strides: Sequence[int], format: memory_format) -> bool:
    """Whether the elements lie in memory in that order without gaps. RuntimeError for preserve_format."""
    if format is contiguous_format:
        return is_contiguous(sizes, strides)
    if format.order is None:
        raise RuntimeError("is_contiguous: preserve_format is unsupported; name the format that is meant")
    if len(sizes) != len(format.order):
        return False
    if 0 in sizes:
        return True
    step = 1
    for dim in reversed(format.order):
        if sizes[dim] != 1:
            if strides[dim] != step:
                return False
            step *= sizes[dim]
    return True


def suggested_format(sizes: Sequence[int], strides: Sequence[int]) -> memory_format:
    """The format that ops which choose a layout follow: channels last if the strides say so, else contiguous.

    Strides of size-1 dimensions count: they tell a (N, 1, H, W) tensor that was made channels_last from one that
    wasn't.
    """
    for format in (channels_last, channels_last_3d):
        if len(sizes) == len(format.order or ()) and _runs_like(sizes, strides, format.order or ()):
            return format
    return contiguous_format


def _runs_like(sizes: Sequence[int], strides: Sequence[int], order: Ints) -> bool:
    """Whether strides fall in that order. Source: c10's is_channels_last_strides_2d_s4."""
    channels = 1
    if strides[channels] == 0:
        return False
    least = 0
    for dim in reversed(order):
        if sizes[dim] == 0 or strides[dim] < least:
            return False
        # an (N, 1, 1, 1) tensor is ambiguous, and counts as contiguous
        if dim == 0 and least == strides[channels]:
            return False
        least = strides[dim]
        if sizes[dim] > 1:
            least *= sizes[dim]
    return True


def preserved_strides(sizes: Ints, strides: Ints) -> Ints:
    """The strides of a copy in preserve_format: the input's if it is dense, else dense ones in the same order."""
    result: Ints = recalled(_preserved, sizes, strides)
    return result


@lru_cache(maxsize=4096)
def _preserved(sizes: Ints, strides: Ints) -> Ints:
    if is_dense(sizes, strides):
        return tuple(strides)
    return elementwise_strides(sizes, [(sizes, strides)])


def copy_strides(format: memory_format | None, sizes: Ints, strides: Ints) -> Ints:
    """The strides of a copy of a tensor; no format means preserve_format."""
    if format is None or format is preserve_format:
        return preserved_strides(sizes, strides)
    return strides_in(format, sizes)
