"""Squares of memory, turned over: what a kernel does that reads by rows what another wrote by columns.

A loop over a transposed array steps over a whole row from one element to the next, which no vector instruction does
well. So the kernel goes through its arrays square by square, and the elements of each square are first turned over
into a small array, eight rows at a time: eight vectors are loaded, their elements change places in three rounds of
shuffles, and eight vectors are stored.

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> @njit
... def transposed(source, target):
...     turn_over(pointer(source), 20, pointer(target), 10, 10, 20)
>>> source, target = np.arange(200.0), np.zeros(200)
>>> transposed(source, target)
>>> np.array_equal(target.reshape(20, 10), source.reshape(10, 20).T)
True
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from minitorch_compile.inductor.runtime.native import instruction
from minitorch_compile.inductor.runtime.raw_memory import advance
from minitorch_compile.tensor.cpu.native import native

BLOCK = 8  # rows and columns that are turned over in registers, on every processor: LLVM cuts them to its vectors


def _row(builder: ir.IRBuilder, start: ir.Value, step: ir.Value, number: int) -> ir.Value:
    """The address of a row of a block, as that of a vector."""
    place = builder.gep(start, [builder.mul(step, ir.Constant(step.type, number))])
    return builder.bitcast(place, ir.VectorType(start.type.pointee, BLOCK).as_pointer())


def _interleaved(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    """a0 b0 a1 b1 ..., cut in the middle."""
    half = BLOCK // 2
    masks = [[n // 2 + first + (n % 2) * BLOCK for n in range(BLOCK)] for first in (0, half)]
    low, high = (ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), mask) for mask in masks)
    return builder.shuffle_vector(a, b, low), builder.shuffle_vector(a, b, high)


def _emit_block(
    builder: ir.IRBuilder, source: ir.Value, source_step: ir.Value, target: ir.Value, target_step: ir.Value
) -> ir.Value:
    rows = [builder.load(_row(builder, source, source_step, n), align=1) for n in range(BLOCK)]
    for _ in range(3):  # each round puts rows n and n + 4 together; after log2(8) of them rows have become columns
        pairs = [_interleaved(builder, rows[n], rows[n + BLOCK // 2]) for n in range(BLOCK // 2)]
        rows = [row for pair in pairs for row in pair]
    for n, row in enumerate(rows):
        builder.store(row, _row(builder, target, target_step, n), align=1)
    return ir.Constant(ir.LiteralStructType([]), [])  # what Numba takes for nothing


@instruction(lambda *arguments: types.void, _emit_block)
def turn_over_block(source, source_step, target, target_step):
    """target[i][j] = source[j][i] for i and j below BLOCK; a step goes from one row to the next."""
    for i in range(BLOCK):
        for j in range(BLOCK):
            target[i * target_step + j] = source[j * source_step + i]


@native
def turn_over(source: Any, source_step: int, target: Any, target_step: int, rows: int, columns: int) -> None:
    """target[j][i] = source[i][j] for i below `rows` and j below `columns`."""
    whole_rows, whole_columns = rows - rows % BLOCK, columns - columns % BLOCK
    for i in range(0, whole_rows, BLOCK):
        for j in range(0, whole_columns, BLOCK):
            turn_over_block(
                advance(source, i * source_step + j), source_step, advance(target, j * target_step + i), target_step
            )
    for i in range(rows):
        for j in range(whole_columns if i < whole_rows else 0, columns):
            target[j * target_step + i] = source[i * source_step + j]
