"""Images laid out so that a window sliding over them is a table of shifts.

Take an image of one channel with a border of zeros around it, its rows one after another. What the place (ky, kx) of a
3x3 window sees, while the window slides over the image, is this plane, shifted by ky rows and kx columns. So the
convolution is a sum of shifted planes times weights, and no window has to be copied. The columns where a window would
reach around the end of a row are computed, too, and thrown away.

With a stride of s, a window sees every s-th row only: an image is first dealt out into s planes for the rows
(y mod s) and s for the columns; within each of them the stride is 1.

>>> image, out = np.arange(1.0, 5.0), np.empty(16)                 # 1 2 / 3 4 with a border of one
>>> deal_planes(image, out, 1, 2, 2, 4, 4, 1, 1, 1, 1)
>>> out.reshape(4, 4).tolist()
[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.0], [0.0, 3.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
"""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401 (the example's)
from numba import njit

from minitorch_compile.inductor.extern.vector_tiles import FILTERS, VECTOR_BYTES, VECTORS, lanes, outer_products
from minitorch_compile.inductor.raw_memory import advance

compiled: Any = njit(error_model="numpy")
WIDEST = VECTOR_BYTES // 4 * VECTORS  # the most places that are computed at once

slide_block, slide_block_wide = outer_products(FILTERS, 1), outer_products(FILTERS, VECTORS)
slide_one, slide_one_wide = outer_products(1, 1), outer_products(1, VECTORS)


@njit(forceinline=True)
def first_inside(offset, stride):
    """The least place >= 0 whose position place * stride + offset is not negative."""
    return 0 if offset >= 0 else (stride - 1 - offset) // stride


@njit(forceinline=True)
def end_inside(offset, stride, size, places):
    """One past the last of the `places` whose position is below `size`."""
    return max(0, min(places, (size - offset + stride - 1) // stride))


@compiled
def deal_planes(image, planes, channels, height, width, rows, pitch, top, left, stride_y, stride_x):
    """planes[channel, py, px, y, x] = image[channel, y * stride_y + py - top, x * stride_x + px - left]; 0 outside."""
    target = 0
    for channel in range(channels):
        for py in range(stride_y):
            for px in range(stride_x):
                begin = min(first_inside(px - left, stride_x), pitch)
                end = max(begin, end_inside(px - left, stride_x, width, pitch))
                for row in range(rows):
                    y = row * stride_y + py - top
                    inside = 0 <= y < height
                    source = (channel * height + y) * width + px - left
                    for x in range(begin if inside else pitch):
                        planes[target + x] = 0
                    if inside and stride_x == 1:  # of which LLVM makes a copy of whole vectors
                        for x in range(begin, end):
                            planes[target + x] = image[source + x]
                    elif inside:
                        for x in range(begin, end):
                            planes[target + x] = image[source + x * stride_x]
                    if inside:
                        for x in range(end, pitch):
                            planes[target + x] = 0
                    target += pitch


@njit(forceinline=True)
def block_of(filters):
    """How many filters are computed together."""
    return FILTERS if 2 * filters >= FILTERS else 1


@njit(forceinline=True)
def padded_to_block(filters):
    """How many filters there are when the last block is filled up."""
    return (filters + block_of(filters) - 1) // block_of(filters) * block_of(filters)


@compiled
def put_weight(packed, filters, count, filter, k, value):
    """Puts a weight where `slide` looks for it: filters in blocks, and in each block those of one k side by side."""
    block = block_of(filters)
    packed[filter // block * block * count + k * block + filter % block] = value


@compiled
def slide(planes, offsets, packed, count, filters, rows, pitch, columns, tile, out, area, row_step, column_step):
    """out[f, y, x] = sum over k < count of weight[f, k] * planes[offsets[k] + y * pitch + x].

    `tile` is scratch memory for the results of a block of filters, thrown-away columns included.
    """
    length, vector = rows * pitch, lanes(planes)
    step = length + WIDEST
    block = block_of(filters)
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
            place += vector * VECTORS if wide else vector
        for f in range(min(block, filters - first)):
            for y in range(rows):
                source, target = f * step + y * pitch, (first + f) * area + y * row_step
                if column_step == 1:
                    for x in range(columns):
                        out[target + x] = tile[source + x]
                else:
                    for x in range(columns):
                        out[target + x * column_step] = tile[source + x]
