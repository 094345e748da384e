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
from typing import Any, NamedTuple

from minitorch_compile.inductor.kernels.attention_blocks import (
    FAR,
    Block,
    as_element,
    compiled,
    copy_rows,
    fill_with,
    lanes_of,
    mask_scores,
    matrix_at,
    multiply_by,
    raise_tops,
    row_at,
    shows_something,
    take_exponentials,
    turn_rows,
)
from minitorch_compile.inductor.kernels.scans import exponential, logarithm
from minitorch_compile.inductor.runtime.blas import Matrix, gemm
from minitorch_compile.inductor.runtime.kernel_function import planned_kernel
from minitorch_compile.inductor.runtime.native import select
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple
from minitorch_compile.kernel_library.attention_plan import BOOL_MASK, AttentionPlan, ForwardParts

PLAN = AttentionPlan()
NOTHING = -math.inf


class Memory(NamedTuple):
    """What the kernel reads and writes."""

    query: Any
    key: Any
    value: Any
    mask: Any
    out: Any
    normalizers: Any
    scratch: Any


@compiled
def shrink(out, out_step, width, rows, lanes, parts, fresh):
    """Scales what there is from the maxima before to those of now; `finite` are the maxima, 0 where they are -inf."""
    tops, before, finite = parts.tops, parts.before, parts.finite
    for i in range(lanes):
        finite[i] = select(tops[i] == NOTHING, as_element(tops, 0.0), tops[i])
        before[i] = exponential(before[i] - finite[i])
        parts.sums[i] *= before[i]
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


@compiled
def pointers_of(scratch, parts):
    """The arrays of a block of queries."""
    return ForwardParts(
        advance(scratch, parts.turned), advance(scratch, parts.queries), advance(scratch, parts.scores),
        advance(scratch, parts.tops), advance(scratch, parts.sums), advance(scratch, parts.before),
        advance(scratch, parts.finite),
    )  # fmt: skip


def forward(lo, hi, memory, numbers):
    """The results of the blocks of queries from lo up to hi, of all heads one after the other."""
    shape, query, key, value, mask, out, places = as_tuple(numbers, PLAN)
    parts, width, value_width = pointers_of(memory.scratch, places), shape.width, shape.value_width
    blocks = (shape.queries + shape.rows - 1) // shape.rows
    factor, hidden = as_element(memory.scratch, shape.scale), as_element(memory.scratch, shape.fill)
    zero, lowest = as_element(memory.scratch, 0.0), as_element(memory.scratch, NOTHING)
    for unit in range(lo, hi):
        head, first = unit // blocks, unit % blocks * shape.rows
        n, h = head // shape.heads, head % shape.heads
        g, rows = h // (shape.heads // shape.groups), min(shape.rows, shape.queries - first)
        lanes = lanes_of(rows)
        of_mask, result = row_at(memory.mask, mask, n, h, first), row_at(memory.out, out, n, h, first)
        source = row_at(memory.query, query, n, h, first)
        copy_rows(source, query.row, query.element, parts.queries, width, rows, width, factor)
        turn_rows(parts.queries, rows, width, parts.turned, lanes)
        fill_with(parts.tops, 0, lanes, lowest)
        fill_with(parts.sums, 0, lanes, zero)
        end, fresh = min(shape.keys, first + rows) if shape.is_causal != 0 else shape.keys, True
        for start in range(0, end, shape.columns):
            block = Block(parts.scores, lanes, rows, min(shape.columns, end - start))
            shown = advance(of_mask, start * mask.element)
            if shape.mask == BOOL_MASK and is_nothing(parts.tops, rows, hidden):
                if not shows_something(shown, mask, rows, block.columns):
                    continue
            keys, values = matrix_at(memory.key, key, n, g, start), matrix_at(memory.value, value, n, g, start)
            gemm(block.columns, lanes, width, keys, Matrix(parts.turned, lanes, False), 0.0, parts.scores, lanes)
            mask_scores(block, shown, mask, shape, start - first)
            for i in range(lanes):
                parts.before[i] = parts.tops[i]
            raise_tops(block, parts.tops)
            shrink(result, out.row, value_width, rows, lanes, parts, fresh)
            take_exponentials(block, parts.finite, parts.sums)
            weights, keep = Matrix(parts.scores, lanes, True), 0.0 if fresh else 1.0
            gemm(rows, value_width, block.columns, weights, values, keep, result, out.row)
            fresh = False
        if fresh:  # no key was seen
            for i in range(rows):
                fill_with(advance(result, i * out.row), 0, value_width, zero)
        of_rows = advance(memory.normalizers, 2 * (head * shape.queries + first))
        finish(result, of_rows, parts.tops, parts.sums, rows, value_width, out.row, shape.zero_rows)


@cache
def attention_kernel(element: str, mask: str) -> Any:
    """The kernel (lo, hi, query, key, value, mask, out, normalizers, scratch, numbers) for these dtypes."""
    elements = [ELEMENTS[name] for name in (*[element] * 3, mask, *[element] * 3)]
    return planned_kernel(f"attention_{element}_{mask}", *elements, record=Memory)(forward)
