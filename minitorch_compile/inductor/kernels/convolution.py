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

A 1x1 window with a stride of 1 is a matrix product, which BLAS computes where that is faster. The argument `numbers` of
each kernel points to its `ConvolutionPlan`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types

from minitorch_compile.inductor.kernels.shifted_planes import (
    block_of,
    clear,
    compiled,
    deal_planes,
    most_places,
    pack_rows,
    slide,
)
from minitorch_compile.inductor.kernels.vector_tiles import (
    inner_products,
    lanes,
    tile_columns,
    tile_rows,
    tile_sizes,
)
from minitorch_compile.inductor.machine import Machine, machine_number
from minitorch_compile.inductor.runtime.blas import Matrix, gemm
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_integers, as_tuple
from minitorch_compile.kernel_library import convolution_plan
from minitorch_compile.kernel_library.convolution_plan import CONVOLUTION_PLAN, ConvolutionPlan, Shape
from minitorch_compile.kernel_library.tile_sizes import COLUMNS_OF_ONE

LONGEST = 4096  # places of one image that are added up before the sum is stored
FEW_PLACES = 256  # from so many on, BLAS multiplies `filters_together` rows at a time faster than all together
STRIP = 1 << 16  # elements of an image's planes that filters pass over one after the other: they stay in cache


@machine_number
def filters_together(machine: Machine) -> int:
    """Filters for whose weights' gradients the planes of the output's gradient lie in memory together."""
    return tile_sizes().filters_together


@compiled
def fill_offsets(offsets, channels, plan):
    """The shift of each (channel, ky, kx) in the planes of so many channels of an image."""
    k = 0
    for channel in range(channels):
        for ky in range(plan.kernel_y):
            for kx in range(plan.kernel_x):
                y, x = ky * plan.dilation_y, kx * plan.dilation_x
                plane = (channel * plan.seen_y + y % plan.stride_y) * plan.seen_x + x % plan.stride_x
                offsets[k] = (plane * plan.rows + y // plan.stride_y) * plan.pitch + x // plan.stride_x
                k += 1


@compiled
def deal_image(image, planes, channels, plan):
    """The planes of some channels of an image."""
    deal_planes(
        image, planes, channels, plan.height, plan.width, plan.rows, plan.pitch, plan.top, plan.left,
        plan.stride_y, plan.stride_x, plan.seen_y, plan.seen_x,
    )  # fmt: skip


@compiled
def part_of(unit, hi, images_apart, results, together):
    """What the range `unit` is about: image, group, first of the group's result channels and how many of them.

    That is all which the ranges before `hi` have of this group; the last is the first range of what comes after it.
    """
    ranges = (results + together - 1) // together
    begin = unit % ranges
    end = min(ranges, begin + hi - unit)
    first = begin * together
    count = min(end * together, results) - first
    return unit // images_apart, unit // ranges % (images_apart // ranges), first, count, unit + end - begin


def forward(lo, hi, x, w, out, scratch, numbers):
    """out for the ranges from lo up to hi: each image, in it each group, and of that `at_once` filters at a time."""
    plan = as_tuple(numbers, CONVOLUTION_PLAN)
    part, per_group, area = plan.channels // plan.groups, plan.filters // plan.groups, plan.height * plan.width
    window, places, block = part * plan.kernel_y * plan.kernel_x, plan.out_y * plan.out_x, block_of(per_group)
    packed, tile = advance(scratch, plan.second_at), advance(scratch, plan.tile_at)
    offsets = as_integers(advance(scratch, plan.offsets_at))
    strips = part * plan.seen_y * plan.seen_x * plan.rows * plan.pitch // STRIP + 1
    height_of_strip = (plan.out_y + strips - 1) // strips
    of_image = plan.groups * ((per_group + plan.at_once - 1) // plan.at_once)
    if plan.slides:
        fill_offsets(offsets, part, plan)
        unit, last = lo, min(hi, lo + of_image)
        while unit < last:
            _, g, first, count, unit = part_of(unit, last, of_image, per_group, plan.at_once)
            target = advance(packed, g * plan.packed + first * window)
            pack_rows(advance(w, (g * per_group + first) * window), window, window, count, block, target, window)
    unit = lo
    while unit < hi:
        n, g, first, count, unit = part_of(unit, hi, of_image, per_group, plan.at_once)
        image = advance(x, (n * plan.channels + g * part) * area)
        result = advance(out, (n * plan.filters + g * per_group + first) * places)
        if not plan.slides:
            matrix = Matrix(advance(w, (g * per_group + first) * window), part, False)
            gemm(count, places, part, matrix, Matrix(image, places, False), 0.0, result, places)
            continue
        deal_image(image, scratch, part, plan)
        weight = advance(packed, g * plan.packed + first * window)
        for y in range(0, plan.out_y, height_of_strip):
            slide(
                advance(scratch, y * plan.pitch), offsets, weight, window, count, block,
                min(height_of_strip, plan.out_y - y), plan.pitch, plan.out_x, tile,
                advance(result, y * plan.out_x), places, plan.out_x, 1,
            )  # fmt: skip


# ------------------------------------------------------------------------------------------------ of the input


@compiled
def fill_kind(kind, ry, rx, plan):
    """How many weights of a channel the rows ry and columns rx of the input met, then their shifts; their number."""
    filters, plane, met = plan.filters // plan.groups, plan.rows * plan.pitch, 0
    for ky in range(plan.kernel_y):
        for kx in range(plan.kernel_x):
            y, x = ry + plan.padding_y - ky * plan.dilation_y, rx + plan.padding_x - kx * plan.dilation_x
            if y % plan.stride_y == 0 and x % plan.stride_x == 0:
                met += 1
                kind[met] = (y // plan.stride_y + plan.top) * plan.pitch + x // plan.stride_x + plan.left
    for f in range(1, filters):
        for k in range(met):
            kind[1 + f * met + k] = kind[1 + k] + f * plane
    kind[0] = filters * met
    return filters * met


@compiled
def fill_kinds(kinds, plan):
    """The table of all kinds, one after the other."""
    at = 0
    for ry in range(plan.stride_y):
        for rx in range(plan.stride_x):
            at += 1 + fill_kind(advance(kinds, at), ry, rx, plan)


@compiled
def pack_kind(w, packed, count, channels, block, ry, rx, plan):
    """The `count` weights of some channels of a group that the rows ry and columns rx of the input met."""
    part, taps, filters = plan.channels // plan.groups, plan.kernel_y * plan.kernel_x, plan.filters // plan.groups
    if count == filters * taps:
        for f in range(filters):
            pack_rows(
                advance(w, f * part * taps), taps, taps, channels, block, advance(packed, f * taps * block), count
            )
        return
    met = 0
    for ky in range(plan.kernel_y):
        for kx in range(plan.kernel_x):
            y, x = ry + plan.padding_y - ky * plan.dilation_y, rx + plan.padding_x - kx * plan.dilation_x
            if y % plan.stride_y == 0 and x % plan.stride_x == 0:
                for first in range(0, channels, block):
                    for f in range(filters):
                        source = advance(w, (f * part + first) * taps + ky * plan.kernel_x + kx)
                        target = advance(packed, first * count + (f * (count // filters) + met) * block)
                        for c in range(min(block, channels - first)):
                            target[c] = source[c * taps]
                met += 1


@compiled
def pack_kinds(w, packed, kinds, first, channels, block, plan):
    """The weights of the channels of a group from `first` on, kind after kind."""
    part = plan.channels // plan.groups
    padded, at = (part + block - 1) // block * block, 0
    source = advance(w, first * plan.kernel_y * plan.kernel_x)
    for kind in range(plan.stride_y * plan.stride_x):
        count = kinds[at + kind]
        target = advance(packed, at * padded + first * count)
        pack_kind(source, target, count, channels, block, kind // plan.stride_x, kind % plan.stride_x, plan)
        at += count


@compiled
def slide_kinds(planes, kinds, packed, first, channels, block, tile, image, plan):
    """The rows and columns of the channels of a group of an image from `first` on, kind after kind."""
    part = plan.channels // plan.groups
    padded, at = (part + block - 1) // block * block, 0
    for kind in range(plan.stride_y * plan.stride_x):
        ry, rx, count = kind // plan.stride_x, kind % plan.stride_x, kinds[at + kind]
        slide(
            planes, advance(kinds, at + kind + 1), advance(packed, at * padded + first * count), count, channels, block,
            (plan.height - ry + plan.stride_y - 1) // plan.stride_y, plan.pitch,
            (plan.width - rx + plan.stride_x - 1) // plan.stride_x, tile, advance(image, ry * plan.width + rx),
            plan.height * plan.width, plan.stride_y * plan.width, plan.stride_x,
        )  # fmt: skip
        at += count


def input_grad(lo, hi, grad, w, out, scratch, numbers):
    """The gradient for the ranges from lo up to hi: each image, in it each group, and of it the channels."""
    plan = as_tuple(numbers, CONVOLUTION_PLAN)
    part, per_group, area = plan.channels // plan.groups, plan.filters // plan.groups, plan.height * plan.width
    taps, places, block = plan.kernel_y * plan.kernel_x, plan.out_y * plan.out_x, block_of(part)
    packed, tile = advance(scratch, plan.second_at), advance(scratch, plan.tile_at)
    kinds = as_integers(advance(scratch, plan.offsets_at))
    of_image = plan.groups * ((part + plan.at_once - 1) // plan.at_once)
    if plan.slides:
        fill_kinds(kinds, plan)
        unit, last = lo, min(hi, lo + of_image)
        while unit < last:
            _, g, first, count, unit = part_of(unit, last, of_image, part, plan.at_once)
            weight = advance(w, g * per_group * part * taps)
            pack_kinds(weight, advance(packed, g * plan.packed), kinds, first, count, block, plan)
    unit = lo
    while unit < hi:
        n, g, first, count, unit = part_of(unit, hi, of_image, part, plan.at_once)
        image = advance(out, (n * plan.channels + g * part + first) * area)
        part_grad = advance(grad, (n * plan.filters + g * per_group) * places)
        if not plan.slides:
            matrix = Matrix(advance(w, g * per_group * part + first), part, True)
            gemm(count, places, per_group, matrix, Matrix(part_grad, places, False), 0.0, image, places)
            continue
        deal_planes(
            part_grad, scratch, per_group, plan.out_y, plan.out_x, plan.rows, plan.pitch, plan.top, plan.left,
            1, 1, 1, 1,
        )  # fmt: skip
        slide_kinds(scratch, kinds, advance(packed, g * plan.packed), first, count, block, tile, image, plan)


# ------------------------------------------------------------------------------------------------ of the weight

multiply_block, multiply_one = inner_products(tile_rows, tile_columns), inner_products(1, COLUMNS_OF_ONE)


@compiled
def lay_out_grads(grad, out, filters, step, plan):
    """The planes of the output's gradient, rows `pitch` apart, zeros between them, planes `step` apart."""
    for f in range(filters):
        plane = advance(out, f * step)
        source = advance(grad, f * plan.out_y * plan.out_x)
        deal_planes(source, plane, 1, plan.out_y, plan.out_x, plan.out_y, plan.pitch, 0, 0, 1, 1, 1, 1)
        clear(advance(plane, plan.out_y * plan.pitch), step - plan.out_y * plan.pitch)


@compiled
def add_products(grads, step, grads_apart, planes, offsets, planes_apart, length, images, out, filters, count, window):
    """out[f, k] += products of the gradient's plane f with the shifted plane k < count, over all places of all images.

    The rows of `out` are `window` apart.
    """
    block = 2 * filters > tile_rows()
    for f in range(0, filters, tile_rows() if block else 1):
        for k in range(0, count, tile_columns() if block else COLUMNS_OF_ONE):
            shifted, result = advance(offsets, k), advance(out, f * window + k)
            for place in range(0, length, LONGEST):
                left, right = advance(grads, f * step + place), advance(planes, place)
                here = min(LONGEST, length - place)
                if block:
                    multiply_block(
                        left, step, grads_apart, right, shifted, planes_apart, here, images, result, window,
                        filters - f, min(tile_columns(), count - k),
                    )  # fmt: skip
                else:
                    multiply_one(
                        left, step, grads_apart, right, shifted, planes_apart, here, images, result, window,
                        1, min(COLUMNS_OF_ONE, count - k),
                    )  # fmt: skip


@compiled
def slide_over_grads(grad, x, out, scratch, filters, channels, plan):
    """out[f, k] for some filters and channels of a group, which begin at `grad` and `x`."""
    taps, vector = plan.kernel_y * plan.kernel_x, lanes(scratch)
    window, count = plan.channels // plan.groups * taps, channels * taps
    places, area = plan.out_y * plan.out_x, plan.height * plan.width
    grads, offsets = advance(scratch, plan.second_at), as_integers(advance(scratch, plan.offsets_at))
    length, step = (plan.out_y * plan.pitch + vector - 1) // vector * vector, plan.out_y * plan.pitch + vector
    elements = channels * plan.seen_y * plan.seen_x * plan.rows * plan.pitch
    apart, grads_apart = elements + plan.pitch + most_places(), filters_together() * step
    fill_offsets(offsets, channels, plan)
    for k in range(count, count + tile_columns() + COLUMNS_OF_ONE):
        offsets[k] = 0
    clear_rows(out, filters, count, window)
    for n in range(0, plan.images, plan.at_once):
        now = min(plan.at_once, plan.images - n)
        for i in range(now):
            planes = advance(scratch, i * apart)
            deal_image(advance(x, (n + i) * plan.channels * area), planes, channels, plan)
            clear(advance(planes, elements), plan.pitch + most_places())
        for first in range(0, filters, filters_together()):
            together = min(filters_together(), filters - first)
            for i in range(now):
                source = advance(grad, ((n + i) * plan.filters + first) * places)
                lay_out_grads(source, advance(grads, i * grads_apart), together, step, plan)
            result = advance(out, first * window)
            add_products(
                grads, step, grads_apart, scratch, offsets, apart, length, now, result, together, count, window
            )


@compiled
def clear_rows(out, rows, count, step):
    for row in range(rows):
        clear(advance(out, row * step), count)


@compiled
def multiply_grads(grad, x, out, filters, channels, plan):
    """out[f, c] for some filters and channels of a group, where a window is one element: products by BLAS."""
    part, places = plan.channels // plan.groups, plan.out_y * plan.out_x
    clear_rows(out, filters, channels, part)
    together = filters if places < FEW_PLACES else filters_together()
    for n in range(plan.images):
        image, image_grad = advance(x, n * plan.channels * places), advance(grad, n * plan.filters * places)
        for f in range(0, filters, together):
            left, right = Matrix(advance(image_grad, f * places), places, False), Matrix(image, places, True)
            gemm(min(together, filters - f), channels, places, left, right, 1.0, advance(out, f * part), part)


def weight_grad(lo, hi, grad, x, out, scratch, numbers):
    """The gradient for the ranges from lo up to hi: of each group some filters, and of these some channels."""
    plan = as_tuple(numbers, CONVOLUTION_PLAN)
    part, per_group, area = plan.channels // plan.groups, plan.filters // plan.groups, plan.height * plan.width
    taps, places = plan.kernel_y * plan.kernel_x, plan.out_y * plan.out_x
    along = (part + plan.part_channels - 1) // plan.part_channels
    of_group = (per_group + plan.part_filters - 1) // plan.part_filters * along
    unit = lo
    while unit < hi:
        g, place = unit // of_group, unit % of_group
        if place == 0 and hi - unit >= of_group:  # all of a group together: its planes are laid out once
            first, count, channel, channels, unit = 0, per_group, 0, part, unit + of_group
        else:
            first, channel = place // along * plan.part_filters, place % along * plan.part_channels
            count, channels = min(plan.part_filters, per_group - first), min(plan.part_channels, part - channel)
            unit += 1
        result = advance(out, ((g * per_group + first) * part + channel) * taps)
        images, grads = advance(x, (g * part + channel) * area), advance(grad, (g * per_group + first) * places)
        if plan.slides:
            slide_over_grads(grads, images, result, scratch, count, channels, plan)
        else:
            multiply_grads(grads, images, result, count, channels, plan)


KERNELS: dict[str, Callable[..., None]] = {
    "convolution": forward,
    "convolution_weight_grad": weight_grad,
    "convolution_input_grad": input_grad,
}


def plan_of(kernel: str, shape: Shape) -> tuple[ConvolutionPlan, int]:
    """What a kernel is told, and how many elements of scratch memory it needs."""
    return convolution_plan.PLANS[kernel](shape, tile_sizes())


def extent_of(kernel: str, shape: Shape) -> int:
    """How far `hi` goes: so many ranges there are."""
    return convolution_plan.extent_of(kernel, shape, plan_of(kernel, shape)[0])


@cache
def convolution_kernel(name: str, element: str) -> Any:
    """The kernel (lo, hi, two inputs, output, scratch, numbers) for one dtype; compiled when first wanted."""
    pointer = types.CPointer(ELEMENTS[element])
    signature = types.void(types.int64, types.int64, *[pointer] * 4, types.CPointer(types.int64))
    return native_function(f"{name}_{element}", signature)(KERNELS[name])
