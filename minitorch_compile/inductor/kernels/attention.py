"""Attention without its score matrix: softmax(scale * query key^T, masked) value, block by block.

Softmax needs the largest score of a row, and the sum of all its exponentials, before it can give the first weight. But
both can be had on the way. Let m be the largest of the scores seen so far, l the sum of exp(score - m) over them, and a
the sum of exp(score - m) * value. When further scores come, with a larger maximum m', everything so far was too large
by exp(m' - m), the same factor for all of it:

    l <- l exp(m - m') + sum of exp(score - m')
    a <- a exp(m - m') + sum of exp(score - m') * value

and at the end the result is a / l. So a block of queries goes past the keys block by block: one matrix product gives a
block of scores, which stays in cache while its exponentials are taken, and another one adds its share to the result.
Nothing as large as all scores is ever in memory. For the gradient, m and log(l) of each query are kept.

>>> def online_softmax(scores, values, block):
...     m, l, a = -np.inf, 0.0, 0.0
...     for start in range(0, len(scores), block):
...         now, seen = scores[start : start + block], values[start : start + block]
...         top = max(m, now.max())
...         weights, shrink = np.exp(now - top), np.exp(m - top)
...         m, l, a = top, l * shrink + weights.sum(), a * shrink + weights @ seen
...     return a / l, m, np.log(l)
>>> import numpy as np
>>> scores, values = np.array([1.0, 5.0, 2.0, 7.0]), np.array([10.0, 20.0, 30.0, 40.0])
>>> out, m, log_l = online_softmax(scores, values, block=2)
>>> weights = np.exp(scores) / np.exp(scores).sum()
>>> bool(np.isclose(out, weights @ values) and np.isclose(m + log_l, np.log(np.exp(scores).sum())))
True

Keys that no query of a block may see are not looked at, so a NaN among their values stays there.

Sources: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao, Fu, Ermon, Rudra and Re,
"FlashAttention: fast and memory-efficient exact attention with IO-awareness" (2022).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from numba import types

from minitorch_compile.inductor.kernels.attention_blocks import (
    BOOL_MASK,
    FAR,
    NO_MASK,
    Shape,
    aligned,
    as_element,
    compiled,
    copy_rows,
    fill_with,
    hide_later,
    in_scratch,
    lanes_of,
    multiply_by,
    number_of,
    put_mask,
    raise_tops,
    shows_something,
    take_exponentials,
    turn_rows,
)
from minitorch_compile.inductor.kernels.scans import exponential, logarithm
from minitorch_compile.inductor.runtime.blas import Matrix, gemm
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.native import select
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple

NUMBERS = (0,) * 38
NOTHING = -math.inf


def plan(shape: Shape) -> tuple[tuple[int, ...], int]:
    """Where the arrays of a block lie in scratch memory, and how many elements it needs."""
    lanes = aligned(shape.rows)
    *places, end = in_scratch(
        lanes * shape.width, shape.rows * shape.width, lanes * shape.columns, lanes, lanes, lanes, lanes
    )
    return tuple(places[1:]), end


@compiled
def shrink(out, out_step, width, rows, lanes, before, tops, sums, finite, fresh):
    """Scales what there is from the maxima before to those of now; `finite` are the maxima, 0 where they are -inf."""
    for i in range(lanes):
        finite[i] = select(tops[i] == NOTHING, as_element(tops, 0.0), tops[i])
        before[i] = exponential(before[i] - finite[i])
        sums[i] *= before[i]
    if not fresh:
        for i in range(rows):
            if before[i] != 1:
                multiply_by(advance(out, i * out_step), width, before[i])


@compiled
def is_nothing(tops, rows, fill):
    """Whether the score `fill` adds nothing to any of the rows, whose maxima so far these are."""
    far = 0
    for i in range(rows):
        far += tops[i] - fill > FAR
    return fill == NOTHING or far == rows


@compiled
def finish(out, normalizers, tops, sums, rows, width, out_step, zero_rows):
    """Divides by the sums, and keeps what the gradient needs."""
    for i in range(rows):
        line = advance(out, i * out_step)
        if zero_rows != 0 and tops[i] == NOTHING:
            fill_with(line, 0, width, as_element(line, 0.0))
            normalizers[2 * i] = as_element(line, 0.0)
            normalizers[2 * i + 1] = as_element(line, math.inf)
        else:
            multiply_by(line, width, as_element(line, 1.0) / sums[i])
            normalizers[2 * i], normalizers[2 * i + 1] = tops[i], logarithm(sums[i])


def forward(lo, hi, query, key, value, mask, out, normalizers, scratch, numbers):
    """The results of the blocks of queries from lo up to hi, of all heads one after the other."""
    (
        heads, groups, queries, keys, width, value_width, most_rows, most_columns, kind, is_causal, zero_rows, scale,
        fill, q_n, q_h, q_l, q_e, k_n, k_h, k_by_columns, k_step, v_n, v_h, v_by_columns, v_step, m_n, m_h, m_l, m_s,
        o_n, o_h, o_l, rows_at, scores_at, tops_at, sums_at, before_at, finite_at,
    ) = as_tuple(numbers, NUMBERS)  # fmt: skip
    blocks = (queries + most_rows - 1) // most_rows
    scores, tops, sums = advance(scratch, scores_at), advance(scratch, tops_at), advance(scratch, sums_at)
    before, finite = advance(scratch, before_at), advance(scratch, finite_at)
    some_queries = advance(scratch, rows_at)
    factor, hidden = as_element(scratch, number_of(scale)), as_element(scratch, number_of(fill))
    zero, lowest = as_element(scratch, 0.0), as_element(scratch, NOTHING)
    for unit in range(lo, hi):
        head, first = unit // blocks, unit % blocks * most_rows
        n, h = head // heads, head % heads
        g, rows = h // (heads // groups), min(most_rows, queries - first)
        lanes = lanes_of(rows)
        result = advance(out, n * o_n + h * o_h + first * o_l)
        of_keys, of_values = advance(key, n * k_n + g * k_h), advance(value, n * v_n + g * v_h)
        of_mask = advance(mask, n * m_n + h * m_h + first * m_l)
        source = advance(query, n * q_n + h * q_h + first * q_l)
        copy_rows(source, q_l, q_e, some_queries, width, rows, width, factor)
        turn_rows(some_queries, rows, width, scratch, lanes)
        fill_with(tops, 0, lanes, lowest)
        fill_with(sums, 0, lanes, zero)
        end, fresh = min(keys, first + rows) if is_causal != 0 else keys, True
        for start in range(0, end, most_columns):
            columns = min(most_columns, end - start)
            shown = advance(of_mask, start * m_s)
            if kind == BOOL_MASK and is_nothing(tops, rows, hidden):
                if not shows_something(shown, m_l, m_s, rows, columns):
                    continue
            some_keys = advance(of_keys, start if k_by_columns != 0 else start * k_step)
            some_values = advance(of_values, start if v_by_columns != 0 else start * v_step)
            of_keys_now = Matrix(some_keys, k_step, k_by_columns != 0)
            gemm(columns, lanes, width, of_keys_now, Matrix(scratch, lanes, False), 0.0, scores, lanes)
            if kind != NO_MASK:
                put_mask(scores, lanes, rows, columns, shown, m_l, m_s, kind, hidden)
            if is_causal != 0:
                hide_later(scores, lanes, rows, columns, start - first, lowest)
            for i in range(lanes):
                before[i] = tops[i]
            raise_tops(scores, columns, lanes, tops)
            shrink(result, o_l, value_width, rows, lanes, before, tops, sums, finite, fresh)
            take_exponentials(scores, columns, lanes, finite, sums)
            of_values_now = Matrix(some_values, v_step, v_by_columns != 0)
            keep = 0.0 if fresh else 1.0
            gemm(rows, value_width, columns, Matrix(scores, lanes, True), of_values_now, keep, result, o_l)
            fresh = False
        if fresh:  # no key was seen
            for i in range(rows):
                fill_with(advance(result, i * o_l), 0, value_width, zero)
        of_rows = advance(normalizers, 2 * (head * queries + first))
        finish(result, of_rows, tops, sums, rows, value_width, o_l, zero_rows)


@cache
def attention_kernel(element: str, mask: str) -> Any:
    """The kernel (lo, hi, query, key, value, mask, out, normalizers, scratch, numbers) for these dtypes."""
    pointer, mask_pointer = types.CPointer(ELEMENTS[element]), types.CPointer(ELEMENTS[mask])
    tensors = [pointer, pointer, pointer, mask_pointer, pointer, pointer, pointer]
    signature = types.void(types.int64, types.int64, *tensors, types.CPointer(types.int64))
    return native_function(f"attention_{element}_{mask}", signature)(forward)
