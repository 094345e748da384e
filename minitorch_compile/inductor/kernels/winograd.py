"""3x3 convolutions with four ninths of the multiplications: Winograd's F(2x2, 3x3).

Four results that stand in a square are made from a tile of 4x4 places. Both these and the window's weights are
transformed by additions (and halving); then 16 numbers are multiplied with 16, where the definition takes 36 products;
and a last transform adds up the four results. Over all tiles of an image and all channels, each of the 16 is a matrix
product: tiles x channels by channels x filters. The gradient of the input is a convolution, too, with the window turned
about (`plan.back`).

The rounding is another than that of the definition, so `max-autotune` alone may choose it. For normally distributed
numbers, the error stays below 2**-21 * sqrt(terms of a sum) * largest input * largest weight, for float32. The direct
sum, which adds up more products one after the other, is not more accurate; but a result that is small beside the others
in its tile is. An infinity becomes NaN in all results of the tiles that see it, met by the window or not.

It takes images row by row or channels last (`plan.last`), of float32; channels and filters fill whole vectors.

Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), arXiv:1509.09308.

>>> shape = Shape(1, 16, (8, 8), 32, (3, 3), (8, 8), (1, 1), (1, 1), (1, 1), 1)
>>> suits(shape), suits(shape._replace(stride=(2, 2)))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types

from minitorch_compile.inductor.kernels.product_tiles import Panels, Rows, multiply_panels, panel_width
from minitorch_compile.inductor.kernels.shifted_planes import clear, compiled, take_every
from minitorch_compile.inductor.kernels.tile_transpose import turn_over
from minitorch_compile.inductor.kernels.vector_moves import copy_row
from minitorch_compile.inductor.kernels.vector_tiles import WORD, VectorEmitter, lanes, most_lanes, vector_function
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple
from minitorch_compile.kernel_library.convolution_plan import Shape

TILES = 96  # that are multiplied together, about: what belongs to them stays in the second-level cache
APART = 80  # elements between two of the 16 matrices, so that they don't fall on the same lines of the cache
OF_IMAGE = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
OF_WEIGHTS = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
OF_RESULT = ((1, 1, 1, 0), (0, 1, -1, -1))
Matrix = tuple[tuple[float, ...], ...]


class WinogradPlan(NamedTuple):
    """Sizes; `tiles_x` of a row of tiles, of which `band` are computed together; the places of parts in memory."""

    images: int = 0
    channels: int = 0
    height: int = 0
    width: int = 0
    filters: int = 0
    out_y: int = 0
    out_x: int = 0
    padding_y: int = 0
    padding_x: int = 0
    last: int = 0
    back: int = 0
    tiles_x: int = 0
    band: int = 0
    weights_at: int = 0
    seen_at: int = 0
    products_at: int = 0
    results_at: int = 0

    def __repr__(self) -> str:
        """The numbers alone: what stands in a generated file."""
        return repr(tuple(self))


WINOGRAD_PLAN = WinogradPlan()


def suits(shape: Shape) -> bool:
    """Whether it and the gradient of its input can be computed so."""
    steps = shape.stride == shape.dilation == (1, 1) and shape.groups == 1 and shape.kernel == (3, 3)
    whole_vectors = shape.channels % most_lanes() == shape.filters % most_lanes() == 0
    return steps and whole_vectors and shape.pixels > 0 and max(shape.padding) <= 2


def turned_about(shape: Shape) -> Shape:
    """The convolution that is the gradient of the input: of what was the result, by the window turned about."""
    return shape._replace(
        channels=shape.filters, image=shape.out, filters=shape.channels, out=shape.image,
        padding=(2 - shape.padding[0], 2 - shape.padding[1]),
    )  # fmt: skip


def plan_of(shape: Shape, last: bool, back: bool) -> tuple[WinogradPlan, int]:
    """What the kernel takes, and how many elements of scratch memory it needs."""
    shape = turned_about(shape) if back else shape
    tiles_y, tiles_x = (-(-n // 2) for n in shape.out)
    band = max(1, min(tiles_y, -(-TILES // tiles_x)))
    tiles, width = band * tiles_x, panel_width(shape.filters, 4)
    weights = -(-shape.filters // width) * width * shape.channels
    image = (2 * band + 2) * (2 * tiles_x + 2) * shape.channels
    ends = [0]
    for elements in (
        max(image, 9 * weights), 16 * weights, 16 * (tiles * shape.channels + APART),
        16 * (tiles * shape.filters + APART), 4 * tiles * shape.filters,
    ):  # fmt: skip
        ends.append(ends[-1] + -(-elements // 16) * 16)
    plan = WinogradPlan(
        shape.images, shape.channels, *shape.image, shape.filters, *shape.out, *shape.padding, int(last),
        int(back), tiles_x, band, *ends[1:5],
    )  # fmt: skip
    return plan, ends[5]


@cache
def transform(matrix: Matrix) -> Callable[..., None]:
    """(source, row_step, column_step, out, out_row_step, out_column_step): out = matrix @ source @ matrix transposed.

    Each element of these small matrices is a vector of consecutive numbers.
    """
    count = len(matrix[0])

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        source, row_step, column_step, out, out_row_step, out_column_step = values
        emitter = VectorEmitter(builder, source.type.pointee)

        def place(row: ir.Value, i: int, column: ir.Value, j: int) -> ir.Value:
            return builder.add(builder.mul(row, WORD(i)), builder.mul(column, WORD(j)))

        columns = []
        for j in range(count):
            seen = [emitter.load(source, place(row_step, i, column_step, j)) for i in range(count)]
            columns.append([_combined(builder, row, seen) for row in matrix])
        for i in range(len(matrix)):
            for j, row in enumerate(matrix):
                value = _combined(builder, row, [column[i] for column in columns])
                emitter.store(value, out, place(out_row_step, i, out_column_step, j))

    def meaning(source, row_step, column_step, out, out_row_step, out_column_step):
        vector = np.arange(lanes(source))
        factors, few, results = np.array(matrix, source.dtype), np.arange(count), np.arange(len(matrix))
        seen = source[few[:, None, None] * row_step + few[:, None] * column_step + vector]
        places = results[:, None, None] * out_row_step + results[:, None] * out_column_step + vector
        out[places] = np.einsum("ik,klv,jl->ijv", factors, seen, factors)

    return vector_function(6, emit, meaning)


def _combined(builder: ir.IRBuilder, factors: tuple[float, ...], vectors: list[ir.Value]) -> ir.Value:
    """The sum of vectors times factors, of which the first that isn't 0 is positive or the only other."""
    total = None
    for factor, vector in zip(factors, vectors):
        if factor == 0:
            continue
        term = vector
        if abs(factor) != 1:
            term = builder.fmul(vector, ir.Constant(vector.type, [float(abs(factor))] * vector.type.count))
        if total is None:
            total = term if factor > 0 else builder.fneg(term)
        else:
            total = builder.fadd(total, term) if factor > 0 else builder.fsub(total, term)
    return total


see, spread_weights, add_up = transform(OF_IMAGE), transform(OF_WEIGHTS), transform(OF_RESULT)


@compiled
def transform_weights(w, taps, weights, width, plan):
    """The 16 matrices of weights, each in panels; `taps` is memory for the nine that there were."""
    size = (plan.filters + width - 1) // width * width * plan.channels
    clear(taps, 9 * size)
    for left in range(0, plan.filters, width):
        here = min(width, plan.filters - left)
        for tap in range(9):
            panel = advance(taps, tap * size + left * plan.channels)
            if plan.last and not plan.back:
                source = advance(w, (left * 9 + tap) * plan.channels)
                turn_over(source, 9 * plan.channels, panel, width, here, plan.channels)
                continue
            for c in range(plan.channels):
                target = advance(panel, c * width)
                if plan.last:
                    copy_row(advance(w, (c * 9 + 8 - tap) * plan.filters + left), target, here)
                elif plan.back:
                    take_every(advance(w, (c * plan.filters + left) * 9 + 8 - tap), 9, target, here)
                else:
                    take_every(advance(w, (left * plan.channels + c) * 9 + tap), 9 * plan.channels, target, here)
    for at in range(0, size, lanes(w)):
        spread_weights(advance(taps, at), 3 * size, size, advance(weights, at), 4 * size, size)


@compiled
def copy_band(image, padded, first, rows, plan):
    """Rows of an image with its border from `first` on, channels last."""
    pitch = (2 * plan.tiles_x + 2) * plan.channels
    clear(padded, rows * pitch)
    for row in range(rows):
        y, target = first + row - plan.padding_y, advance(padded, row * pitch + plan.padding_x * plan.channels)
        if 0 <= y < plan.height and plan.last:
            copy_row(advance(image, y * plan.width * plan.channels), target, plan.width * plan.channels)
        elif 0 <= y < plan.height:
            area = plan.height * plan.width
            turn_over(advance(image, y * plan.width), area, target, plan.channels, plan.channels, plan.width)


@compiled
def store_band(results, out, first, rows, plan):
    """Rows of the result from `first` on, from tiles that may reach beyond its end."""
    for row in range(rows):
        source, y = advance(results, row * 2 * plan.tiles_x * plan.filters), first + row
        if plan.last:
            copy_row(source, advance(out, y * plan.out_x * plan.filters), plan.out_x * plan.filters)
        else:
            area = plan.out_y * plan.out_x
            turn_over(source, plan.filters, advance(out, y * plan.out_x), area, plan.out_x, plan.filters)


@compiled
def multiply_band(padded, weights, seen, products, results, rows, width, plan):
    """The results of so many rows of tiles."""
    pitch, tiles = (2 * plan.tiles_x + 2) * plan.channels, rows * plan.tiles_x
    seen_apart, apart = tiles * plan.channels + APART, tiles * plan.filters + APART
    for tile in range(tiles):
        source = advance(padded, tile // plan.tiles_x * 2 * pitch + tile % plan.tiles_x * 2 * plan.channels)
        for c in range(0, plan.channels, lanes(padded)):
            target = advance(seen, tile * plan.channels + c)
            see(advance(source, c), pitch, plan.channels, target, 4 * seen_apart, seen_apart)
    size = (plan.filters + width - 1) // width * width * plan.channels
    for k in range(16):
        matrix = Rows(advance(seen, k * seen_apart), plan.channels, 1)
        panels = Panels(advance(weights, k * size), width, plan.channels)
        multiply_panels(tiles, plan.filters, matrix, panels, advance(products, k * apart))
    for tile in range(tiles):
        place = tile // plan.tiles_x * 4 * plan.tiles_x + tile % plan.tiles_x * 2
        for f in range(0, plan.filters, lanes(padded)):
            target, step = advance(results, place * plan.filters + f), 2 * plan.tiles_x * plan.filters
            add_up(advance(products, tile * plan.filters + f), 4 * apart, apart, target, step, plan.filters)


def winograd(lo, hi, x, w, out, scratch, numbers):
    """out for the images from lo up to hi."""
    plan = as_tuple(numbers, WINOGRAD_PLAN)
    weights, seen = advance(scratch, plan.weights_at), advance(scratch, plan.seen_at)
    products, results = advance(scratch, plan.products_at), advance(scratch, plan.results_at)
    width = lanes(x) if plan.filters <= lanes(x) else 2 * lanes(x)
    transform_weights(w, scratch, weights, width, plan)
    for n in range(lo, hi):
        image = advance(x, n * plan.height * plan.width * plan.channels)
        result = advance(out, n * plan.out_y * plan.out_x * plan.filters)
        for top in range(0, plan.out_y, 2 * plan.band):
            rows = min(plan.band, (plan.out_y - top + 1) // 2)
            copy_band(image, scratch, top, 2 * rows + 2, plan)
            multiply_band(scratch, weights, seen, products, results, rows, width, plan)
            store_band(results, result, top, min(2 * rows, plan.out_y - top), plan)


@cache
def winograd_kernel(element: str) -> Any:
    """The kernel (lo, hi, two inputs, output, scratch, numbers) for one dtype; compiled when first wanted."""
    pointer = types.CPointer(ELEMENTS[element])
    signature = types.void(types.int64, types.int64, *[pointer] * 4, types.CPointer(types.int64))
    return native_function(f"winograd_{element}", signature)(winograd)
