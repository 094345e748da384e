"""The gradient of attention without its score matrix.

From the largest score m of each query and log(l), the logarithm of its sum, which the forward pass kept, any block of
weights can be made again:

    P = exp(scale * Q K^T - m - log(l))

Softmax's derivative needs one number more for each query, the mean of what arrives at the weights: the sum of
P * (dO V^T) over all keys, which is the sum of dO * O, since O = P V. So with delta = sum(dO * O) along each row,

    dV += P^T dO        dS = P * (dO V^T - delta)        dQ += scale * dS K        dK += scale * dS^T Q

block by block: five products, where a stored P would take four, and no matrix as large as all scores.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> Q, K, V, dO = (rng.standard_normal((3, 2)) for _ in range(4))
>>> weights = np.exp(Q @ K.T) / np.exp(Q @ K.T).sum(1, keepdims=True)
>>> by_weights = dO @ V.T
>>> through_softmax = weights * (by_weights - (by_weights * weights).sum(1, keepdims=True))
>>> delta = (dO * (weights @ V)).sum(1, keepdims=True)
>>> bool(np.allclose(through_softmax, weights * (by_weights - delta)))
True

Keys and values are shared by the heads of a group, and by all blocks of queries. So one thread takes a whole group,
and the gradients of keys and values are added up where they belong.

Source: Dao et al., "FlashAttention" (2022), appendix B.2.
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
    hide_later,
    lanes_of,
    mask_scores,
    matrix_at,
    part_of_kernel,
    row_at,
    shows_something,
    turn_rows,
)
from minitorch_compile.inductor.kernels.scans import exponential
from minitorch_compile.inductor.runtime.blas import Matrix, gemm
from minitorch_compile.inductor.runtime.kernel_function import planned_kernel
from minitorch_compile.inductor.runtime.native import accumulate_sum, select
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple
from minitorch_compile.kernel_library.attention_plan import BOOL_MASK, AttentionBackwardPlan, BackwardParts

PLAN = AttentionBackwardPlan()
NOTHING = -math.inf


class Memory(NamedTuple):
    """What the kernel reads and writes."""

    grad: Any
    query: Any
    key: Any
    value: Any
    out: Any
    normalizers: Any
    mask: Any
    grad_query: Any
    grad_key: Any
    grad_value: Any
    scratch: Any


class Queries(NamedTuple):
    """A block of queries: `rows` of head h of batch n from `first` on."""

    n: int
    h: int
    first: int
    rows: int


@compiled
def weights_again(block, tops, logarithms):
    for j in range(block.columns):
        line = advance(block.start, j * block.lanes)
        for i in range(block.lanes):
            line[i] = exponential((line[i] - tops[i]) - logarithms[i])


@compiled
def through_softmax(weights, by_weights, deltas):
    """Replaces the gradients of weights by those of scores."""
    for j in range(weights.columns):
        line, by_line = advance(weights.start, j * weights.lanes), advance(by_weights.start, j * weights.lanes)
        for i in range(weights.lanes):
            by_line[i] = line[i] * (by_line[i] - deltas[i])


@compiled
def hide(by_scores, mask, strides):
    """No gradient goes to a score that was not used."""
    for j in range(by_scores.columns):
        line, shown = advance(by_scores.start, j * by_scores.lanes), advance(mask, j * strides.element)
        for i in range(by_scores.rows):
            line[i] = select(shown[i * strides.row] != 0, line[i], as_element(line, 0.0))


@compiled
def row_products(a, b, b_step, b_place, rows, width, out):
    """out[i] = sum over j of a[i, j] * b[i, j]; a lies row by row."""
    for i in range(rows):
        left, right = advance(a, i * width), advance(b, i * b_step)
        total = as_element(a, 0.0)
        if b_place == 1:
            for j in range(width):
                total = accumulate_sum(total, left[j] * right[j])
        else:
            for j in range(width):
                total = accumulate_sum(total, left[j] * right[j * b_place])
        out[i] = total


@compiled
def part_normalizers(normalizers, rows, lanes, tops, logarithms, deltas):
    """Maxima and logarithms side by side; where there is no query, such that weights are 0."""
    for i in range(rows):
        tops[i], logarithms[i] = normalizers[2 * i], normalizers[2 * i + 1]
    for i in range(rows, lanes):
        tops[i], logarithms[i], deltas[i] = as_element(tops, 0.0), as_element(tops, math.inf), as_element(tops, 0.0)


@compiled
def has_no_weight(tops, logarithms, rows, fill):
    """Whether the score `fill` has the weight 0 in each of the rows."""
    far = 0
    for i in range(rows):
        far += (fill - tops[i]) - logarithms[i] < -FAR
    return far == rows


@compiled
def fill_rows(out, rows, step, width, number):
    for i in range(rows):
        fill_with(advance(out, i * step), 0, width, as_element(out, number))


@compiled
def has_nan(tops, logarithms, rows):
    """Whether there is a row whose weights are NaN, those of hidden keys too: it saw nothing, or a NaN."""
    finite = 0
    for i in range(rows):
        finite += tops[i] + logarithms[i] > NOTHING
    return finite < rows


@compiled
def pointers_of(scratch, parts):
    """The arrays of a block of queries."""
    return BackwardParts(
        advance(scratch, parts.turned), advance(scratch, parts.queries), advance(scratch, parts.turned_grads),
        advance(scratch, parts.grads), advance(scratch, parts.by_queries), advance(scratch, parts.tops),
        advance(scratch, parts.logarithms), advance(scratch, parts.deltas), advance(scratch, parts.weights),
        advance(scratch, parts.by_scores),
    )  # fmt: skip


@part_of_kernel
def load_queries(memory, plan, parts, at, lanes):
    """A block of queries, scaled and turned over, what arrives at their results, and three numbers for each."""
    shape, query, grad, out = plan.shape, plan.query, plan.grad, plan.out
    width, value_width = shape.width, shape.value_width
    source, upper = row_at(memory.query, query, at.n, at.h, at.first), row_at(memory.grad, grad, at.n, at.h, at.first)
    factor, one = as_element(source, shape.scale), as_element(source, 1.0)
    copy_rows(source, query.row, query.element, parts.queries, width, at.rows, width, factor)
    turn_rows(parts.queries, at.rows, width, parts.turned, lanes)
    copy_rows(upper, grad.row, grad.element, parts.grads, value_width, at.rows, value_width, one)
    turn_rows(parts.grads, at.rows, value_width, parts.turned_grads, lanes)
    result = row_at(memory.out, out, at.n, at.h, at.first)
    row_products(parts.grads, result, out.row, out.element, at.rows, value_width, parts.deltas)
    of_rows = advance(memory.normalizers, 2 * ((at.n * shape.heads + at.h) * shape.queries + at.first))
    part_normalizers(of_rows, at.rows, lanes, parts.tops, parts.logarithms, parts.deltas)
    fill_with(parts.by_queries, 0, at.rows * width, as_element(source, 0.0))


@part_of_kernel
def weigh(keys, values, shown, mask, shape, parts, block, behind):
    """The weights of a block of scores, made again, and the gradients of the scores."""
    lanes, by_scores = block.lanes, Block(parts.by_scores, block.lanes, block.rows, block.columns)
    queries, grads = Matrix(parts.turned, lanes, False), Matrix(parts.turned_grads, lanes, False)
    gemm(block.columns, lanes, shape.width, keys, queries, 0.0, parts.weights, lanes)
    gemm(block.columns, lanes, shape.value_width, values, grads, 0.0, parts.by_scores, lanes)
    mask_scores(block, shown, mask, shape, behind)
    weights_again(block, parts.tops, parts.logarithms)
    through_softmax(block, by_scores, parts.deltas)
    if shape.mask == BOOL_MASK:
        hide(by_scores, shown, mask)
    if shape.is_causal != 0:
        hide_later(by_scores, behind, as_element(parts.tops, 0.0))


def backward(lo, hi, memory, numbers):
    """The gradients for the groups of heads from lo up to hi, those of all batches one after the other."""
    plan = as_tuple(numbers, PLAN)
    shape, key, value, mask, by_query = plan.shape, plan.key, plan.value, plan.mask, plan.grad_query
    by_key, by_value, parts = plan.grad_key, plan.grad_value, pointers_of(memory.scratch, plan.parts)
    shared, width, value_width = shape.heads // shape.groups, shape.width, shape.value_width
    factor, hidden = as_element(memory.scratch, shape.scale), as_element(memory.scratch, shape.fill)
    for unit in range(lo * shared, hi * shared):
        n, h = unit // shape.heads, unit % shape.heads
        g = h // shared
        by_keys, by_values = row_at(memory.grad_key, by_key, n, g, 0), row_at(memory.grad_value, by_value, n, g, 0)
        if h % shared == 0:
            fill_rows(by_keys, shape.keys, by_key.row, width, 0.0)
            fill_rows(by_values, shape.keys, by_value.row, value_width, 0.0)
        for first in range(0, shape.queries, shape.rows):
            rows = min(shape.rows, shape.queries - first)
            lanes = lanes_of(rows)
            load_queries(memory, plan, parts, Queries(n, h, first, rows), lanes)
            of_mask = row_at(memory.mask, mask, n, h, first)
            end = min(shape.keys, first + rows) if shape.is_causal != 0 else shape.keys
            for start in range(0, end, shape.columns):
                block = Block(parts.weights, lanes, rows, min(shape.columns, end - start))
                columns, shown = block.columns, advance(of_mask, start * mask.element)
                if shape.mask == BOOL_MASK and has_no_weight(parts.tops, parts.logarithms, rows, hidden):
                    if not shows_something(shown, mask, rows, columns):
                        continue
                keys, values = matrix_at(memory.key, key, n, g, start), matrix_at(memory.value, value, n, g, start)
                weigh(keys, values, shown, mask, shape, parts, block, start - first)
                weights, by_scores = Matrix(parts.weights, lanes, False), Matrix(parts.by_scores, lanes, False)
                grads, queries = Matrix(parts.grads, value_width, False), Matrix(parts.queries, width, False)
                these_values, these_keys = (
                    advance(by_values, start * by_value.row),
                    advance(by_keys, start * by_key.row),
                )
                gemm(columns, value_width, rows, weights, grads, 1.0, these_values, by_value.row)
                gemm(columns, width, rows, by_scores, queries, 1.0, these_keys, by_key.row)
                gemm(rows, width, columns, Matrix(parts.by_scores, lanes, True), keys, 1.0, parts.by_queries, width)
            target = row_at(memory.grad_query, by_query, n, h, first)
            copy_rows(parts.by_queries, width, 1, target, by_query.row, rows, width, factor)
            if has_nan(parts.tops, parts.logarithms, rows):
                fill_rows(by_values, shape.keys, by_value.row, value_width, math.nan)


@cache
def attention_backward_kernel(element: str, mask: str) -> Any:
    """The kernel (lo, hi, seven inputs, three outputs, scratch, numbers) for these dtypes."""
    elements = [ELEMENTS[name] for name in (*[element] * 6, mask, *[element] * 4)]
    return planned_kernel(f"attention_backward_{element}_{mask}", *elements, record=Memory)(backward)
