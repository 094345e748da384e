"""Matrix products whose results stay in vector registers until they are finished, any block of rows at a time.

A tile of the result is a few rows high and two vectors wide. For each step along the inner dimension, two vectors of b
are loaded, and each of the rows' elements of a is spread over a vector and multiplied with both. All sums of the tile
are in registers; so an element of a is used for two vectors, a vector of b for all rows, before the next is loaded.

b is packed first, into *panels*: two vectors' width of columns each, row after row, so that a tile reads one panel from
beginning to end. a is read where it lies, by rows or by columns. Once b is packed, any rows can be computed at any time
and by any thread. BLAS, which packs b anew in each call, is slow at that: a product of 512 x 512 by 512 in blocks of 64
rows takes 1.3 times as long as in one piece. Here it takes as long either way, which is what epilogues need.

>>> import numpy as np
>>> from minitorch_compile.inductor.raw_memory import pointer
>>> from numba import njit
>>> @njit
... def product(a, b, packed, c):
...     pack_panels(0, 1, 0, 3, 2, pointer(b), 2, pointer(packed))
...     packed_product(0, 2, 2, 3, pointer(a), 3, 1, pointer(packed), pointer(c))
>>> pack_panels, packed_product = njit(pack_panels), njit(packed_product)
>>> a, b, c = np.arange(6.0).reshape(2, 3), np.ones((3, 2)), np.empty((2, 2))
>>> product(a, b, np.empty(3 * panel_width(8)), c); c
array([[ 3.,  3.],
       [12., 12.]])

Source of the method: Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008); the shape of
the tile: Van Zee and Smith, "BLIS" (2015).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from minitorch_compile.inductor.extern.vector_tiles import (
    REGISTERS,
    VECTOR_BYTES,
    WORD,
    VectorEmitter,
    lanes,
    vector_function,
)
from minitorch_compile.inductor.kernel_function import native_function
from minitorch_compile.inductor.raw_memory import ELEMENTS, advance
from minitorch_compile.inductor.tiles import turn_over
from minitorch_compile.tensor.native import native

TILE_VECTORS = 2
# Rows of the highest tile, whose sums fill the registers but for what is multiplied; lower ones take what is left.
TILE_ROWS = 12 if REGISTERS == 32 else 6


def panel_width(itemsize: int) -> int:
    """Columns of a panel."""
    return TILE_VECTORS * VECTOR_BYTES // itemsize


def panel_count(columns: int, itemsize: int) -> int:
    return -(-columns // panel_width(itemsize))


# ------------------------------------------------------------------------------------------------ a tile


@cache
def product_tile(rows: int) -> Callable[..., None]:
    """(a, row_step, inner_step, panel, inner, out, out_step, columns): so many rows of a times one panel.

    out[r * out_step + c] = sum over k < inner of a[r * row_step + k * inner_step] * panel[k * width + c], for the
    columns c below `columns`; the panel may be wider.
    """

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        a, row_step, inner_step, panel, inner, out, out_step, columns = values
        emitter = VectorEmitter(builder, a.type.pointee)
        width = TILE_VECTORS * emitter.lanes
        sums = emitter.zeros(rows, TILE_VECTORS)
        starts = [builder.gep(a, [builder.mul(row_step, WORD(r))]) for r in range(rows)]
        with cgutils.for_range(builder, inner) as loop:
            first = builder.mul(loop.index, WORD(width))
            seen = [emitter.load(panel, builder.add(first, WORD(v * emitter.lanes))) for v in range(TILE_VECTORS)]
            place = builder.mul(loop.index, inner_step)
            for r in range(rows):
                factor = emitter.spread(starts[r], place)
                for v in range(TILE_VECTORS):
                    emitter.add_product(sums[r][v], factor, seen[v])
        whole = builder.icmp_signed(">=", columns, WORD(width))
        with builder.if_else(whole, likely=True) as (all_columns, some_columns):
            for case, store in ((all_columns, store_vector), (some_columns, store_part)):
                with case:
                    for r in range(rows):
                        for v in range(TILE_VECTORS):
                            start = builder.add(builder.mul(out_step, WORD(r)), WORD(v * emitter.lanes))
                            left = builder.sub(columns, WORD(v * emitter.lanes))
                            store(emitter, builder.load(sums[r][v]), emitter.at(out, start), left)

    def meaning(a, row_step, inner_step, panel, inner, out, out_step, columns):
        width = panel_width(a.itemsize)
        packed = panel[: inner * width].reshape(inner, width)
        for r in range(rows):
            row = a[r * row_step : r * row_step + (inner - 1) * inner_step + 1 : inner_step]
            out[r * out_step : r * out_step + min(width, columns)] = (row @ packed)[:columns]

    return vector_function(8, emit, meaning)


def store_vector(emitter: VectorEmitter, value: ir.Value, place: ir.Value, left: ir.Value) -> None:
    emitter.builder.store(value, place, align=emitter.bytes)


def store_part(emitter: VectorEmitter, value: ir.Value, place: ir.Value, left: ir.Value) -> None:
    """Stores only the first `left` elements of a vector, by a masked store."""
    builder, count = emitter.builder, emitter.lanes
    numbers = ir.VectorType(ir.IntType(64), count)
    undefined = ir.Constant(numbers, ir.Undefined)
    first = builder.insert_element(undefined, left, ir.IntType(32)(0))
    limit = builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count))
    mask = builder.icmp_signed("<", ir.Constant(numbers, list(range(count))), limit)
    bits = ir.IntType(32)
    signature = ir.FunctionType(ir.VoidType(), [value.type, place.type, bits, mask.type])
    name = f"llvm.masked.store.v{count}f{8 * emitter.bytes}.p0"
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    builder.call(function, [value, place, bits(emitter.bytes), mask])


high_tile, tile_of_8, tile_of_4 = product_tile(TILE_ROWS), product_tile(8), product_tile(4)
tile_of_2, tile_of_1 = product_tile(2), product_tile(1)


@native
def multiply_rows(a, row_step, inner_step, panel, inner, out, out_step, columns, rows):
    """`rows` rows of a times one panel, tile below tile."""
    while rows >= TILE_ROWS:
        high_tile(a, row_step, inner_step, panel, inner, out, out_step, columns)
        a, out, rows = advance(a, TILE_ROWS * row_step), advance(out, TILE_ROWS * out_step), rows - TILE_ROWS
    if rows >= 8:
        tile_of_8(a, row_step, inner_step, panel, inner, out, out_step, columns)
        a, out, rows = advance(a, 8 * row_step), advance(out, 8 * out_step), rows - 8
    if rows >= 4:
        tile_of_4(a, row_step, inner_step, panel, inner, out, out_step, columns)
        a, out, rows = advance(a, 4 * row_step), advance(out, 4 * out_step), rows - 4
    if rows >= 2:
        tile_of_2(a, row_step, inner_step, panel, inner, out, out_step, columns)
        a, out, rows = advance(a, 2 * row_step), advance(out, 2 * out_step), rows - 2
    if rows >= 1:
        tile_of_1(a, row_step, inner_step, panel, inner, out, out_step, columns)


# ------------------------------------------------------------------------------------------------ kernels


def pack_panels(lo, hi, transposed, inner, columns, b, b_step, packed):
    """The panels from lo up to hi of b, whose rows (or columns, if it is transposed) lie b_step apart."""
    width = TILE_VECTORS * lanes(b)
    for number in range(lo, hi):
        panel, left = advance(packed, number * width * inner), number * width
        here = min(width, columns - left)
        if transposed != 0:
            turn_over(advance(b, left * b_step), b_step, panel, width, here, inner)
        else:
            for k in range(inner):
                for c in range(here):
                    panel[k * width + c] = b[k * b_step + left + c]
        if here < width:  # so that tiles, which multiply whole vectors, meet no strange numbers
            for k in range(inner):
                for c in range(here, width):
                    panel[k * width + c] = 0


def packed_product(lo, hi, columns, inner, a, row_step, inner_step, packed, c):
    """The rows from lo up to hi of c = a @ b; element (i, k) of a lies at i * row_step + k * inner_step."""
    width = TILE_VECTORS * lanes(c)
    for left in range(0, columns, width):
        multiply_rows(
            advance(a, lo * row_step), row_step, inner_step, advance(packed, left * inner), inner,
            advance(c, lo * columns + left), columns, columns - left, hi - lo,
        )  # fmt: skip


@cache
def pack_panels_kernel(element: str) -> Any:
    """`pack_panels` for one dtype; compiled when first asked for."""
    number, pointer = types.int64, types.CPointer(ELEMENTS[element])
    signature = types.void(*[number] * 5, pointer, number, pointer)
    return native_function(f"pack_panels_{element}", signature)(pack_panels)


@cache
def packed_product_kernel(element: str) -> Any:
    """`packed_product` for one dtype; compiled when first asked for."""
    number, pointer = types.int64, types.CPointer(ELEMENTS[element])
    signature = types.void(*[number] * 4, pointer, number, number, pointer, pointer)
    return native_function(f"packed_product_{element}", signature)(packed_product)
