"""What the two kernels of attention share: how they are called, and work on a block of scores.

A block of scores, of some keys and some queries, lies in scratch memory, a line for each key: so neighbours in memory
belong to different queries, and a vector of maxima or sums is one of as many queries, with nothing to add up across it.
The products that make a block that way, and use it, are also those that BLAS does fastest for small matrices.

The argument `numbers` of each kernel points to integers: first those of `Shape.numbers`, then the layouts of its
tensors. A matrix that BLAS reads has a flag, whether it is stored by columns, and the step between its rows or columns.

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> @njit
... def softmax(scores, tops, sums):
...     raise_tops(pointer(scores), 3, 2, pointer(tops))
...     take_exponentials(pointer(scores), 3, 2, pointer(tops), pointer(sums))
>>> scores, tops, sums = np.log([[1.0, 6.0], [2.0, 3.0], [1.0, 3.0]]), np.full(2, -np.inf), np.zeros(2)
>>> softmax(scores, tops, sums)                         # of two queries, over three keys
>>> scores.round(6).tolist(), sums.round(6)
([[0.5, 1.0], [1.0, 0.5], [0.5, 0.5]], array([2., 2.]))
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types

from minitorch_compile.inductor.ir.extern_call import StridedView, matrix_layout
from minitorch_compile.inductor.kernels.scans import exponential
from minitorch_compile.inductor.kernels.tile_transpose import turn_over
from minitorch_compile.inductor.runtime.inlined_code import kept_njit
from minitorch_compile.inductor.runtime.native import instruction, maximum, select
from minitorch_compile.inductor.runtime.raw_memory import advance

compiled: Any = kept_njit(error_model="numpy")
NO_MASK, BOOL_MASK, ADDED_MASK = range(3)
FAR = 800.0  # exp(-FAR) is 0, in float64, too
LANE = 16  # arrays in scratch memory begin at multiples of this many elements: what the widest vector holds


# ------------------------------------------------------------------------------------------ numbers of one call


class Shape(NamedTuple):
    """One call: `batches` times `heads` matrices of queries, of which heads / groups share keys and values.

    `rows` and `columns` are the sizes of a block of scores.
    """

    batches: int
    heads: int
    groups: int
    queries: int
    keys: int
    width: int
    value_width: int
    rows: int
    columns: int
    mask: int
    is_causal: bool
    zero_rows: bool
    scale: float
    fill: float

    @property
    def numbers(self) -> tuple[int, ...]:
        return (*map(int, self[1:12]), bits_of(self.scale), bits_of(self.fill))

    @property
    def scores(self) -> int:
        """How many are computed; half of them, if causal."""
        whole = self.batches * self.heads * self.queries * self.keys
        return whole // 2 if self.is_causal and self.queries > self.rows else whole

    @property
    def query_blocks(self) -> int:
        return -(-self.queries // self.rows)


def bits_of(number: float) -> int:
    """A float64 as the integer with the same bits, for a list of integers."""
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def aligned(elements: int) -> int:
    return -(-elements // LANE) * LANE


def in_scratch(*lengths: int) -> tuple[int, ...]:
    """Where arrays of these lengths begin, one after the other, and where the last one ends.

    >>> in_scratch(10, 16, 1)
    (0, 16, 32, 48)
    """
    places = [0]
    for length in lengths:
        places.append(places[-1] + aligned(length))
    return tuple(places)


def matrices(view: StridedView) -> tuple[int, ...]:
    """How (N, H, rows, columns) lies: the steps of n and h, whether by columns, and the step of a row or column."""
    layout = matrix_layout(view)
    assert layout is not None, "lowering makes matrices that BLAS can read"
    return view.strides[0], view.strides[1], int(layout[0]), layout[1]


def broadcast_steps(view: StridedView) -> tuple[int, ...]:
    """The strides of a mask: 0 where one entry stands for all."""
    return tuple(0 if size == 1 else stride for size, stride in zip(view.sizes, view.strides))


def shape_of(query: Sequence[int], key: Sequence[int], value: Sequence[int], mask: Any, how: Sequence[Any]) -> Shape:
    """The shape of a call with tensors of these sizes; how: (is_causal, scale, fill, zero_rows)."""
    is_causal, scale, fill, zero_rows = how
    kind = NO_MASK if mask is None else BOOL_MASK if mask.dtype.name == "bool" else ADDED_MASK
    rows, columns = block_sizes(query[2], key[2], max(query[3], value[3]))
    (batches, heads, queries, width), (_, groups, keys, _) = query, key
    return Shape(
        batches, heads, groups, queries, keys, width, value[3], rows, columns, kind, is_causal, zero_rows, scale, fill
    )


MOST_ROWS, MOST_COLUMNS = 64, 128  # a block of scores: 32 kB of float32, the size of a first-level cache
SMALL_PRODUCT = 1_000_000  # multiplications; for larger ones OpenBLAS copies both factors first


def block_sizes(queries: int, keys: int, width: int) -> tuple[int, int]:
    """How many queries and keys make a block of scores.

    >>> block_sizes(512, 512, 64), block_sizes(512, 512, 256), block_sizes(5, 7, 64)
    ((64, 128), (64, 48), (5, 7))
    """
    columns = SMALL_PRODUCT // (MOST_ROWS * width) // LANE * LANE
    return min(MOST_ROWS, queries), min(max(LANE, min(MOST_COLUMNS, columns)), keys)


# ------------------------------------------------------------------------------------------ numbers in kernels


@instruction(lambda bits: types.float64, lambda builder, bits: builder.bitcast(bits, ir.DoubleType()))
def number_of(bits):
    """The float64 with these bits."""
    return np.int64(bits).view(np.float64)


def _narrowed(builder: ir.IRBuilder, pointer: ir.Value, number: ir.Value) -> ir.Value:
    element = pointer.type.pointee
    return number if element == number.type else builder.fptrunc(number, element)


@instruction(lambda pointer, number: pointer.dtype, _narrowed)
def as_element(pointer, number):
    """A float64 in the dtype of what a pointer points to."""
    return pointer.dtype.type(number)


# ------------------------------------------------------------------------------------------ blocks


@compiled
def lanes_of(rows):
    """How long the lines of a block are: some queries, rounded up to what vectors hold."""
    return (rows + LANE - 1) // LANE * LANE


@compiled
def fill_with(line, start, end, number):
    for i in range(start, end):
        line[i] = number


@compiled
def multiply_by(line, count, factor):
    for i in range(count):
        line[i] *= factor


@compiled
def copy_rows(source, row_step, step, target, target_step, rows, width, factor):
    """target[i, j] = factor * source[i, j]."""
    for i in range(rows):
        start, line = advance(source, i * row_step), advance(target, i * target_step)
        if step == 1:
            for j in range(width):
                line[j] = start[j] * factor
        else:
            for j in range(width):
                line[j] = start[j * step] * factor


@compiled
def turn_rows(source, rows, width, target, lanes):
    """target[j, i] = source[i, j], zeros where there is no row i; the rows of the source lie one after the other."""
    turn_over(source, width, target, lanes, rows, width)
    if rows < lanes:
        for j in range(width):
            fill_with(target, j * lanes + rows, j * lanes + lanes, as_element(target, 0.0))


@compiled
def raise_tops(scores, columns, lanes, tops):
    """tops[i] becomes the largest score of query i so far; NaN if one is."""
    for j in range(columns):
        line = advance(scores, j * lanes)
        for i in range(lanes):
            tops[i] = maximum(tops[i], line[i])


@compiled
def take_exponentials(scores, columns, lanes, tops, sums):
    """Replaces scores by exp(score - top), and adds them to the sums."""
    for j in range(columns):
        line = advance(scores, j * lanes)
        for i in range(lanes):
            weight = exponential(line[i] - tops[i])
            line[i] = weight
            sums[i] += weight


@compiled
def put_mask(scores, lanes, rows, columns, mask, row_step, step, kind, fill):
    """A block of scores under its mask."""
    for j in range(columns):
        line, shown = advance(scores, j * lanes), advance(mask, j * step)
        if kind == BOOL_MASK:
            for i in range(rows):
                line[i] = select(shown[i * row_step] != 0, line[i], fill)
        elif row_step == 0:
            for i in range(rows):
                line[i] += shown[0]
        else:
            for i in range(rows):
                line[i] += shown[i * row_step]


@compiled
def hide_later(block, lanes, rows, columns, behind, number):
    """Puts a number where key j comes later than query i: `behind` is how far key 0 lies behind query 0."""
    for j in range(max(0, 1 - behind), columns):
        fill_with(advance(block, j * lanes), 0, min(rows, j + behind), number)


@compiled
def shows_something(mask, row_step, step, rows, columns):
    """Whether a block of a bool mask has a True."""
    for i in range(rows):
        line = advance(mask, i * row_step)
        for j in range(columns):
            if line[j * step] != 0:
                return True
    return False
