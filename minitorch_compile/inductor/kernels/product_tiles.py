"""Matrix products whose results stay in vector registers until they are finished, any block of rows at a time.

A tile of the result is a few rows high and two vectors wide (one, if there are no more columns). For each step along
the inner dimension, a tile's width of b is loaded, and each of the rows' elements of a is spread over a vector and
multiplied with it. All sums of the tile are in registers; so an element of a is used for two vectors, a vector of b for
all rows, before the next is loaded.

b is packed first, into *panels*: as many columns each as a tile is wide, row after row, so that a tile reads one panel
from beginning to end. a is read where it lies, by rows or by columns. Once b is packed, any rows can be computed at any
time and by any thread. BLAS, which packs b anew in each call, is slow at that: a product of 512 x 512 by 512 in blocks
of 64 rows takes 1.3 times as long as in one piece. Here it takes as long either way, which is what epilogues need.

>>> import numpy as np
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> from numba import njit
>>> width = panel_width(columns=2, itemsize=8)
>>> @njit
... def product(a, b, packed, c):
...     pack_panels(0, 1, width, 0, 3, 2, pointer(b), 2, pointer(packed))
...     packed_product(0, 2, width, 2, 3, pointer(a), 3, 1, pointer(packed), pointer(c))
>>> pack_panels, packed_product = njit(pack_panels), njit(packed_product)
>>> a, b, c = np.arange(6.0).reshape(2, 3), np.ones((3, 2)), np.empty((2, 2))
>>> product(a, b, np.empty(3 * width), c); c
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
from numba import njit, types
from numba.core import cgutils

from minitorch_compile.inductor.kernels.tile_transpose import turn_over
from minitorch_compile.inductor.kernels.vector_tiles import (
    WORD,
    VectorEmitter,
    lanes,
    vector_function,
)
from minitorch_compile.inductor.machine import Machine, Number, current, machine_number, value_of
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance

WIDEST = 2  # vectors side by side in a tile
TILES_AT_ONCE = 16  # whose rows of a stay in the second-level cache while all panels pass over them


@machine_number
def product_rows(machine: Machine) -> int:
    """Rows of the highest tile, whose sums fill the registers but for what is multiplied; lower ones take the rest."""
    return 12 if machine.registers == 32 else 6


def panel_width(columns: int, itemsize: int) -> int:
    """Columns of a panel, for a matrix with so many: what one vector holds, or two."""
    held = current().vector_bytes // itemsize
    return held if columns <= held else WIDEST * held


# ------------------------------------------------------------------------------------------------ a tile


@cache
def product_tile(rows_of_tile: Number, vectors: int) -> Callable[..., None]:
    """(a, row_step, inner_step, panel, inner, out, out_step, columns): so many rows of a times one panel.

    out[r * out_step + c] = sum over k < inner of a[r * row_step + k * inner_step] * panel[k * width + c], for the
    columns c below `columns`; the panel may be wider: `vectors` vectors.
    """

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        a, row_step, inner_step, panel, inner, out, out_step, columns = values
        emitter, rows = VectorEmitter(builder, a.type.pointee), value_of(rows_of_tile)
        width = vectors * emitter.lanes
        sums = emitter.zeros(rows, vectors)
        starts = [builder.gep(a, [builder.mul(row_step, WORD(r))]) for r in range(rows)]
        with cgutils.for_range(builder, inner) as loop:
            first = builder.mul(loop.index, WORD(width))
            seen = [emitter.load(panel, builder.add(first, WORD(v * emitter.lanes))) for v in range(vectors)]
            place = builder.mul(loop.index, inner_step)
            for r in range(rows):
                factor = emitter.spread(starts[r], place)
                for v in range(vectors):
                    emitter.add_product(sums[r][v], factor, seen[v])
        whole = builder.icmp_signed(">=", columns, WORD(width))
        with builder.if_else(whole, likely=True) as (all_columns, some_columns):
            for case, store in ((all_columns, store_vector), (some_columns, store_part)):
                with case:
                    for r in range(rows):
                        for v in range(vectors):
                            start = builder.add(builder.mul(out_step, WORD(r)), WORD(v * emitter.lanes))
                            left = builder.sub(columns, WORD(v * emitter.lanes))
                            store(emitter, builder.load(sums[r][v]), emitter.at(out, start), left)

    def meaning(a, row_step, inner_step, panel, inner, out, out_step, columns):
        width = vectors * lanes(a)
        packed = panel[: inner * width].reshape(inner, width)
        for r in range(value_of(rows_of_tile)):
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


def make_multiply_rows(vectors: int) -> Callable[..., None]:
    """(a, row_step, inner_step, panel, inner, out, out_step, columns, rows): `rows` rows of a times one panel."""
    high, tile_of_8, tile_of_4, tile_of_2, tile_of_1 = (product_tile(n, vectors) for n in (product_rows, 8, 4, 2, 1))

    def multiply_rows(a, row_step, inner_step, panel, inner, out, out_step, columns, rows):
        most = product_rows()
        while rows >= most:
            high(a, row_step, inner_step, panel, inner, out, out_step, columns)
            a, out, rows = advance(a, most * row_step), advance(out, most * out_step), rows - most
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

    return njit(error_model="numpy")(multiply_rows)


multiply_narrow, multiply_wide = make_multiply_rows(1), make_multiply_rows(WIDEST)


@njit(error_model="numpy")
def multiply_panels(lo, hi, width, columns, inner, a, row_step, inner_step, packed, c):
    """The rows from lo up to hi of c = a @ b, for a packed b."""
    first, out = advance(a, lo * row_step), advance(c, lo * columns)
    if width == lanes(c):
        multiply_narrow(first, row_step, inner_step, packed, inner, out, columns, columns, hi - lo)
        return
    for left in range(0, columns, width):
        multiply_wide(
            first, row_step, inner_step, advance(packed, left * inner), inner, advance(out, left), columns,
            columns - left, hi - lo,
        )  # fmt: skip


@njit(error_model="numpy")
def pack_panel(panel, width, transposed, inner, columns, b, b_step):
    """One panel: `columns` columns of b, rows (or columns, if it is transposed) b_step apart."""
    if transposed != 0:
        turn_over(b, b_step, panel, width, columns, inner)
        return
    for k in range(inner):
        for c in range(columns):
            panel[k * width + c] = b[k * b_step + c]


# ------------------------------------------------------------------------------------------------ kernels


def pack_panels(lo, hi, width, transposed, inner, columns, b, b_step, packed):
    """The panels from lo up to hi of b, whose rows (or columns, if it is transposed) lie b_step apart."""
    for number in range(lo, hi):
        panel, left = advance(packed, number * width * inner), number * width
        here = min(width, columns - left)
        pack_panel(
            panel, width, transposed, inner, here, advance(b, left * b_step if transposed != 0 else left), b_step
        )
        for k in range(inner):  # so that tiles, which multiply whole vectors, meet no strange numbers
            for c in range(here, width):
                panel[k * width + c] = 0


def packed_product(lo, hi, width, columns, inner, a, row_step, inner_step, packed, c):
    """The rows from lo up to hi of c = a @ b; element (i, k) of a lies at i * row_step + k * inner_step."""
    at_once = TILES_AT_ONCE * product_rows()
    for top in range(lo, hi, at_once):
        bottom = min(top + at_once, hi)
        multiply_panels(top, bottom, width, columns, inner, a, row_step, inner_step, packed, c)


def batched_tiles(
    lo, hi, width, transposed, rows, columns, inner, a, a_part, row_step, inner_step, b, b_part, b_step, panels, c
):
    """Products whose matrices lie `a_part` and `b_part` elements apart; each b is packed into `panels` in its turn."""
    count = (columns + width - 1) // width
    for place in range(count * width * inner):
        panels[place] = 0
    for n in range(lo, hi):
        first, second, out = advance(a, n * a_part), advance(b, n * b_part), advance(c, n * rows * columns)
        for number in range(count):
            left = number * width
            start = advance(second, left * b_step if transposed != 0 else left)
            panel = advance(panels, left * inner)
            pack_panel(panel, width, transposed, inner, min(width, columns - left), start, b_step)
        multiply_panels(0, rows, width, columns, inner, first, row_step, inner_step, panels, out)


def native_kernel(function: Callable[..., None], element: str, *parameters: str) -> Any:
    """A kernel for one dtype; `parameters` are "number" or "pointer"."""
    kinds = {"number": types.int64, "pointer": types.CPointer(ELEMENTS[element])}
    signature = types.void(types.int64, types.int64, *(kinds[parameter] for parameter in parameters))
    return native_function(f"{function.__name__}_{element}", signature)(function)


@cache
def pack_panels_kernel(element: str) -> Any:
    """`pack_panels` for one dtype; compiled when first asked for."""
    return native_kernel(pack_panels, element, *["number"] * 4, "pointer", "number", "pointer")


@cache
def packed_product_kernel(element: str) -> Any:
    """`packed_product` for one dtype; compiled when first asked for."""
    return native_kernel(packed_product, element, *["number"] * 3, "pointer", *["number"] * 2, "pointer", "pointer")


@cache
def batched_tiles_kernel(element: str) -> Any:
    """`batched_tiles` for one dtype; compiled when first asked for."""
    a, b = ["pointer", *["number"] * 3], ["pointer", *["number"] * 2]
    return native_kernel(batched_tiles, element, *["number"] * 5, *a, *b, "pointer", "pointer")
