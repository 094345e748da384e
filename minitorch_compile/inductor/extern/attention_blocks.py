"""What the two kernels of attention share: how they are called, and work on one row of a block of scores.

A block of scores, some queries times some keys, lies in scratch memory, row by row. Loops along a row are vectorised.

The argument `numbers` of each kernel points to integers: first those of `Shape.numbers`, then the layouts of its
tensors. A matrix that BLAS reads has a flag, whether it is stored by columns, and the step between its rows or columns.

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.raw_memory import pointer
>>> @njit
... def softmax(row):
...     line, count = pointer(row), len(row)
...     total = exponentials(line, count, highest(line, count))
...     return total
>>> row = np.log(np.array([1.0, 2.0, 1.0]))
>>> round(softmax(row), 6), row.round(6)                # the sum, relative to the largest
(2.0, array([0.5, 1. , 0.5]))
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types

from minitorch_compile.inductor.ir import StridedView, matrix_layout
from minitorch_compile.inductor.native import accumulate_sum, instruction, maximum, select
from minitorch_compile.inductor.raw_memory import advance
from minitorch_compile.inductor.running import exponential

compiled: Any = njit(error_model="numpy")
NO_MASK, BOOL_MASK, ADDED_MASK = range(3)
FAR = 800.0  # exp(-FAR) is 0, in float64, too
LANE = 16  # arrays in scratch memory begin at multiples of this many elements


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


def in_scratch(*lengths: int) -> tuple[int, ...]:
    """Where arrays of these lengths begin, one after the other, and where the last one ends.

    >>> in_scratch(10, 16, 1)
    (0, 16, 32, 48)
    """
    places = [0]
    for length in lengths:
        places.append(places[-1] + -(-length // LANE) * LANE)
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
    rows, columns = min(MOST_ROWS, query[2]), min(MOST_COLUMNS, key[2])
    sizes = (*query[:2], key[1], query[2], key[2], query[3], value[3])
    return Shape(*sizes, rows, columns, kind, is_causal, zero_rows, scale, fill)


MOST_ROWS, MOST_COLUMNS = 64, 128  # a block of scores: 32 kB of float32, the size of a first-level cache

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


# ------------------------------------------------------------------------------------------ one row


@compiled
def highest(row, count):
    """The largest of `count` scores; NaN if one is."""
    best = row[0]
    for j in range(1, count):
        best = maximum(best, row[j])
    return best


@compiled
def exponentials(row, count, top):
    """Replaces scores by exp(score - top), and gives their sum."""
    total = as_element(row, 0.0)
    for j in range(count):
        weight = exponential(row[j] - top)
        row[j] = weight
        total = accumulate_sum(total, weight)
    return total


@compiled
def fill_with(row, start, end, number):
    for j in range(start, end):
        row[j] = number


@compiled
def multiply_by(row, count, factor):
    for j in range(count):
        row[j] *= factor


@compiled
def copy_rows(source, row_step, step, target, rows, width, factor):
    """target[i, j] = factor * source[i * row_step + j * step], side by side."""
    for i in range(rows):
        start, line = advance(source, i * row_step), advance(target, i * width)
        if step == 1:
            for j in range(width):
                line[j] = start[j] * factor
        else:
            for j in range(width):
                line[j] = start[j * step] * factor


@compiled
def put_mask(row, mask, step, count, kind, fill):
    """A row of scores under its mask."""
    if kind == BOOL_MASK and step == 1:
        for j in range(count):
            row[j] = select(mask[j] != 0, row[j], fill)
    elif kind == BOOL_MASK:
        for j in range(count):
            row[j] = select(mask[j * step] != 0, row[j], fill)
    elif step == 1:
        for j in range(count):
            row[j] += mask[j]
    else:
        for j in range(count):
            row[j] += mask[j * step]


@compiled
def shows_something(mask, row_step, step, rows, columns):
    """Whether a block of a bool mask has a True."""
    for i in range(rows):
        line = advance(mask, i * row_step)
        for j in range(columns):
            if line[j * step] != 0:
                return True
    return False


@compiled
def visible(is_causal, query, start, columns):
    """How many of the keys from `start` on a query sees."""
    return max(0, min(columns, query + 1 - start)) if is_causal else columns
