"""Pooling to a given output size.

Part i of o parts of n elements goes from i * n / o, rounded down, to (i + 1) * n / o, rounded up; so neighbours overlap
where o doesn't divide n.

>>> from minitorch_compile.tensor import arange
>>> x = arange(10.0).view(1, 2, 5)
>>> adaptive_avg_pool1d(x, 2), adaptive_max_pool1d(x, 2)[1]
(tensor([[[1., 3.],
         [6., 8.]]]), tensor([[[2, 4],
         [2, 4]]]))
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.accelerators import moved
from minitorch_compile.tensor.dispatch.complex_support import unsupported
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.dispatch import converted_by_modes
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.memory_format import suggested_format
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.ops.average_pooling import avg_pool
from minitorch_compile.tensor.ops.gathering import gather
from minitorch_compile.tensor.ops.indexing import index
from minitorch_compile.tensor.ops.max_pooling import max_pool_with_indices
from minitorch_compile.tensor.ops.pooling_windows import batched_image
from minitorch_compile.tensor.ops.reduction import argmax, mean
from minitorch_compile.tensor.ops.resampling import SparseMap, TwoWayMap, apply_map
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import expand, squeeze
from minitorch_compile.tensor.ops.windows import Ints, int_tuple
from minitorch_compile.tensor.tensor_base import wrap


@lru_cache(maxsize=256)
def parts(size: int, count: int) -> tuple[Array, Array]:
    """Where each of `count` overlapping parts of `size` elements starts and ends.

    >>> parts(5, 2)
    (array([0, 2]), array([3, 5]))
    """
    number = np.arange(count)
    return number * size // max(count, 1), -((-(number + 1) * size) // max(count, 1))


def _arguments(name: str, ndim: int, input: Any, output_size: Any) -> tuple[Any, bool, Ints]:
    """The input as (N, C, *sizes), whether it was that already, and the sizes asked for; None keeps a size."""
    x, batched = batched_image(name, ndim, input)
    if isinstance(output_size, Sequence) and len(output_size) == ndim:
        output_size = [n if o is None else o for o, n in zip(output_size, x.sizes[2:], strict=True)]
    out = int_tuple(output_size, ndim, name, "output_size")
    if any(n < 0 for n in out):
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received {out}")
    return x, batched, out


# ------------------------------------------------------------------------------------------ means


def _averaged(name: str, ndim: int, input: Any, output_size: Any) -> Any:
    x, batched, out = _arguments(name, ndim, input, output_size)
    sizes = tuple(x.sizes[2:])
    if all(o == 1 for o in out):
        result = mean(x, tuple(range(2, 2 + ndim)), True)
    elif x.dtype.category < FLOATING:
        raise NotImplementedError(f"{name}: not implemented for {x.dtype}; convert the input with .float()")
    elif x.dtype.is_complex:
        raise unsupported(name, x.dtype)
    elif all(o and n % o == 0 for o, n in zip(out, sizes, strict=True)):
        kernel = tuple(n // o for n, o in zip(sizes, out, strict=True))
        result = avg_pool(x, kernel, kernel, (0,) * ndim, False, True, None)
    else:
        result = x
        for d, (n, o) in enumerate(zip(sizes, out, strict=True)):
            if n != o:
                result = apply_map(result, 2 + d, averaging(int(n), int(o)))
    return result if batched else squeeze(result, 0)


@lru_cache(maxsize=256)
def averaging(size: int, count: int) -> TwoWayMap:
    """The means of overlapping parts, as a map."""
    starts, ends = parts(size, count)
    lengths = ends - starts
    tap = np.arange(max(lengths.max(initial=0), 1))[:, None]
    inside = tap < lengths
    weights = np.where(inside, 1 / np.maximum(lengths, 1), 0)
    return TwoWayMap.of(SparseMap(np.where(inside, starts + tap, 0), weights), size)


@composite(functional=True)
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Any:
    """The means of `output_size` parts of (N, C, L) or (C, L)."""
    return _averaged("adaptive_avg_pool1d", 1, input, output_size)


@composite(torch=False, functional=True)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Any:
    """The means of `output_size` parts of (N, C, H, W) or (C, H, W): a number, or one each for height and width; None
    keeps a dimension as it is.

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(4.0).view(1, 2, 2), 1)
    tensor([[[1.5000]]])
    """
    return _averaged("adaptive_avg_pool2d", 2, input, output_size)


@composite(torch=False, functional=True)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Any:
    """The means of `output_size` parts of (N, C, D, H, W) or (C, D, H, W); None keeps a dimension as it is."""
    return _averaged("adaptive_avg_pool3d", 3, input, output_size)


# ------------------------------------------------------------------------------------------ maxima


def _largest(name: str, ndim: int, input: Any, output_size: Any) -> tuple[Any, Any]:
    x, batched, out = _arguments(name, ndim, input, output_size)
    sizes = tuple(x.sizes[2:])
    if all(o and n % o == 0 for o, n in zip(out, sizes, strict=True)):
        kernel = tuple(n // o for n, o in zip(sizes, out, strict=True))
        values, places = max_pool_with_indices(x, kernel, kernel, (0,) * ndim, (1,) * ndim, False)
    else:
        values, places = _largest_of_unequal_parts(x, sizes, out)
    return (values, places) if batched else (squeeze(values, 0), squeeze(places, 0))


def _largest_of_unequal_parts(x: Any, sizes: Ints, out: Ints) -> tuple[Any, Any]:
    """All parts copied out at the length of the longest; the last element, repeated, changes no maximum."""
    ndim, sizes, out = len(sizes), tuple(map(int, sizes)), tuple(map(int, out))
    place = np.zeros((1,) * 2 * ndim, np.int64)  # of each element of each part: (*out, *longest)
    for d, (n, o) in enumerate(zip(sizes, out, strict=True)):
        starts, ends = parts(n, o)
        longest = np.arange(max((ends - starts).max(initial=0), 1))
        along = np.minimum(starts[:, None] + longest, np.maximum(ends[:, None] - 1, 0))
        shape = [1] * 2 * ndim
        shape[d], shape[ndim + d] = along.shape
        place = place * n + along.reshape(shape)
    flat = reshape(x, (*x.sizes[:2], int(np.prod(sizes))))
    numbers = wrap(place.reshape(*out, int(np.prod(place.shape[ndim:]))))
    numbers = converted_by_modes(numbers if x.storage.block is None else moved(numbers, x.device))
    chosen = argmax(index(flat, [None, None, numbers]), -1, True)
    places = gather(expand(numbers, (*x.sizes[:2], *numbers.sizes)), ndim + 2, chosen)
    places = reshape(places, (*x.sizes[:2], int(np.prod(out))))
    values = gather(flat, 2, places)
    order = suggested_format(x.sizes, x.strides)
    values, places = (reshape(found, (*x.sizes[:2], *out)) for found in (values, places))
    return values.contiguous(memory_format=order), places.contiguous(memory_format=order)


@composite()
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> Any:
    """The maxima of `output_size` parts of (N, C, L) or (C, L), and their places."""
    return _largest("adaptive_max_pool1d", 1, input, output_size)


@composite(torch=False)
def adaptive_max_pool2d(input: Tensor, output_size: Any) -> Any:
    """The maxima of `output_size` parts of (N, C, H, W) or (C, H, W), and their places y * W + x."""
    return _largest("adaptive_max_pool2d", 2, input, output_size)


@composite(torch=False)
def adaptive_max_pool3d(input: Tensor, output_size: Any) -> Any:
    """The maxima of `output_size` parts of (N, C, D, H, W) or (C, D, H, W), and their places."""
    return _largest("adaptive_max_pool3d", 3, input, output_size)
