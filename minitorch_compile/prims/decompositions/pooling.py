"""Pooling, padding and resampling.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake
>>> print(decomposed(ops.constant_pad_nd, empty_fake((3,)), (1, -1), 7).compact())
x -> pad(slice(x, (0,), (2,), (1,)), (1,), (0,), 7)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import converted, reshaped
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, float32, float64
from minitorch_compile.tensor.ops.average_pooling import divisors
from minitorch_compile.tensor.ops.padding import borders
from minitorch_compile.tensor.ops.windows import Ints

# ------------------------------------------------------------------------------------------ maxima


@decomposes(ops.max_pool_with_indices)
def _(
    x: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    """The prim, which pools images; in three dimensions it is used within slices, then across them."""
    window = (tuple(kernel_size), tuple(stride), tuple(padding), tuple(dilation))
    if len(kernel_size) == 2:
        return prims.max_pool2d(x, *window, ceil_mode)
    n, channels, *sizes = x.sizes
    if len(kernel_size) == 1:
        tall = [(outer, *along) for outer, along in zip((1, 1, 0, 1), window, strict=True)]
        values, places = prims.max_pool2d(reshaped(x, (n, channels, 1, sizes[0])), *tall, ceil_mode)
        return reshaped(values, (n, channels, values.sizes[3])), reshaped(places, (n, channels, places.sizes[3]))
    depth, height, width = sizes
    within = [along[1:] for along in window]
    values, inner = prims.max_pool2d(reshaped(x, (n, channels * depth, height, width)), *within, ceil_mode)
    area = values.sizes[2] * values.sizes[3]
    across = [(along[0], rest) for along, rest in zip(window, (1, 1, 0, 1), strict=True)]
    final, outer = prims.max_pool2d(reshaped(values, (n, channels, depth, area)), *across, ceil_mode)
    flat = (n, channels, outer.sizes[2] * area)
    numbers = reshaped(outer, flat)  # slice * area + place of the window within the slice
    found = ops.gather(reshaped(inner, (n, channels, depth * area)), 2, numbers)
    slices = ops.floor_divide(numbers, max(area, 1))
    places = ops.add(ops.mul(slices, height * width), found)
    result = (n, channels, outer.sizes[2], *values.sizes[2:])
    return reshaped(final, result), reshaped(places, result)


@decomposes(ops.max_pool_with_indices_backward)
def _(grad: Tensor, indices: Tensor, input_sizes: Ints) -> Tensor:
    """The prim; a place is a number in the flat image, so how many dimensions that has makes no difference."""
    sizes, image = tuple(grad.sizes), tuple(input_sizes)
    flat = (*sizes[:2], math.prod(sizes[2:-1]), sizes[-1])
    flat_image = (*image[:2], math.prod(image[2:-1]), image[-1])
    result = prims.max_pool2d_backward(reshaped(grad, flat), reshaped(indices, flat), flat_image)
    return reshaped(result, image)


# ------------------------------------------------------------------------------------------ means


def _divided(total: Tensor, factors: list[list[int]]) -> Tensor:
    """The sums of windows over how many elements each counts, one dimension after the other."""
    for d, along in enumerate(factors):
        if len(set(along)) == 1:
            total = total if along[0] == 1 else ops.div(total, along[0])
            continue
        at = ops.arange(len(along))
        count = ops.full((len(along),), along[0], dtype=total.dtype)
        for i in range(1, len(along)):
            if along[i] != along[i - 1]:
                count = ops.where(ops.ge(at, i), float(along[i]), count)
        total = ops.div(total, reshaped(count, (len(along), *(1,) * (len(factors) - 1 - d))))
    return total


@decomposes(ops.avg_pool)
def _(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """A sum of shifted images for each dimension, divided; a mean over reshaped dimensions where windows are tiles."""
    sizes = tuple(x.sizes[2:])
    factors = divisors(sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    out = [len(along) for along in factors]
    working = converted(x, float32) if x.dtype.itemsize < 4 and x.dtype.is_floating_point else x
    reach = [(o - 1) * s + k for o, s, k in zip(out, stride, kernel_size, strict=True)]
    after = [max(0, r - n - p) for r, n, p in zip(reach, sizes, padding, strict=True)]
    around = [n for before, behind in zip(reversed(padding), reversed(after), strict=True) for n in (before, behind)]
    total = ops.constant_pad_nd(working, around)
    for d, (k, s, o) in enumerate(zip(kernel_size, stride, out, strict=True)):
        parts = [ops.slice(total, 2 + d, i, i + s * (o - 1) + 1, s) for i in range(k)]
        total = parts[0]
        for part in parts[1:]:
            total = ops.add(total, part)
    if not x.dtype.is_floating_point:
        return converted(ops.trunc(_divided(converted(total, float64), factors)), x.dtype)
    return converted(_divided(total, factors), x.dtype)


@decomposes(ops.avg_pool_backward)
def _(
    grad: Tensor,
    input_sizes: Ints,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """Along each dimension, the shares of the windows that saw an element, added up."""
    sizes = tuple(input_sizes)
    how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    share = _divided(grad, divisors(sizes[2:], *how))
    for d in range(len(kernel_size)):
        share = _spread(share, 2 + d, sizes[2 + d], kernel_size[d], stride[d], padding[d])
    return share


def _spread(share: Tensor, dim: int, size: int, kernel: int, stride: int, padding: int) -> Tensor:
    """What each of `size` elements along a dimension gets from the windows, whose shares are given.

    Elements are taken in runs of `stride`. Those of run m lie in the windows m, m - 1, ...; in the last of these, the
    kernel may end within the run.
    """
    runs = -(-(padding + size) // stride)
    behind = (0,) * (2 * (len(share.sizes) - 1 - dim))
    total: Any = None
    for back in range(-(-kernel // stride)):
        seen = ops.constant_pad_nd(share, (*behind, back, runs - back - share.sizes[dim]))
        if stride > 1:
            seen = ops.unsqueeze(seen, dim + 1)
        if kernel - back * stride < stride:
            inside = ops.lt(ops.arange(stride), kernel - back * stride)
            seen = ops.where(reshaped(inside, (stride, *(1,) * (len(share.sizes) - 1 - dim))), seen, 0.0)
        total = seen if total is None else ops.add(total, seen)
    before, after = share.sizes[:dim], share.sizes[dim + 1 :]
    if stride > 1:
        total = reshaped(ops.expand(total, (*before, runs, stride, *after)), (*before, runs * stride, *after))
    return ops.slice(total, dim, padding, padding + size, 1)


# ------------------------------------------------------------------------------------------ padding, resampling


@decomposes(ops.constant_pad_nd)
def _(x: Tensor, pad: Sequence[int], value: float) -> Tensor:
    """Slices where the padding is negative, then the prim."""
    around = borders(len(x.sizes), pad)
    for d, (before, after) in enumerate(around):
        if before < 0 or after < 0:
            x = ops.slice(x, d, max(-before, 0), x.sizes[d] - max(-after, 0), 1)
    low, high = (tuple(max(n, 0) for n in side) for side in zip(*around, strict=True)) if around else ((), ())
    fill = value if x.dtype.category >= FLOATING else (bool(value) if x.dtype is bool_ else int(value))
    return prims.pad(x, low, high, fill) if any((*low, *high)) else x


@decomposes(ops.resample)
def _(x: Tensor, dim: int, places: Tensor, weights: Tensor, back_places: Tensor, back_weights: Tensor) -> Tensor:
    """A sum of gathers, one for each tap."""
    working = converted(x, weights.dtype)
    shape = (weights.sizes[1], *(1,) * (len(x.sizes) - 1 - dim))
    total: Any = None
    for tap in range(places.sizes[0]):
        seen = ops.index(working, [None] * dim + [ops.select(places, 0, tap)])
        term = ops.mul(seen, reshaped(ops.select(weights, 0, tap), shape))
        total = term if total is None else ops.add(total, term)
    return converted(total, x.dtype)
