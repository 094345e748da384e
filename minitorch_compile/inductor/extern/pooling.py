"""Maximum pooling of images and its gradient.

`numbers` points to the shape: (planes, height, width, out_height, out_width, kernel_y, kernel_x, stride_y, stride_x,
padding_y, padding_x, dilation_y, dilation_x), where a plane is one channel of one image.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types

from minitorch_compile.inductor.kernel_function import native_function
from minitorch_compile.inductor.raw_memory import ELEMENTS, as_tuple

Pair = tuple[int, int]
SHAPE = (0,) * 13


def shape_of(
    x: tuple[int, ...], out: tuple[int, ...], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair
) -> tuple[int, ...]:
    """The numbers that the kernel takes, from the sizes of input and result."""
    return (x[0] * x[1], *x[2:], *out[2:], *kernel, *stride, *padding, *dilation)


def max_pool2d(lo, hi, x, values, places, numbers):
    """For the planes from lo up to hi, the maximum of each window and its place y * width + x.

    That is the first of equals, and the last NaN.
    """
    (_, height, width, out_y, out_x, kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x, step_y, step_x) = as_tuple(
        numbers, SHAPE
    )
    for plane in range(lo, hi):
        start = plane * height * width
        target = plane * out_y * out_x
        for oy in range(out_y):
            for ox in range(out_x):
                place = -1
                best = x[start]
                for ky in range(kernel_y):
                    y = oy * stride_y - pad_y + ky * step_y
                    if y < 0 or y >= height:
                        continue
                    for kx in range(kernel_x):
                        column = ox * stride_x - pad_x + kx * step_x
                        if column < 0 or column >= width:
                            continue
                        value = x[start + y * width + column]
                        if place < 0 or value > best or value != value:
                            best, place = value, y * width + column
                values[target] = best
                places[target] = place
                target += 1


def max_pool2d_backward(lo, hi, grad, places, out, places_per_plane, area):
    """For the planes from lo up to hi, each gradient added to the element that was the maximum of its window."""
    for i in range(lo * area, hi * area):
        out[i] = 0
    for plane in range(lo, hi):
        for i in range(plane * places_per_plane, (plane + 1) * places_per_plane):
            out[plane * area + places[i]] += grad[i]


@cache
def max_pool_kernel(element: str) -> Any:
    """The compiled forward kernel for one dtype; compiled when first asked for."""
    pointer = types.CPointer(ELEMENTS[element])
    integer_pointer = types.CPointer(types.int64)
    signature = types.void(types.int64, types.int64, pointer, pointer, integer_pointer, integer_pointer)
    return native_function(f"max_pool2d_{element}", signature)(max_pool2d)


@cache
def max_pool_backward_kernel(element: str) -> Any:
    """The compiled backward kernel for one dtype; compiled when first asked for."""
    pointer, number = types.CPointer(ELEMENTS[element]), types.int64
    signature = types.void(number, number, pointer, types.CPointer(types.int64), pointer, number, number)
    return native_function(f"max_pool2d_backward_{element}", signature)(max_pool2d_backward)
