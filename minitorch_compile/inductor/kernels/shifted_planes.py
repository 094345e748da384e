"""Images laid out so that a window sliding over them is a table of shifts.

Take an image of one channel with a border of zeros around it, its rows one after another. What the place (ky, kx) of a
3x3 window sees, while the window slides over the image, is this plane, shifted by ky rows and kx columns. So the
convolution is a sum of shifted planes times weights, and no window has to be copied. The columns where a window would
reach around the end of a row are computed, too, and thrown away.

The border on the right of a row and the one on the left of the next row are the same zeros, where both are needed.

With a stride of s, a window sees every s-th row only: an image is first dealt out into s planes for the rows
(y mod s) and s for the columns; within each of them the stride is 1.

>>> @njit
... def example(image, planes):
...     deal_planes(pointer(image), pointer(planes), 1, 2, 2, 4, 3, 1, 1, 1, 1, 1, 1)
>>> image, planes = np.arange(1.0, 5.0), np.empty(13)               # 1 2 / 3 4 with a border of one
>>> example(image, planes)
>>> planes[:12].reshape(4, 3).tolist()
[[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 0.0, 0.0]]
"""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401 (the example's)
from numba import njit

from minitorch_compile.inductor.kernels.vector_moves import copy_every_other, copy_row, interleave
from minitorch_compile.inductor.kernels.vector_tiles import (
    lanes,
    outer_products,
    tile_filters,
    tile_sizes,
    tile_vectors,
)
from minitorch_compile.inductor.machine import Machine, machine_number
from minitorch_compile.inductor.runtime.raw_memory import advance, pointer  # noqa: F401 (pointer: the example's)
from minitorch_compile.kernel_library.tile_sizes import VECTORS_OF_ONE

compiled: Any = njit(error_model="numpy")
slide_block, slide_block_wide = outer_products(tile_filters, 1), outer_products(tile_filters, tile_vectors)
slide_one, slide_one_wide = outer_products(1, 1), outer_products(1, VECTORS_OF_ONE)


@machine_number
def most_places(machine: Machine) -> int:
    """The most places that are computed at once."""
    return tile_sizes().most_places


@njit(forceinline=True)
def first_inside(offset, stride):
    """The least place >= 0 whose position place * stride + offset is not negative."""
    return 0 if offset >= 0 else (stride - 1 - offset) // stride


@njit(forceinline=True)
def end_inside(offset, stride, size, places):
    """One past the last of the `places` whose position is below `size`."""
    return max(0, min(places, (size - offset + stride - 1) // stride))


@compiled
def clear(target, count):
    for i in range(count):
        target[i] = 0


@compiled
def take_every(source, stride, target, count):
    """target[i] = source[i * stride]."""
    if stride == 1:
        copy_row(source, target, count)
    elif stride == 2:
        copy_every_other(source, target, count)
    else:
        for i in range(count):
            target[i] = source[i * stride]


@compiled
def deal_planes(image, planes, channels, height, width, rows, pitch, top, left, stride_y, stride_x, seen_y, seen_x):
    """planes[channel, py, px, y, x] = image[channel, y * stride_y + py - top, x * stride_x + px - left]; 0 outside.

    That is for py < seen_y and px < seen_x, which are at most the strides.
    The zeros that the last row shares with the one after it stand at the end.
    """
    plane = 0
    for channel in range(channels):
        for py in range(seen_y):
            first_row = min(first_inside(py - top, stride_y), rows)
            end_row = max(first_row, end_inside(py - top, stride_y, height, rows))
            for px in range(seen_x):
                begin = min(first_inside(px - left, stride_x), pitch)
                end = max(begin, end_inside(px - left, stride_x, width, pitch))
                clear(advance(planes, plane), rows * pitch)
                for row in range(first_row, end_row):
                    y, x = row * stride_y + py - top, begin * stride_x + px - left
                    source = advance(image, (channel * height + y) * width + x)
                    take_every(source, stride_x, advance(planes, plane + row * pitch + begin), end - begin)
                plane += rows * pitch
    if stride_x == 1:
        clear(advance(planes, plane), left)


@njit(forceinline=True)
def block_of(filters):
    """How many filters are computed together, of so many."""
    return tile_filters() if 2 * filters >= tile_filters() else 1


@compiled
def pack_rows(weights, step, count, filters, block, packed, apart):
    """Puts rows of `count` weights, `step` apart, where `slide` looks for them: filters in blocks, `apart` from each
    other, and in each block those of one k side by side.
    """
    for first in range(0, filters, block):
        source, target = advance(weights, first * step), advance(packed, first * apart)
        if block == tile_filters() and filters - first >= tile_filters():
            interleave(source, step, count, target)
        else:
            for f in range(min(block, filters - first)):
                for k in range(count):
                    target[k * block + f] = source[f * step + k]


@compiled
def slide(planes, offsets, packed, count, filters, block, rows, pitch, columns, tile, out, area, row_step, column_step):
    """out[f, y, x] = sum over k < count of weight[f, k] * planes[offsets[k] + y * pitch + x].

    `tile` is scratch memory for the results of a block of filters, thrown-away columns included.
    """
    length, vector = rows * pitch, lanes(planes)
    step = length + most_places()
    for first in range(0, filters, block):
        weights = advance(packed, first * count)
        place = 0
        while place < length:
            here, result = advance(planes, place), advance(tile, place)
            wide = length - place > vector
            if block == 1 and wide:
                slide_one_wide(here, offsets, weights, count, result, step)
            elif block == 1:
                slide_one(here, offsets, weights, count, result, step)
            elif wide:
                slide_block_wide(here, offsets, weights, count, result, step)
            else:
                slide_block(here, offsets, weights, count, result, step)
            place += vector * ((VECTORS_OF_ONE if block == 1 else tile_vectors()) if wide else 1)
        for f in range(min(block, filters - first)):
            for y in range(rows):
                source, target = advance(tile, f * step + y * pitch), advance(out, (first + f) * area + y * row_step)
                if column_step == 1:
                    copy_row(source, target, columns)
                else:
                    for x in range(columns):
                        target[x * column_step] = source[x]
