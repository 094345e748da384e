"""Maximum pooling of images and its gradient.

`numbers` points to a `PoolingSizes`, where a plane is one channel of one image. Windows that lie wholly inside an image
are searched a vector of them at a time, if they are one or two columns apart.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils

from minitorch_compile.inductor.kernels.shifted_planes import end_inside, first_inside
from minitorch_compile.inductor.kernels.vector_tiles import WORD, VectorEmitter, lanes, vector_function
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple
from minitorch_compile.kernel_library.pooling_sizes import POOLING_SIZES

compiled: Any = njit(error_model="numpy")
LARGEST = 1 << 31  # elements of a plane whose places vectors of small integers can hold


# ------------------------------------------------------------------------------------------------ a vector of windows


@cache
def largest_of_windows(stride: int) -> Any:
    """(start, rows, row_step, columns, column_step, count, place, values, places), for `stride` 1 or 2.

    The first of `count` windows, at most a vector, begins at `start`, which is the element number `place` of its plane.
    """

    def emit(builder: ir.IRBuilder, arguments: list[ir.Value]) -> None:
        start, rows, row_step, columns, column_step, count, place, values, places = arguments
        emitter = VectorEmitter(builder, start.type.pointee)
        further = ir.VectorType(ir.IntType(32), emitter.lanes)
        best = cgutils.alloca_once_value(builder, ir.Constant(emitter.vector, [float("-inf")] * emitter.lanes))
        found = cgutils.alloca_once_value(builder, ir.Constant(further, [0] * emitter.lanes))
        with cgutils.for_range(builder, rows) as row, cgutils.for_range(builder, columns) as column:
            offset = builder.add(builder.mul(row.index, row_step), builder.mul(column.index, column_step))
            seen = emitter.load_first(stride, start, offset, count)
            so_far = builder.load(best)
            larger = builder.or_(builder.fcmp_ordered(">", seen, so_far), builder.fcmp_unordered("uno", seen, seen))
            here = emitter.everywhere(builder.trunc(offset, further.element))
            builder.store(builder.select(larger, seen, so_far), best)
            builder.store(builder.select(larger, here, builder.load(found)), found)
        mask = emitter.first_of(count)
        emitter.store_where(mask, builder.load(best), emitter.at(values, WORD(0)))
        words = ir.VectorType(WORD, emitter.lanes)
        steps = ir.Constant(words, [stride * lane for lane in range(emitter.lanes)])
        first = builder.add(emitter.everywhere(place), steps)
        emitter.store_where(mask, builder.add(first, builder.sext(builder.load(found), words)), places)

    def meaning(start, rows, row_step, columns, column_step, count, place, values, places):
        for i in range(count):
            best, found = float("-inf"), 0
            for offset in (r * row_step + c * column_step for r in range(rows) for c in range(columns)):
                value = start[i * stride + offset]
                if value > best or value != value:
                    best, found = value, offset
            values[i], places[i] = best, place + i * stride + found

    return vector_function(9, emit, meaning)


side_by_side, every_other = largest_of_windows(1), largest_of_windows(2)


# ------------------------------------------------------------------------------------------------ kernels


@compiled
def largest_of_window(plane, oy, ox, window):
    """The maximum of one window, and its place in the plane: -1 if the window sees nothing."""
    best, place = plane[0], -1
    for ky in range(window.kernel_y):
        y = oy * window.stride_y - window.padding_y + ky * window.dilation_y
        if y < 0 or y >= window.height:
            continue
        for kx in range(window.kernel_x):
            x = ox * window.stride_x - window.padding_x + kx * window.dilation_x
            if x < 0 or x >= window.width:
                continue
            value = plane[y * window.width + x]
            if place < 0 or value > best or value != value:
                best, place = value, y * window.width + x
    return best, place


@compiled
def search_row(plane, oy, begin, end, values, places, window):
    """The windows of row oy from `begin` up to `end`, which lie inside the image from left to right."""
    top, step = oy * window.stride_y - window.padding_y, window.dilation_y
    first = first_inside(top, step)
    rows = end_inside(top, step, window.height, window.kernel_y) - first
    row_step = step * window.width
    for ox in range(begin, end, lanes(plane)):
        place = (top + first * step) * window.width + ox * window.stride_x - window.padding_x
        start, count = advance(plane, place), min(lanes(plane), end - ox)
        found, where = advance(values, ox), advance(places, ox)
        if window.stride_x == 1:
            side_by_side(start, rows, row_step, window.kernel_x, window.dilation_x, count, place, found, where)
        else:
            every_other(start, rows, row_step, window.kernel_x, window.dilation_x, count, place, found, where)


def max_pool2d(lo, hi, x, values, places, numbers):
    """For the planes from lo up to hi, the maximum of each window and its place y * width + x.

    That is the first of equals, and the last NaN.
    """
    window = as_tuple(numbers, POOLING_SIZES)
    area, step, reach = window.height * window.width, window.stride_x, (window.kernel_x - 1) * window.dilation_x
    begin = end = window.out_x
    if step <= 2 and area < LARGEST:  # the columns from `begin` up to `end` have windows that lie inside
        begin = min(first_inside(-window.padding_x, step), window.out_x)
        end = max(begin, end_inside(reach - window.padding_x, step, window.width, window.out_x))
    for plane in range(lo, hi):
        source = advance(x, plane * area)
        for oy in range(window.out_y):
            target = (plane * window.out_y + oy) * window.out_x
            row, where = advance(values, target), advance(places, target)
            for ox in range(begin):
                row[ox], where[ox] = largest_of_window(source, oy, ox, window)
            search_row(source, oy, begin, end, row, where, window)
            for ox in range(end, window.out_x):
                row[ox], where[ox] = largest_of_window(source, oy, ox, window)


def max_pool2d_by_window(lo, hi, x, values, places, numbers):
    """The same one window after the other, for elements that aren't floats."""
    window = as_tuple(numbers, POOLING_SIZES)
    target = lo * window.out_y * window.out_x
    for plane in range(lo, hi):
        source = advance(x, plane * window.height * window.width)
        for oy in range(window.out_y):
            for ox in range(window.out_x):
                values[target], places[target] = largest_of_window(source, oy, ox, window)
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
    kernel = max_pool2d if element in ("float32", "float64") else max_pool2d_by_window
    return native_function(f"max_pool2d_{element}", signature)(kernel)


@cache
def max_pool_backward_kernel(element: str) -> Any:
    """The compiled backward kernel for one dtype; compiled when first asked for."""
    pointer, number = types.CPointer(ELEMENTS[element]), types.int64
    signature = types.void(number, number, pointer, types.CPointer(types.int64), pointer, number, number)
    return native_function(f"max_pool2d_backward_{element}", signature)(max_pool2d_backward)
