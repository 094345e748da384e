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
>>> panels = PanelPlan(width=panel_width(columns=2, itemsize=8), inner=3, columns=2, b_by_columns=0, b_step=2)
>>> @njit
... def product(a, b, packed, c):
...     pack_panel(pointer(packed), 0, pointer(b), panels)
...     multiply_panels(2, 2, Rows(pointer(a), 3, 1), Panels(pointer(packed), panels.width, 3), pointer(c))
>>> a, b, c = np.arange(6.0).reshape(2, 3), np.ones((3, 2)), np.empty((2, 2))
>>> product(a, b, np.zeros(3 * panels.width), c); c
array([[ 3.,  3.],
       [12., 12.]])

Source of the method: Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008); the shape of
the tile: Van Zee and Smith, "BLIS" (2015).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from llvmlite import ir
from numba import njit
from numba.core import cgutils

from minitorch_compile.inductor.kernels.tile_transpose import turn_over
from minitorch_compile.inductor.kernels.vector_tiles import (
    WORD,
    VectorEmitter,
    lanes,
    vector_function,
)
from minitorch_compile.inductor.machine import Machine, Number, current, machine_number, value_of
from minitorch_compile.inductor.runtime.kernel_function import planned_kernel
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple

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


class Rows(NamedTuple):
    """A factor that is read where it lies: element (i, k) is at i * step + k * inner_step from `start` on."""

    start: Any
    step: int
    inner_step: int


class Panels(NamedTuple):
    """A packed factor with `inner` rows, in panels of `width` columns."""

    start: Any
    width: int
    inner: int


def make_multiply_rows(vectors: int) -> Callable[..., None]:
    """(a, panel, inner, out, out_step, columns, rows): the first `rows` of the `Rows` a times one panel."""
    high, tile_of_8, tile_of_4, tile_of_2, tile_of_1 = (product_tile(n, vectors) for n in (product_rows, 8, 4, 2, 1))

    def multiply_rows(a, panel, inner, out, out_step, columns, rows):
        start, row_step, inner_step = a
        most = product_rows()
        while rows >= most:
            high(start, row_step, inner_step, panel, inner, out, out_step, columns)
            start, out, rows = advance(start, most * row_step), advance(out, most * out_step), rows - most
        if rows >= 8:
            tile_of_8(start, row_step, inner_step, panel, inner, out, out_step, columns)
            start, out, rows = advance(start, 8 * row_step), advance(out, 8 * out_step), rows - 8
        if rows >= 4:
            tile_of_4(start, row_step, inner_step, panel, inner, out, out_step, columns)
            start, out, rows = advance(start, 4 * row_step), advance(out, 4 * out_step), rows - 4
        if rows >= 2:
            tile_of_2(start, row_step, inner_step, panel, inner, out, out_step, columns)
            start, out, rows = advance(start, 2 * row_step), advance(out, 2 * out_step), rows - 2
        if rows >= 1:
            tile_of_1(start, row_step, inner_step, panel, inner, out, out_step, columns)

    return njit(error_model="numpy")(multiply_rows)


multiply_narrow, multiply_wide = make_multiply_rows(1), make_multiply_rows(WIDEST)


@njit(error_model="numpy")
def multiply_panels(rows, columns, a, panels, c):
    """The first `rows` of c = a @ b, which has so many columns, for a packed b."""
    packed, width, inner = panels
    if width == lanes(c):
        multiply_narrow(a, packed, inner, c, columns, columns, rows)
        return
    for left in range(0, columns, width):
        multiply_wide(a, advance(packed, left * inner), inner, advance(c, left), columns, columns - left, rows)


# ------------------------------------------------------------------------------------------------ kernels


class PanelPlan(NamedTuple):
    """How b becomes panels: rows of b (or columns, if it lies by columns) begin `b_step` elements apart."""

    width: int = 0
    inner: int = 0
    columns: int = 0
    b_by_columns: int = 0
    b_step: int = 0


class PackedProductPlan(NamedTuple):
    """A product with panels of `width` columns; element (i, k) of a lies at i * a_step + k * a_inner_step."""

    width: int = 0
    columns: int = 0
    inner: int = 0
    a_step: int = 0
    a_inner_step: int = 0


class BatchedTilesPlan(NamedTuple):
    """Products of so many rows whose matrices lie `a_apart` and `b_apart` elements from one another."""

    panels: PanelPlan = PanelPlan()
    rows: int = 0
    a_apart: int = 0
    a_step: int = 0
    a_inner_step: int = 0
    b_apart: int = 0


PANEL_PLAN, PACKED_PRODUCT_PLAN, BATCHED_TILES_PLAN = PanelPlan(), PackedProductPlan(), BatchedTilesPlan()


@njit(error_model="numpy")
def pack_panel(panel, left, b, plan):
    """One panel: the columns of b from `left` on, as many as there are."""
    here = min(plan.width, plan.columns - left)
    start = advance(b, left * plan.b_step if plan.b_by_columns != 0 else left)
    if plan.b_by_columns != 0:
        turn_over(start, plan.b_step, panel, plan.width, here, plan.inner)
        return
    for k in range(plan.inner):
        for c in range(here):
            panel[k * plan.width + c] = start[k * plan.b_step + c]


def pack_panels(lo, hi, b, packed, numbers):
    """The panels of b from lo up to hi."""
    plan = as_tuple(numbers, PANEL_PLAN)
    for number in range(lo, hi):
        left = number * plan.width
        panel = advance(packed, left * plan.inner)
        pack_panel(panel, left, b, plan)
        for k in range(plan.inner):  # so that tiles, which multiply whole vectors, meet no strange numbers
            for c in range(min(plan.width, plan.columns - left), plan.width):
                panel[k * plan.width + c] = 0


def packed_product(lo, hi, a, packed, c, numbers):
    """The rows from lo up to hi of c = a @ b."""
    plan = as_tuple(numbers, PACKED_PRODUCT_PLAN)
    at_once, panels = TILES_AT_ONCE * product_rows(), Panels(packed, plan.width, plan.inner)
    for top in range(lo, hi, at_once):
        rows = Rows(advance(a, top * plan.a_step), plan.a_step, plan.a_inner_step)
        multiply_panels(min(at_once, hi - top), plan.columns, rows, panels, advance(c, top * plan.columns))


def batched_tiles(lo, hi, a, b, memory, c, numbers):
    """The products from lo up to hi; each b is packed into `memory` in its turn."""
    plan = as_tuple(numbers, BATCHED_TILES_PLAN)
    width, inner, columns = plan.panels.width, plan.panels.inner, plan.panels.columns
    panels = Panels(memory, width, inner)
    for place in range((columns + width - 1) // width * width * inner):
        memory[place] = 0
    for n in range(lo, hi):
        for left in range(0, columns, width):
            pack_panel(advance(memory, left * inner), left, advance(b, n * plan.b_apart), plan.panels)
        rows = Rows(advance(a, n * plan.a_apart), plan.a_step, plan.a_inner_step)
        multiply_panels(plan.rows, columns, rows, panels, advance(c, n * plan.rows * columns))


@cache
def pack_panels_kernel(element: str) -> Any:
    """The kernel (lo, hi, b, packed, numbers) for one dtype; compiled when first asked for."""
    return planned_kernel(f"pack_panels_{element}", *[ELEMENTS[element]] * 2)(pack_panels)


@cache
def packed_product_kernel(element: str) -> Any:
    """The kernel (lo, hi, a, packed, c, numbers) for one dtype; compiled when first asked for."""
    return planned_kernel(f"packed_product_{element}", *[ELEMENTS[element]] * 3)(packed_product)


@cache
def batched_tiles_kernel(element: str) -> Any:
    """The kernel (lo, hi, a, b, memory, c, numbers) for one dtype; compiled when first asked for."""
    return planned_kernel(f"batched_tiles_{element}", *[ELEMENTS[element]] * 4)(batched_tiles)
