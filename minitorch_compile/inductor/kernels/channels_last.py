"""Convolution of images whose channels lie side by side (channels last) and its two gradients, read where they lie.

* `gather`: a convolution, or the gradient of its input, which differ only in how the window meets the source (see
  `channels_last_plan`). Tables say which places of the source a pixel of the result is made from; from there on it is a
  matrix product, of pixels with a panel of weights. With a stride of s, the rows of an input's gradient fall into s
  kinds, each with its own tables.
* `weight_grad`: products of the gradient's channels with the runs of numbers that the window sees side by side, added
  up over all places and images.

All tensors are dense, channels last; weights are too: (filters, rows, columns, channels) in memory. An image that needs
a border of zeros is copied into scratch memory with it, row by row. `numbers` points to a `ChannelsLastPlan`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types

from minitorch_compile.inductor.kernels.channels_last_plan import (
    BLOCK,
    CHANNELS_LAST_PLAN,
    TAPS,
    ChannelsLastPlan,
    filters_of_grad,
    is_depthwise,
    plan_forward,
    plan_input_grad,
    plan_weight_grad,
)
from minitorch_compile.inductor.kernels.pixel_tiles import channel_tile, tap_tile, weight_tile, window_tile
from minitorch_compile.inductor.kernels.shifted_planes import clear, compiled
from minitorch_compile.inductor.kernels.tile_transpose import turn_over
from minitorch_compile.inductor.kernels.vector_moves import copy_row
from minitorch_compile.inductor.kernels.vector_tiles import lanes, most_lanes
from minitorch_compile.inductor.machine import Machine, machine_number
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_integers, as_tuple
from minitorch_compile.kernel_library.convolution_plan import Shape


# Pixels of the highest tile and of a lower one. Sums of 12 would fit, too, but LLVM loads all pixels first: no room.
@machine_number
def high_tile(machine: Machine) -> int:
    return 8 if machine.registers == 32 else 4


@machine_number
def low_tile(machine: Machine) -> int:
    return 4 if machine.registers == 32 else 2


@compiled
def copy_image(image, padded, first, end, plan):
    """The rows from `first` up to `end` of an image with its zeros."""
    begin, skipped = min(max(plan.left, 0), plan.pitch), max(-plan.left, 0)
    count = max(0, min(plan.width - skipped, plan.pitch - begin))
    for row in range(first, end):
        y, target = row - plan.top, advance(padded, row * plan.pitch * plan.channels)
        if y < 0 or y >= plan.height:
            clear(target, plan.pitch * plan.channels)
            continue
        clear(target, begin * plan.channels)
        source = advance(image, (y * plan.width + skipped) * plan.channels)
        copy_row(source, advance(target, begin * plan.channels), count * plan.channels)
        rest = plan.pitch - begin - count
        clear(advance(target, (begin + count) * plan.channels), rest * plan.channels)


@compiled
def fill_places(places, outs, first, count, columns, ry, rx, plan):
    """Of `count` pixels of a kind, which has so many columns, from `first` on: where the window's corner and the
    result are."""
    y, x = first // columns, first % columns
    for p in range(count):
        places[p] = (y * plan.step_in_y * plan.pitch + x * plan.step_in_x) * plan.channels
        row, column = y * plan.step_out_y + ry, x * plan.step_out_x + rx
        outs[p] = (row * plan.result_x + column) * plan.result_channels
        x += 1
        if x == columns:
            y, x = y + 1, 0


# ------------------------------------------------------------------------------------------------ tables and weights


@compiled
def step_of(kind, ky, kx, plan):
    """How many pixels the window's part (ky, kx) is from its corner, for a result of this kind; -1 if it meets none."""
    y = kind // plan.step_out_x + plan.origin_y + plan.direction * ky * plan.dilation_y
    x = kind % plan.step_out_x + plan.origin_x + plan.direction * kx * plan.dilation_x
    if y % plan.step_out_y != 0 or x % plan.step_out_x != 0:
        return -1
    return (y // plan.step_out_y + plan.before_y) * plan.pitch + x // plan.step_out_x + plan.before_x


@compiled
def fill_kinds(kinds, inner, plan):
    """For each kind, one after the other: how many offsets it has, then these."""
    at = 0
    for kind in range(plan.step_out_y * plan.step_out_x):
        count = 0
        for ky in range(plan.kernel_y):
            for kx in range(plan.kernel_x):
                step = step_of(kind, ky, kx, plan)
                for c in range(inner if step >= 0 else 0):
                    count += 1
                    kinds[at + count] = step * plan.channels + c
        kinds[at] = count
        at += 1 + count


@compiled
def pack_tap(w, tap, taps, inner, results, width, count, target, plan):
    """The weights of a group for one tap, in panels of `count` rows: from inner channels to results."""
    for left in range(0, results, width):
        here, panel = min(width, results - left), advance(target, left * count)
        if here < width:
            clear(panel, inner * width)  # so that tiles, which multiply whole vectors, meet no strange numbers
        if plan.direction > 0:
            turn_over(advance(w, (left * taps + tap) * inner), taps * inner, panel, width, here, inner)
        else:
            for k in range(inner):
                copy_row(advance(w, (k * taps + tap) * results + left), advance(panel, k * width), here)


@compiled
def pack_weights(w, packed, kinds, inner, results, width, plan):
    """The weights of all groups, in each of them kind after kind."""
    taps, padded = plan.kernel_y * plan.kernel_x, (results + width - 1) // width * width
    for g in range(plan.groups):
        group, at = advance(w, g * results * inner * taps), 0
        for kind in range(plan.step_out_y * plan.step_out_x):
            count, met = kinds[at + kind], 0
            for tap in range(taps):
                if step_of(kind, tap // plan.kernel_x, tap % plan.kernel_x, plan) >= 0:
                    target = advance(packed, g * plan.packed + at * padded + met * width)
                    pack_tap(group, tap, taps, inner, results, width, count, target, plan)
                    met += inner
            at += count


@compiled
def pack_channels(w, packed, plan):
    """Weights of one tap after the other, those of all channels side by side; kind after kind."""
    taps, at = plan.kernel_y * plan.kernel_x, 0
    for kind in range(plan.step_out_y * plan.step_out_x):
        for tap in range(taps):
            if step_of(kind, tap // plan.kernel_x, tap % plan.kernel_x, plan) >= 0:
                turn_over(advance(w, tap), taps, advance(packed, at), plan.channels, plan.channels, 1)
                at += plan.filled


# ------------------------------------------------------------------------------------------------ pixels of a result

high_wide, low_wide, one_wide = (window_tile(pixels, 2) for pixels in (high_tile, low_tile, 1))
high_narrow, low_narrow, one_narrow = (window_tile(pixels, 1) for pixels in (high_tile, low_tile, 1))
high_channels, one_channel = channel_tile(high_tile), channel_tile(1)


@compiled
def tile_at(p, height, wide, image, places, offsets, panel, count, out, outs, columns):
    """The tile of `height` pixels from p on."""
    here, there = advance(places, p), advance(outs, p)
    if wide and height == high_tile():
        high_wide(image, here, offsets, panel, count, out, there, columns)
    elif wide and height == low_tile():
        low_wide(image, here, offsets, panel, count, out, there, columns)
    elif wide:
        one_wide(image, here, offsets, panel, count, out, there, columns)
    elif height == high_tile():
        high_narrow(image, here, offsets, panel, count, out, there, columns)
    elif height == low_tile():
        low_narrow(image, here, offsets, panel, count, out, there, columns)
    else:
        one_narrow(image, here, offsets, panel, count, out, there, columns)


@compiled
def multiply_pixels(wide, image, places, offsets, panel, count, out, outs, columns, pixels):
    """Pixels of the result. The last tile may begin before the one before it has ended, and computes some again."""
    p, high, low = 0, high_tile(), low_tile()
    while p < pixels:
        left = pixels - p
        height = high if pixels >= high and left > low else low if pixels >= low and left > 1 else 1
        first = min(p, pixels - height)
        tile_at(first, height, wide, image, places, offsets, panel, count, out, outs, columns)
        p = first + height


@compiled
def multiply_groups(image, places, offsets, packed, count, out, outs, pixels, inner, results, width, plan):
    """Some pixels of all groups, whose weights of this kind begin at `packed`."""
    for g in range(plan.groups):
        source, target = advance(image, g * inner), advance(out, g * results)
        for left in range(0, results, width):
            panel = advance(packed, g * plan.packed + left * count)
            multiply_pixels(
                width > lanes(image), source, places, offsets, panel, count, advance(target, left), outs,
                results - left, pixels,
            )  # fmt: skip


@compiled
def multiply_channels(image, places, offsets, packed, count, out, outs, pixels, plan):
    """Some pixels of all channels, each with a filter of its own."""
    step, high = plan.filled, high_tile()
    for left in range(0, plan.channels, lanes(image)):
        source, weights, target = advance(image, left), advance(packed, left), advance(out, left)
        p, columns = 0, plan.channels - left
        while p < pixels:
            tall = pixels >= high
            first = min(p, pixels - high) if tall else p
            here, there = advance(places, first), advance(outs, first)
            if tall:
                high_channels(source, here, offsets, weights, step, count, target, there, columns)
            else:
                one_channel(source, here, offsets, weights, step, count, target, there, columns)
            p = first + (high if tall else 1)


@compiled
def gather_rows(image, packed, kinds, places, out, top, bottom, inner, results, width, plan):
    """The rows of a result from `top` up to `bottom`, kind after kind."""
    outs, at = advance(places, BLOCK), 0
    padded = (results + width - 1) // width * width
    for kind in range(plan.step_out_y * plan.step_out_x):
        ry, rx, count = kind // plan.step_out_x, kind % plan.step_out_x, kinds[at + kind]
        offsets, weights = advance(kinds, at + kind + 1), advance(packed, at * padded)
        columns = (plan.result_x - rx + plan.step_out_x - 1) // plan.step_out_x
        first = (top // plan.step_out_y) * columns
        end = (bottom - ry + plan.step_out_y - 1) // plan.step_out_y * columns
        for begin in range(first, end, BLOCK):
            pixels = min(BLOCK, end - begin)
            fill_places(places, outs, begin, pixels, columns, ry, rx, plan)
            if plan.depthwise:
                multiply_channels(image, places, offsets, weights, count, out, outs, pixels, plan)
            else:
                multiply_groups(image, places, offsets, weights, count, out, outs, pixels, inner, results, width, plan)
        at += count


def gather(lo, hi, x, w, out, scratch, numbers):
    """out for the ranges from lo up to hi: each image, and of that `band` rows at a time."""
    plan = as_tuple(numbers, CHANNELS_LAST_PLAN)
    packed, places = advance(scratch, plan.second_at), as_integers(advance(scratch, plan.places_at))
    kinds = as_integers(advance(scratch, plan.offsets_at))
    inner, results = plan.channels // plan.groups, plan.result_channels // plan.groups
    width = lanes(x) if results <= lanes(x) else 2 * lanes(x)
    fill_kinds(kinds, inner, plan)
    if plan.depthwise:
        results = width = plan.filled
        pack_channels(w, packed, plan)
    else:
        pack_weights(w, packed, kinds, inner, results, width, plan)
    bands, unit = plan.result_y // plan.band, lo
    while unit < hi:
        n, first = unit // bands, unit % bands
        end = min(bands, first + hi - unit)
        top, bottom = first * plan.band, end * plan.band
        image = advance(x, n * plan.height * plan.width * plan.channels)
        if plan.copied:
            last = (bottom - 1) // plan.step_out_y * plan.step_in_y + plan.reach
            copy_image(image, scratch, top // plan.step_out_y * plan.step_in_y, last + 1, plan)
            image = scratch
        result = advance(out, n * plan.result_y * plan.result_x * plan.result_channels)
        gather_rows(image, packed, kinds, places, result, top, bottom, inner, results, width, plan)
        unit += end - first


# ------------------------------------------------------------------------------------------------ of the weight

wide_all, wide_low, wide_one = (weight_tile(filters, 2) for filters in (filters_of_grad, low_tile, 1))
narrow_all, narrow_low, narrow_one = (weight_tile(filters, 1) for filters in (filters_of_grad, low_tile, 1))
add_taps = tap_tile(TAPS)


@compiled
def add_products(grads, step, image, places, count, out, window, columns, filters):
    """out[f, k] += products of `count` gradients with what the window sees, for at most `filters_of_grad`."""
    f, most, low = 0, filters_of_grad(), low_tile()
    while f < filters:
        height = most if filters - f >= most else low if filters - f >= low else 1
        left, target, wide = advance(grads, f), advance(out, f * window), columns > lanes(image)
        if wide and height == most:
            wide_all(left, step, image, places, count, target, window, columns)
        elif wide and height == low:
            wide_low(left, step, image, places, count, target, window, columns)
        elif wide:
            wide_one(left, step, image, places, count, target, window, columns)
        elif height == most:
            narrow_all(left, step, image, places, count, target, window, columns)
        elif height == low:
            narrow_low(left, step, image, places, count, target, window, columns)
        else:
            narrow_one(left, step, image, places, count, target, window, columns)
        f += height


@compiled
def add_runs(lo, hi, grads, image, places, count, out, plan):
    """What `count` places add to the filters of the ranges from lo up to hi."""
    part, per_group = plan.channels // plan.groups, plan.result_channels // plan.groups
    taps, most = plan.kernel_y * plan.kernel_x, filters_of_grad()
    ranges = (per_group + most - 1) // most
    at_once = plan.kernel_x if plan.groups == 1 and plan.dilation_x == 1 else 1
    width = 2 * lanes(image)
    for tap in range(0, taps, at_once):
        step = step_of(0, tap // plan.kernel_x, tap % plan.kernel_x, plan) * plan.channels
        for left in range(0, at_once * part, width):
            for unit in range(lo, hi):
                g, first = unit // ranges, unit % ranges * most
                f = g * per_group + first
                seen, target = advance(image, step + g * part + left), advance(out, (f * taps + tap) * part + left)
                add_products(
                    advance(grads, f), plan.result_channels, seen, places, count, target, taps * part,
                    at_once * part - left, min(most, per_group - first),
                )  # fmt: skip


@compiled
def add_channels(lo, hi, grads, image, places, count, offsets, sums, plan):
    """What `count` places add to the filters of the ranges from lo up to hi, which have one channel each."""
    step = plan.filled
    for left in range(lo * most_lanes(), min(hi * most_lanes(), plan.channels), lanes(image)):
        for tap in range(0, plan.kernel_y * plan.kernel_x, TAPS):
            add_taps(
                advance(grads, left), plan.channels, advance(image, left), places, advance(offsets, tap), count,
                advance(sums, tap * step + left), step, plan.channels - left,
            )  # fmt: skip


@compiled
def clear_results(lo, hi, out, sums, offsets, plan):
    """Zeros for what is added up, and the table of a window's parts."""
    taps = plan.kernel_y * plan.kernel_x
    if plan.depthwise:
        clear(sums, (taps + TAPS) * plan.filled)
        for tap in range(taps + TAPS):
            offsets[tap] = 0
            if tap < taps:
                offsets[tap] = step_of(0, tap // plan.kernel_x, tap % plan.kernel_x, plan) * plan.channels
        return
    per_group, window = plan.result_channels // plan.groups, plan.channels // plan.groups * taps
    most = filters_of_grad()
    ranges = (per_group + most - 1) // most
    for unit in range(lo, hi):
        first = unit % ranges * most
        count = min(most, per_group - first)
        clear(advance(out, (unit // ranges * per_group + first) * window), count * window)


def weight_grad(lo, hi, grad, x, out, scratch, numbers):
    """The gradient of the filters of the ranges from lo up to hi: each some filters of a group, or a vector."""
    plan = as_tuple(numbers, CHANNELS_LAST_PLAN)
    offsets = as_integers(advance(scratch, plan.offsets_at))
    places = as_integers(advance(scratch, plan.places_at))
    sums, pixels = advance(scratch, plan.sums_at), plan.result_y * plan.result_x
    clear_results(lo, hi, out, sums, offsets, plan)
    for n in range(plan.images):
        copy_image(advance(x, n * plan.height * plan.width * plan.channels), scratch, 0, plan.rows, plan)
        for begin in range(0, pixels, BLOCK):
            count = min(BLOCK, pixels - begin)
            fill_places(places, advance(places, BLOCK), begin, count, plan.result_x, 0, 0, plan)
            grads = advance(grad, (n * pixels + begin) * plan.result_channels)
            if plan.depthwise:
                add_channels(lo, hi, grads, scratch, places, count, offsets, sums, plan)
            else:
                add_runs(lo, hi, grads, scratch, places, count, out, plan)
    if plan.depthwise:
        step, taps = plan.filled, plan.kernel_y * plan.kernel_x
        for c in range(lo * most_lanes(), min(hi * most_lanes(), plan.channels)):
            for tap in range(taps):
                out[c * taps + tap] = sums[tap * step + c]


KERNELS: dict[str, Callable[..., None]] = {
    "convolution": gather,
    "convolution_weight_grad": weight_grad,
    "convolution_input_grad": gather,
}
PLANS: dict[str, Callable[[Shape], tuple[ChannelsLastPlan, int]]] = {
    "convolution": plan_forward,
    "convolution_weight_grad": plan_weight_grad,
    "convolution_input_grad": plan_input_grad,
}


def plan_of(kernel: str, shape: Shape) -> tuple[ChannelsLastPlan, int]:
    """What a kernel is told, and how many elements of scratch memory it needs."""
    return PLANS[kernel](shape)


def extent_of(kernel: str, shape: Shape) -> int:
    """How far `hi` goes: so many ranges there are."""
    if kernel == "convolution_weight_grad":
        if is_depthwise(shape):
            return -(-shape.channels // most_lanes())
        return shape.groups * -(-shape.per_group // filters_of_grad())
    plan, _ = plan_of(kernel, shape)
    return shape.images * (plan.result_y // plan.band)


@cache
def channels_last_kernel(name: str, element: str) -> Any:
    """The kernel (lo, hi, two inputs, output, scratch, numbers) for one dtype; compiled when first wanted."""
    pointer = types.CPointer(ELEMENTS[element])
    signature = types.void(types.int64, types.int64, *[pointer] * 4, types.CPointer(types.int64))
    function = KERNELS[name]
    return native_function(f"channels_last_{function.__name__}_{element}", signature)(function)
