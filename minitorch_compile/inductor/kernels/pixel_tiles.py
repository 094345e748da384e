"""Loops over images whose channels lie side by side (channels last), with all results in vector registers.

In such an image a vector holds channels of one pixel, and a pixel is a place in memory. So what a window sees is
`image[places[p] + offsets[k]]`: `places` are those of the window's corner, `offsets` what its parts add to it. Both
tables may hold anything, which takes care of strides, dilation and ends of rows.

* `window_tile(pixels, vectors)`: a convolution. For vectors of filters, from a panel of weights,

      out[outs[p] + f] = sum over k < count of image[places[p] + offsets[k]] * panel[k * width + f]

* `channel_tile(pixels)`: the same where each channel has a filter of its own, for one vector of channels,

      out[outs[p] + c] = sum over k < count of image[places[p] + offsets[k] + c] * weights[k * step + c]

* `weight_tile(filters, vectors)`: the gradient of weights, along a run of numbers that the window sees side by side,

      out[f * out_step + k] += sum over p < count of grads[p * step + f] * image[places[p] + k]

* `tap_tile(taps)`: the same where each channel has a filter of its own, for one vector of channels,

      out[k * out_step + c] += sum over p < count of grads[p * step + c] * image[places[p] + offsets[k] + c]

`columns` says how many numbers of the vectors are stored (or, of `tap_tile`, read from `grads`).

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.machine import current
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> tile = window_tile(1, 1)
>>> @njit
... def example(image, places, offsets, panel, out, outs):
...     tile(pointer(image), pointer(places), pointer(offsets), pointer(panel), 2, pointer(out), pointer(outs), 1)
>>> panel, out = np.zeros((2, current().vector_bytes // 8)), np.zeros(1)
>>> panel[:, 0] = 1.0, 10.0
>>> example(np.arange(9.0), np.array([2]), np.array([0, 3]), panel, out, np.array([0])); out       # 2 + 10 * 5
array([52.])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from minitorch_compile.inductor.kernels.vector_tiles import WORD, VectorEmitter, lanes, vector_function
from minitorch_compile.inductor.machine import Number, value_of


def _table(builder: ir.IRBuilder, table: ir.Value, count: int) -> list[ir.Value]:
    """The first numbers of a table."""
    return [builder.load(builder.gep(table, [WORD(n)])) for n in range(count)]


@cache
def window_tile(pixels_of_tile: Number, vectors: int) -> Callable[..., None]:
    """(image, places, offsets, panel, count, out, outs, columns), as the module says."""

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        image, places, offsets, panel, count, out, outs, columns = values
        emitter, pixels = VectorEmitter(builder, image.type.pointee), value_of(pixels_of_tile)
        sums = emitter.zeros(pixels, vectors)
        starts = [builder.gep(image, [place]) for place in _table(builder, places, pixels)]
        with cgutils.for_range(builder, count) as loop:
            offset = builder.load(builder.gep(offsets, [loop.index]))
            first = builder.mul(loop.index, WORD(vectors * emitter.lanes))
            weights = [emitter.load(panel, builder.add(first, WORD(v * emitter.lanes))) for v in range(vectors)]
            for p, start in enumerate(starts):
                seen = emitter.spread(start, offset)
                for v in range(vectors):
                    emitter.add_product(sums[p][v], seen, weights[v])
        for p, place in enumerate(_table(builder, outs, pixels)):
            _store(emitter, [builder.load(total) for total in sums[p]], out, place, columns)

    def meaning(image, places, offsets, panel, count, out, outs, columns):
        width = vectors * lanes(image)
        weights, stored = panel[: count * width].reshape(count, width), min(width, columns)
        for p in range(value_of(pixels_of_tile)):
            out[outs[p] : outs[p] + stored] = (image[places[p] + offsets[:count]] @ weights)[:stored]

    return vector_function(8, emit, meaning)


@cache
def channel_tile(pixels_of_tile: Number) -> Callable[..., None]:
    """(image, places, offsets, weights, step, count, out, outs, columns), as the module says."""

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        image, places, offsets, weights, step, count, out, outs, columns = values
        emitter, pixels = VectorEmitter(builder, image.type.pointee), value_of(pixels_of_tile)
        sums = emitter.zeros(pixels, 1)
        starts = [builder.gep(image, [place]) for place in _table(builder, places, pixels)]
        with cgutils.for_range(builder, count) as loop:
            offset = builder.load(builder.gep(offsets, [loop.index]))
            weight = emitter.load(weights, builder.mul(loop.index, step))
            for p, start in enumerate(starts):
                emitter.add_product(sums[p][0], emitter.load(start, offset), weight)
        for p, place in enumerate(_table(builder, outs, pixels)):
            _store(emitter, [builder.load(sums[p][0])], out, place, columns)

    def meaning(image, places, offsets, weights, step, count, out, outs, columns):
        channels = np.arange(min(lanes(image), columns))
        for p in range(value_of(pixels_of_tile)):
            seen = (image[places[p] + offsets[k] + channels] * weights[k * step + channels] for k in range(count))
            out[outs[p] + channels] = sum(seen)

    return vector_function(9, emit, meaning)


@cache
def weight_tile(filters_of_tile: Number, vectors: int) -> Callable[..., None]:
    """(grads, step, image, places, count, out, out_step, columns), as the module says."""

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        grads, step, image, places, count, out, out_step, columns = values
        emitter, filters = VectorEmitter(builder, image.type.pointee), value_of(filters_of_tile)
        sums = emitter.zeros(filters, vectors)
        with cgutils.for_range(builder, count) as loop:
            place = builder.load(builder.gep(places, [loop.index]))
            seen = [emitter.load(image, builder.add(place, WORD(v * emitter.lanes))) for v in range(vectors)]
            first = builder.mul(loop.index, step)
            for f in range(filters):
                grad = emitter.spread(grads, builder.add(first, WORD(f)))
                for v in range(vectors):
                    emitter.add_product(sums[f][v], grad, seen[v])
        for f in range(filters):
            for v in range(vectors):
                place = builder.add(builder.mul(out_step, WORD(f)), WORD(v * emitter.lanes))
                mask = emitter.first_of(builder.sub(columns, WORD(v * emitter.lanes)))
                before = emitter.load_where(mask, emitter.at(out, place))
                emitter.store_where(mask, builder.fadd(before, builder.load(sums[f][v])), emitter.at(out, place))

    def meaning(grads, step, image, places, count, out, out_step, columns):
        run = np.arange(min(vectors * lanes(image), columns))
        for f in range(value_of(filters_of_tile)):
            out[f * out_step + run] += sum(grads[p * step + f] * image[places[p] + run] for p in range(count))

    return vector_function(8, emit, meaning)


@cache
def tap_tile(taps_of_tile: Number) -> Callable[..., None]:
    """(grads, step, image, places, offsets, count, out, out_step, columns), as the module says."""

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        grads, step, image, places, offsets, count, out, out_step, columns = values
        emitter, taps = VectorEmitter(builder, image.type.pointee), value_of(taps_of_tile)
        sums = emitter.zeros(taps, 1)
        starts = [builder.gep(image, [offset]) for offset in _table(builder, offsets, taps)]
        mask = emitter.first_of(columns)
        with cgutils.for_range(builder, count) as loop:
            grad = emitter.load_where(mask, emitter.at(grads, builder.mul(loop.index, step)))
            place = builder.load(builder.gep(places, [loop.index]))
            for k, start in enumerate(starts):
                emitter.add_product(sums[k][0], emitter.load(start, place), grad)
        for k in range(taps):
            place = builder.mul(out_step, WORD(k))
            total = builder.fadd(emitter.load(out, place), builder.load(sums[k][0]))
            emitter.store(total, out, place)

    def meaning(grads, step, image, places, offsets, count, out, out_step, columns):
        channels = np.arange(min(lanes(image), columns))
        for k in range(value_of(taps_of_tile)):
            seen = (grads[p * step + channels] * image[places[p] + offsets[k] + channels] for p in range(count))
            out[k * out_step + channels] += sum(seen)

    return vector_function(9, emit, meaning)


def _store(emitter: VectorEmitter, vectors: list[ir.Value], out: ir.Value, place: ir.Value, columns: ir.Value) -> None:
    """The first `columns` elements of some vectors, side by side; whole vectors without a mask."""
    builder = emitter.builder
    places = [emitter.at(out, builder.add(place, WORD(v * emitter.lanes))) for v in range(len(vectors))]
    whole = builder.icmp_signed(">=", columns, WORD(len(vectors) * emitter.lanes))
    with builder.if_else(whole, likely=True) as (all_columns, some_columns):
        with all_columns:
            for value, there in zip(vectors, places):
                builder.store(value, there, align=emitter.bytes)
        with some_columns:
            for v, (value, there) in enumerate(zip(vectors, places)):
                mask = emitter.first_of(builder.sub(columns, WORD(v * emitter.lanes)))
                emitter.store_where(mask, value, there)
