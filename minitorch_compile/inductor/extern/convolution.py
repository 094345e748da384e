"""Convolution of images and its two gradients, without a copy of what the window sees.

The kernel slides over planes that are shifted against each other (see `shifted_planes`), a block of filters and three
vectors of places at a time, so each number that is loaded is used many times while it is in a register. Only the image
itself is copied, with its border; it stays in cache while all filters pass over it.

* forward: `slide` over the planes of each image.
* gradient of the input: the same over the gradient of the output. With a stride of s, the rows of the image fall into s
  kinds, each of which met only some rows of the window.
* gradient of the weight: products of the gradient's planes with the shifted planes of the image, added up over all
  places and images. (The columns between two rows are multiplied by zero; so an infinity in an image may become NaN in
  gradients of the weights that never met it.)

A 1x1 window with a stride of 1 is a matrix product.

The argument `numbers` of each kernel points to its shape: (images, channels, height, width, filters, kernel_height,
kernel_width, out_height, out_width, stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x, groups), and then
its plan: whether it slides, the rows and columns of a plane, the shift of the gradient's planes in y and x (for the
gradient of the weight: how many images are taken at once), and where in `scratch` the weights or the gradient's planes,
the tile and the offsets lie.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import types

from minitorch_compile.inductor.extern.blas import gemm
from minitorch_compile.inductor.extern.shifted_planes import (
    WIDEST,
    compiled,
    deal_planes,
    padded_to_block,
    put_weight,
    slide,
)
from minitorch_compile.inductor.extern.vector_tiles import COLUMNS, FILTERS, ROWS, VECTOR_BYTES, inner_products, lanes
from minitorch_compile.inductor.kernel_function import native_function
from minitorch_compile.inductor.raw_memory import ELEMENTS, advance, as_integers, as_tuple

Pair = tuple[int, int]
NUMBERS = (0,) * 24
UNIT = 4 * ROWS  # filters whose weights' gradients are computed by one thread together
FEWEST_PLACES = 2048  # over which a gradient of weights is added up in registers: several images, if they are small
LONGEST = 4096  # places of one image that are added up before the sum is stored
STRIP = 1 << 16  # elements of an image's planes that filters pass over one after the other: they stay in cache


class Shape(NamedTuple):
    """The sizes of a convolution; pairs are (y, x)."""

    images: int
    channels: int
    image: Pair
    filters: int
    kernel: Pair
    out: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int

    @property
    def slides(self) -> bool:
        """False for a matrix product."""
        return not (self.kernel == (1, 1) and self.stride == (1, 1) and self.padding == (0, 0))

    @property
    def numbers(self) -> tuple[int, ...]:
        pairs = (*self.kernel, *self.out, *self.stride, *self.padding, *self.dilation)
        return self.images, self.channels, *self.image, self.filters, *pairs, self.groups

    @property
    def multiplications(self) -> int:
        """How many a direct computation takes."""
        window = self.kernel[0] * self.kernel[1] * self.channels // self.groups
        return self.images * self.filters * self.out[0] * self.out[1] * window


def aligned(elements: int) -> int:
    return -(-elements // 16) * 16


def places_of(parts: list[int]) -> tuple[list[int], int]:
    """Where parts of these lengths lie, one after the other, and how long all are."""
    places, end = [], 0
    for elements in parts:
        places.append(end)
        end += aligned(elements)
    return places, end


def planned(shape: Shape, rows: int, pitch: int, shift: Pair, parts: list[int]) -> tuple[tuple[int, ...], int]:
    (_, weights, tile, offsets), end = places_of(parts)
    return (*shape.numbers, 1, rows, pitch, *shift, weights, tile, offsets), end


def plan_forward(shape: Shape) -> tuple[tuple[int, ...], int]:
    """The numbers that `forward` takes, and how many elements of scratch memory it needs."""
    if not shape.slides:
        return (*shape.numbers, *[0] * 8), 0
    rows, pitch = (o + (k - 1) * d // s for o, k, d, s in zip(shape.out, shape.kernel, shape.dilation, shape.stride))
    window = shape.channels // shape.groups * shape.kernel[0] * shape.kernel[1]
    planes = shape.channels // shape.groups * shape.stride[0] * shape.stride[1] * rows * pitch + pitch + WIDEST
    filters = shape.filters // shape.groups + FILTERS
    tile = FILTERS * (shape.out[0] * pitch + WIDEST)
    return planned(shape, rows, pitch, (0, 0), [planes, filters * window, tile, 2 * window])


def shifts(stride: int, padding: int, kernel: int, dilation: int) -> tuple[int, int]:
    """The least and the largest row of the output, from row 0 of each kind, that a row of the input went into."""
    steps = [r + padding - k * dilation for r in range(stride) for k in range(kernel)]
    whole = [step // stride for step in steps if step % stride == 0]
    return min(whole, default=0), max(whole, default=0)


def plan_input_grad(shape: Shape) -> tuple[tuple[int, ...], int]:
    """The numbers that `input_grad` takes, and how many elements of scratch memory it needs."""
    if not shape.slides:
        return (*shape.numbers, *[0] * 8), 0
    ranges = [shifts(*four) for four in zip(shape.stride, shape.padding, shape.kernel, shape.dilation)]
    sizes = [-(-size // stride) for size, stride in zip(shape.image, shape.stride)]
    rows, pitch = (size + high - low for size, (low, high) in zip(sizes, ranges))
    filters = shape.filters // shape.groups
    window = filters * shape.kernel[0] * shape.kernel[1]
    channels = shape.channels // shape.groups + FILTERS
    parts = [filters * rows * pitch + pitch + WIDEST, channels * window, FILTERS * (sizes[0] * pitch + WIDEST)]
    return planned(shape, rows, pitch, (-ranges[0][0], -ranges[1][0]), [*parts, 2 * window])


def images_at_once(shape: Shape, pitch: int) -> int:
    """How many images a gradient of weights is added up over before it is stored."""
    return min(shape.images, max(1, FEWEST_PLACES // (shape.out[0] * pitch)))


def plan_weight_grad(shape: Shape) -> tuple[tuple[int, ...], int]:
    """The numbers that `weight_grad` takes, and how many elements of scratch memory it needs."""
    if not shape.slides:
        return (*shape.numbers, *[0] * 8), 0
    numbers, _ = plan_forward(shape)
    rows, pitch = numbers[17], numbers[18]
    count = images_at_once(shape, pitch)
    planes = shape.channels // shape.groups * shape.stride[0] * shape.stride[1] * rows * pitch + pitch + WIDEST
    window = shape.channels // shape.groups * shape.kernel[0] * shape.kernel[1]
    grads = UNIT * (shape.out[0] * pitch + VECTOR_BYTES // 4)
    parts = [count * planes, count * grads, ROWS * COLUMNS, 2 * (window + COLUMNS)]
    return planned(shape, rows, pitch, (count, 0), parts)


# ------------------------------------------------------------------------------------------------ kernels


@compiled
def fill_offsets(offsets, channels, kernel_y, kernel_x, stride_y, stride_x, dilation_y, dilation_x, rows, pitch):
    """The shift of each (channel, ky, kx) in the planes of an image."""
    k = 0
    for channel in range(channels):
        for ky in range(kernel_y):
            for kx in range(kernel_x):
                y, x = ky * dilation_y, kx * dilation_x
                plane = (channel * stride_y + y % stride_y) * stride_x + x % stride_x
                offsets[k] = (plane * rows + y // stride_y) * pitch + x // stride_x
                k += 1


def forward(lo, hi, x, w, out, scratch, numbers):
    """out for the images from lo up to hi."""
    (
        _, channels, height, width, filters, kernel_y, kernel_x, out_y, out_x, stride_y, stride_x, pad_y, pad_x,
        step_y, step_x, groups, slides, rows, pitch, _, _, weights_at, tile_at, offsets_at,
    ) = as_tuple(numbers, NUMBERS)  # fmt: skip
    part, per_group, area, places = channels // groups, filters // groups, height * width, out_y * out_x
    window = part * kernel_y * kernel_x
    packed, tile = advance(scratch, weights_at), advance(scratch, tile_at)
    offsets = as_integers(advance(scratch, offsets_at))
    if slides:
        fill_offsets(offsets, part, kernel_y, kernel_x, stride_y, stride_x, step_y, step_x, rows, pitch)
    strips = part * stride_y * stride_x * rows * pitch // STRIP + 1
    height_of_strip = (out_y + strips - 1) // strips
    for g in range(groups):
        weight = advance(w, g * per_group * window)
        if slides:
            for f in range(per_group):
                for k in range(window):
                    put_weight(packed, per_group, window, f, k, weight[f * window + k])
        for n in range(lo, hi):
            image = advance(x, (n * channels + g * part) * area)
            result = advance(out, (n * filters + g * per_group) * places)
            if not slides:
                gemm(False, False, per_group, places, part, weight, part, image, places, 0.0, result, places)
                continue
            deal_planes(image, scratch, part, height, width, rows, pitch, pad_y, pad_x, stride_y, stride_x)
            for y in range(0, out_y, height_of_strip):
                slide(
                    advance(scratch, y * pitch), offsets, packed, window, per_group, min(height_of_strip, out_y - y),
                    pitch, out_x, tile, advance(result, y * out_x), places, out_x, 1,
                )  # fmt: skip


@compiled
def meetings(first, kernel, step, stride):
    """How many rows k of a window lie over the rows of one kind: `first` is the kind's number plus the padding."""
    met = 0
    for k in range(kernel):
        if (first - k * step) % stride == 0:
            met += 1
    return met


@compiled
def pack_kind(
    w, packed, offsets, count, filters, channels, kernel_y, kernel_x, first_y, first_x, stride_y, stride_x, step_y,
    step_x, top, left, rows, pitch,
):  # fmt: skip
    """The `count` weights, and their shifts, that one kind of rows and columns of the input met."""
    k = 0
    for f in range(filters):
        for ky in range(kernel_y):
            for kx in range(kernel_x):
                y, x = first_y - ky * step_y, first_x - kx * step_x
                if y % stride_y == 0 and x % stride_x == 0:
                    offsets[k] = (f * rows + y // stride_y + top) * pitch + x // stride_x + left
                    for c in range(channels):
                        value = w[((f * channels + c) * kernel_y + ky) * kernel_x + kx]
                        put_weight(packed, channels, count, c, k, value)
                    k += 1


def input_grad(lo, hi, grad, w, out, scratch, numbers):
    """The gradient of the images from lo up to hi."""
    (
        _, channels, height, width, filters, kernel_y, kernel_x, out_y, out_x, stride_y, stride_x, pad_y, pad_x,
        step_y, step_x, groups, slides, rows, pitch, top, left, weights_at, tile_at, offsets_at,
    ) = as_tuple(numbers, NUMBERS)  # fmt: skip
    part, per_group, area, places = channels // groups, filters // groups, height * width, out_y * out_x
    all_packed, tile = advance(scratch, weights_at), advance(scratch, tile_at)
    all_offsets = as_integers(advance(scratch, offsets_at))
    padded = padded_to_block(part)
    for g in range(groups):
        weight = advance(w, g * per_group * part * kernel_y * kernel_x)
        for n in range(lo, hi):
            image = advance(out, (n * channels + g * part) * area)
            part_grad = advance(grad, (n * filters + g * per_group) * places)
            if not slides:
                gemm(True, False, part, places, per_group, weight, part, part_grad, places, 0.0, image, places)
                continue
            deal_planes(part_grad, scratch, per_group, out_y, out_x, rows, pitch, top, left, 1, 1)
            before = 0
            for ry in range(stride_y):
                for rx in range(stride_x):
                    met = meetings(ry + pad_y, kernel_y, step_y, stride_y)
                    count = per_group * met * meetings(rx + pad_x, kernel_x, step_x, stride_x)
                    packed, offsets = advance(all_packed, before * padded), advance(all_offsets, before)
                    if n == lo:
                        pack_kind(
                            weight, packed, offsets, count, per_group, part, kernel_y, kernel_x, ry + pad_y, rx + pad_x,
                            stride_y, stride_x, step_y, step_x, top, left, rows, pitch,
                        )  # fmt: skip
                    slide(
                        scratch, offsets, packed, count, part, (height - ry + stride_y - 1) // stride_y, pitch,
                        (width - rx + stride_x - 1) // stride_x, tile, advance(image, ry * width + rx), area,
                        stride_y * width, stride_x,
                    )  # fmt: skip
                    before += count


multiply_block, multiply_one = inner_products(ROWS, COLUMNS), inner_products(1, COLUMNS)


@compiled
def clear(target, count):
    for i in range(count):
        target[i] = 0


@compiled
def lay_out_grads(grad, out, filters, height, width, pitch, step):
    """The planes of the output's gradient, rows `pitch` apart, zeros between them, planes `step` apart."""
    for f in range(filters):
        deal_planes(
            advance(grad, f * height * width), advance(out, f * step), 1, height, width, height, pitch, 0, 0, 1, 1
        )
        clear(advance(out, f * step + height * pitch), step - height * pitch)


@compiled
def add_products(grads, step, grads_apart, planes, offsets, planes_apart, length, images, tile, out, filters, window):
    """out[f, k] += products of the gradient's plane f with the shifted plane k, over all places of all images."""
    rows = ROWS if 2 * filters > ROWS else 1
    for f in range(0, filters, rows):
        for k in range(0, window, COLUMNS):
            for place in range(0, length, LONGEST):
                left, right = advance(grads, f * step + place), advance(planes, place)
                here = min(LONGEST, length - place)
                if rows == 1:
                    multiply_one(left, step, grads_apart, right, advance(offsets, k), planes_apart, here, images, tile)
                else:
                    multiply_block(
                        left, step, grads_apart, right, advance(offsets, k), planes_apart, here, images, tile
                    )
                for r in range(min(rows, filters - f)):
                    for c in range(min(COLUMNS, window - k)):
                        out[(f + r) * window + k + c] += tile[r * COLUMNS + c]


def weight_grad(lo, hi, grad, x, out, scratch, numbers):
    """The gradient of the filters of the units from lo up to hi: each group's filters, UNIT by UNIT."""
    (
        images, channels, height, width, filters, kernel_y, kernel_x, out_y, out_x, stride_y, stride_x, pad_y, pad_x,
        step_y, step_x, groups, slides, rows, pitch, at_once, _, grads_at, tile_at, offsets_at,
    ) = as_tuple(numbers, NUMBERS)  # fmt: skip
    part, per_group, area, places = channels // groups, filters // groups, height * width, out_y * out_x
    window, units = part * kernel_y * kernel_x, (per_group + UNIT - 1) // UNIT
    grads, tile, offsets = advance(scratch, grads_at), advance(scratch, tile_at), advance(scratch, offsets_at)
    offsets = as_integers(offsets)
    vector = lanes(scratch)
    length, step = (out_y * pitch + vector - 1) // vector * vector, out_y * pitch + vector
    plane_elements = part * stride_y * stride_x * rows * pitch
    apart, grads_apart = plane_elements + pitch + WIDEST, UNIT * step
    if slides:
        for k in range(window, window + COLUMNS):
            offsets[k] = 0
        fill_offsets(offsets, part, kernel_y, kernel_x, stride_y, stride_x, step_y, step_x, rows, pitch)
    for unit in range(lo, hi):
        g, first = unit // units, unit % units * UNIT
        count = min(UNIT, per_group - first)
        result = advance(out, (g * per_group + first) * window)
        for n in range(0, images, at_once if slides else 1):
            image = advance(x, (n * channels + g * part) * area)
            part_grad = advance(grad, (n * filters + g * per_group + first) * places)
            if not slides:
                keep = 0.0 if n == 0 else 1.0
                gemm(False, True, count, part, places, part_grad, places, image, places, keep, result, part)
                continue
            if n == 0:
                clear(result, count * window)
            now = min(at_once, images - n)
            for i in range(now):
                planes = advance(scratch, i * apart)
                if unit == lo or unit % units == 0 or at_once < images:
                    deal_planes(
                        advance(image, i * channels * area), planes, part, height, width, rows, pitch, pad_y, pad_x,
                        stride_y, stride_x,
                    )  # fmt: skip
                    clear(advance(planes, plane_elements), pitch + WIDEST)
                lay_out_grads(
                    advance(part_grad, i * filters * places), advance(grads, i * grads_apart), count, out_y, out_x,
                    pitch, step,
                )  # fmt: skip
            add_products(grads, step, grads_apart, scratch, offsets, apart, length, now, tile, result, count, window)


KERNELS: dict[str, Callable[..., None]] = {
    "convolution": forward,
    "convolution_weight_grad": weight_grad,
    "convolution_input_grad": input_grad,
}
PLANS: dict[str, Callable[[Shape], tuple[tuple[int, ...], int]]] = {
    "convolution": plan_forward,
    "convolution_weight_grad": plan_weight_grad,
    "convolution_input_grad": plan_input_grad,
}


def extent_of(kernel: str, shape: Shape) -> int:
    """How far `hi` goes: the images, or the units of filters of all groups."""
    if kernel != "convolution_weight_grad":
        return shape.images
    return shape.groups * -(-(shape.filters // shape.groups) // UNIT)


@cache
def convolution_kernel(name: str, element: str) -> Any:
    """The kernel (lo, hi, two inputs, output, scratch, numbers) for one dtype; compiled when first wanted."""
    pointer = types.CPointer(ELEMENTS[element])
    signature = types.void(types.int64, types.int64, *[pointer] * 4, types.CPointer(types.int64))
    return native_function(f"{name}_{element}", signature)(KERNELS[name])
