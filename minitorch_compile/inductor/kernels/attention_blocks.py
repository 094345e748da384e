"""What the two kernels of attention share: where a block of queries or keys lies, and work on a block of scores.

A block of scores, of some keys and some queries, lies in scratch memory, a line for each key: so neighbours in memory
belong to different queries, and a vector of maxima or sums is one of as many queries, with nothing to add up across it.
The products that make a block that way, and use it, are also those that BLAS does fastest for small matrices.

The argument `numbers` of each kernel points to its plan (`attention_plan`).

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> @njit
... def softmax(scores, tops, sums):
...     block = Block(pointer(scores), 2, 2, 3)
...     raise_tops(block, pointer(tops))
...     take_exponentials(block, pointer(tops), pointer(sums))
>>> scores, tops, sums = np.log([[1.0, 6.0], [2.0, 3.0], [1.0, 3.0]]), np.full(2, -np.inf), np.zeros(2)
>>> softmax(scores, tops, sums)                         # of two queries, over three keys
>>> scores.round(6).tolist(), sums.round(6)
([[0.5, 1.0], [1.0, 0.5], [0.5, 0.5]], array([2., 2.]))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from llvmlite import ir
from numba import njit

from minitorch_compile.inductor.kernels.scans import exponential
from minitorch_compile.inductor.kernels.tile_transpose import turn_over
from minitorch_compile.inductor.runtime.blas import Matrix
from minitorch_compile.inductor.runtime.inlined_code import kept_njit
from minitorch_compile.inductor.runtime.native import instruction, maximum, select
from minitorch_compile.inductor.runtime.raw_memory import advance
from minitorch_compile.kernel_library.attention_plan import BOOL_MASK, LANE, NO_MASK

compiled: Any = kept_njit(error_model="numpy")
part_of_kernel: Any = njit(
    error_model="numpy", inline="always"
)  # Numba puts it where it's called, and compiles it once
FAR = 800.0  # exp(-FAR) is 0, in float64, too


# ------------------------------------------------------------------------------------------ numbers in kernels


def _narrowed(builder: ir.IRBuilder, pointer: ir.Value, number: ir.Value) -> ir.Value:
    element = pointer.type.pointee
    return number if element == number.type else builder.fptrunc(number, element)


@instruction(lambda pointer, number: pointer.dtype, _narrowed)
def as_element(pointer, number):
    """A float64 in the dtype of what a pointer points to."""
    return pointer.dtype.type(number)


# ------------------------------------------------------------------------------------------ places


@compiled
def row_at(start, strides, n, h, row):
    """A row of head h of batch n."""
    return advance(start, n * strides.n + h * strides.h + row * strides.row)


@compiled
def matrix_at(start, matrices, n, h, row):
    """The matrix of head h of batch n, from a row on."""
    begin = advance(start, n * matrices.n + h * matrices.h)
    by_columns = matrices.by_columns != 0
    return Matrix(advance(begin, row if by_columns else row * matrices.step), matrices.step, by_columns)


# ------------------------------------------------------------------------------------------ blocks


class Block(NamedTuple):
    """A block of scores: from `start` on a line of `lanes` for each of the `columns` keys, of which `rows` are used."""

    start: Any
    lanes: int
    rows: int
    columns: int


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
def raise_tops(block, tops):
    """tops[i] becomes the largest score of query i so far; NaN if one is."""
    for j in range(block.columns):
        line = advance(block.start, j * block.lanes)
        for i in range(block.lanes):
            tops[i] = maximum(tops[i], line[i])


@compiled
def take_exponentials(block, tops, sums):
    """Replaces scores by exp(score - top), and adds them to the sums."""
    for j in range(block.columns):
        line = advance(block.start, j * block.lanes)
        for i in range(block.lanes):
            weight = exponential(line[i] - tops[i])
            line[i] = weight
            sums[i] += weight


# ------------------------------------------------------------------------------------------ masks


@compiled
def mask_scores(block, shown, strides, shape, behind):
    """A block of scores under its mask and what is later hidden; `behind`: how far key 0 lies behind query 0."""
    if shape.mask != NO_MASK:
        put_mask(block, shown, strides.row, strides.element, shape.mask, as_element(block.start, shape.fill))
    if shape.is_causal != 0:
        hide_later(block, behind, as_element(block.start, -math.inf))


@compiled
def put_mask(block, mask, row_step, step, kind, fill):
    for j in range(block.columns):
        line, shown = advance(block.start, j * block.lanes), advance(mask, j * step)
        if kind == BOOL_MASK:
            for i in range(block.rows):
                line[i] = select(shown[i * row_step] != 0, line[i], fill)
        elif row_step == 0:
            for i in range(block.rows):
                line[i] += shown[0]
        else:
            for i in range(block.rows):
                line[i] += shown[i * row_step]


@compiled
def hide_later(block, behind, number):
    """Puts a number where key j comes later than query i."""
    for j in range(max(0, 1 - behind), block.columns):
        fill_with(advance(block.start, j * block.lanes), 0, min(block.rows, j + behind), number)


@compiled
def shows_something(mask, strides, rows, columns):
    """Whether a block of a bool mask has a True."""
    for i in range(rows):
        line = advance(mask, i * strides.row)
        for j in range(columns):
            if line[j * strides.element] != 0:
                return True
    return False
