"""Convolution of images and its two gradients, as matrix products over unfolded images.

An image is unfolded ("im2col") into a matrix with one column for each place of the kernel on the image, which turns the
convolution into one matrix product; a 1x1 kernel with stride 1 needs no unfolding. One image is handled at a time, so
the matrix is small enough to stay in cache. All arrays are row-major; `columns` is scratch memory for one unfolded
image.

The argument `numbers` of each kernel points to its `shape`, 17 numbers: (images, channels, height, width, filters,
kernel_height, kernel_width, out_height, out_width, stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x,
groups, unfold).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit, types

from minitorch_compile.inductor.extern.blas import gemm
from minitorch_compile.inductor.kernel_function import native_function
from minitorch_compile.inductor.raw_memory import ELEMENTS, advance, as_tuple

Pair = tuple[int, int]
SHAPE = (0,) * 17


def shape_of(
    x: tuple[int, ...],
    w: tuple[int, ...],
    out: tuple[int, ...],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> tuple[int, ...]:
    """The numbers that the kernels take, from the sizes of input, weight and result."""
    unfold = not (w[2:] == (1, 1) and stride == (1, 1) and padding == (0, 0))
    return (*x, w[0], *w[2:], *out[2:], *stride, *padding, *dilation, groups, int(unfold))


def workspace_elements(shape: tuple[int, ...]) -> int:
    """How many elements `columns` needs."""
    channels, kernel, out, groups, unfold = shape[1], shape[5] * shape[6], shape[7] * shape[8], shape[15], shape[16]
    return channels // groups * kernel * out if unfold else 0


@njit(forceinline=True)
def first_inside(offset, stride):
    """The least place >= 0 whose position place * stride + offset is not negative."""
    return 0 if offset >= 0 else (stride - 1 - offset) // stride


@njit(forceinline=True)
def end_inside(offset, stride, size, places):
    """One past the last of the `places` whose position is below `size`."""
    return max(0, min(places, (size - offset + stride - 1) // stride))


@njit
def unfold_image(image, columns, channels, shape):
    """columns[channel, ky, kx, y, x] = image[channel, y * stride + ky - padding, ...], 0 outside the image."""
    (
        _,
        _,
        height,
        width,
        _,
        kernel_y,
        kernel_x,
        out_y,
        out_x,
        stride_y,
        stride_x,
        pad_y,
        pad_x,
        step_y,
        step_x,
        _,
        _,
    ) = shape
    row = 0
    for channel in range(channels):
        for ky in range(kernel_y):
            top = ky * step_y - pad_y
            for kx in range(kernel_x):
                left = kx * step_x - pad_x
                begin = min(first_inside(left, stride_x), out_x)
                end = max(begin, end_inside(left, stride_x, width, out_x))
                for y in range(out_y):
                    source_y = y * stride_y + top
                    target = (row * out_y + y) * out_x
                    if source_y < 0 or source_y >= height:
                        for x in range(out_x):
                            columns[target + x] = 0
                        continue
                    source = (channel * height + source_y) * width + left
                    for x in range(begin):
                        columns[target + x] = 0
                    for x in range(begin, end):
                        columns[target + x] = image[source + x * stride_x]
                    for x in range(end, out_x):
                        columns[target + x] = 0
                row += 1


@njit
def fold_image(columns, image, channels, shape):
    """Adds columns[channel, ky, kx, y, x] to image[channel, y * stride + ky - padding, ...]: unfolding backwards."""
    (
        _,
        _,
        height,
        width,
        _,
        kernel_y,
        kernel_x,
        out_y,
        out_x,
        stride_y,
        stride_x,
        pad_y,
        pad_x,
        step_y,
        step_x,
        _,
        _,
    ) = shape
    row = 0
    for channel in range(channels):
        for ky in range(kernel_y):
            top = ky * step_y - pad_y
            for kx in range(kernel_x):
                left = kx * step_x - pad_x
                begin = first_inside(left, stride_x)
                end = end_inside(left, stride_x, width, out_x)
                for y in range(out_y):
                    target_y = y * stride_y + top
                    if 0 <= target_y < height:
                        target = (channel * height + target_y) * width + left
                        source = (row * out_y + y) * out_x
                        for x in range(begin, end):
                            image[target + x * stride_x] += columns[source + x]
                row += 1


def forward(lo, hi, x, w, out, columns, numbers):
    """out[n] = w @ unfolded x[n], group by group, for the images n from lo up to hi."""
    shape = as_tuple(numbers, SHAPE)
    _, channels, height, width, filters, kernel_y, kernel_x, out_y, out_x = shape[:9]
    groups, unfold = shape[15], shape[16]
    part, area, places, kernel = channels // groups, height * width, out_y * out_x, kernel_y * kernel_x
    rows = filters // groups
    for n in range(lo, hi):
        for g in range(groups):
            image = advance(x, (n * channels + g * part) * area)
            if unfold:
                unfold_image(image, columns, part, shape)
                image = columns
            weight = advance(w, g * rows * part * kernel)
            result = advance(out, (n * filters + g * rows) * places)
            gemm(False, False, rows, places, part * kernel, weight, part * kernel, image, places, 0.0, result, places)


def weight_grad(lo, hi, grad, x, out, columns, numbers):
    """out = sum over n of grad[n] @ (unfolded x[n]) transposed; all images at once."""
    shape = as_tuple(numbers, SHAPE)
    _, channels, height, width, filters, kernel_y, kernel_x, out_y, out_x = shape[:9]
    groups, unfold = shape[15], shape[16]
    part, area, places, kernel = channels // groups, height * width, out_y * out_x, kernel_y * kernel_x
    rows = filters // groups
    for n in range(lo, hi):
        for g in range(groups):
            image = advance(x, (n * channels + g * part) * area)
            if unfold:
                unfold_image(image, columns, part, shape)
                image = columns
            result = advance(out, g * rows * part * kernel)
            part_grad = advance(grad, (n * filters + g * rows) * places)
            keep = 0.0 if n == 0 else 1.0
            gemm(
                False, True, rows, part * kernel, places, part_grad, places, image, places, keep, result, part * kernel
            )


def input_grad(lo, hi, grad, w, out, columns, numbers):
    """out[n] = folded (w transposed @ grad[n])."""
    shape = as_tuple(numbers, SHAPE)
    _, channels, height, width, filters, kernel_y, kernel_x, out_y, out_x = shape[:9]
    groups, unfold = shape[15], shape[16]
    part, area, places, kernel = channels // groups, height * width, out_y * out_x, kernel_y * kernel_x
    rows = filters // groups
    for n in range(lo, hi):
        for g in range(groups):
            image = advance(out, (n * channels + g * part) * area)
            product = columns if unfold else image
            weight = advance(w, g * rows * part * kernel)
            part_grad = advance(grad, (n * filters + g * rows) * places)
            gemm(
                True, False, part * kernel, places, rows, weight, part * kernel, part_grad, places, 0.0, product, places
            )
            if unfold:
                for i in range(part * area):
                    image[i] = 0
                fold_image(columns, image, part, shape)


KERNELS: dict[str, Callable[..., None]] = {
    "convolution": forward,
    "convolution_weight_grad": weight_grad,
    "convolution_input_grad": input_grad,
}


@cache
def convolution_kernel(name: str, element: str) -> Any:
    """The kernel (images lo to hi, two inputs, output, columns, numbers) for one dtype; compiled when first wanted."""
    pointer = types.CPointer(ELEMENTS[element])
    signature = types.void(types.int64, types.int64, *[pointer] * 4, types.CPointer(types.int64))
    return native_function(f"{name}_{element}", signature)(KERNELS[name])
