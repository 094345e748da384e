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
    number_of,
    put_mask,
    shows_something,
    turn_rows,
)
from minitorch_compile.inductor.kernels.scans import exponential
from minitorch_compile.inductor.runtime.blas import Matrix, gemm
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.native import accumulate_sum, select
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple

NUMBERS = (0,) * 55
NOTHING = -math.inf


def plan(shape: Shape) -> tuple[tuple[int, ...], int]:
    """Where the arrays of a block lie in scratch memory, and how many elements it needs."""
    rows, lanes, width, value_width = shape.rows, aligned(shape.rows), shape.width, shape.value_width
    block = lanes * shape.columns
    of_rows = lanes * width, rows * width, lanes * value_width, rows * value_width, rows * width
    *places, end = in_scratch(*of_rows, lanes, lanes, lanes, block, block)
    return tuple(places[1:]), end


@compiled
def weights_again(scores, columns, lanes, tops, logarithms):
    for j in range(columns):
        line = advance(scores, j * lanes)
        for i in range(lanes):
            line[i] = exponential((line[i] - tops[i]) - logarithms[i])


@compiled
def through_softmax(weights, by_weights, columns, lanes, deltas):
    """Replaces the gradients of weights by those of scores."""
    for j in range(columns):
        line, by_line = advance(weights, j * lanes), advance(by_weights, j * lanes)
        for i in range(lanes):
            by_line[i] = line[i] * (by_line[i] - deltas[i])


@compiled
def hide(by_scores, lanes, rows, columns, mask, row_step, step):
    """No gradient goes to a score that was not used."""
    for j in range(columns):
        line, shown = advance(by_scores, j * lanes), advance(mask, j * step)
        for i in range(rows):
            line[i] = select(shown[i * row_step] != 0, line[i], as_element(line, 0.0))


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


def backward(
    lo, hi, grad, query, key, value, out, normalizers, mask, grad_query, grad_key, grad_value, scratch, numbers
):  # fmt: skip
    """The gradients for the groups of heads from lo up to hi, those of all batches one after the other."""
    (
        heads, groups, queries, keys, width, value_width, most_rows, most_columns, kind, is_causal, _, scale, fill,
        q_n, q_h, q_l, q_e, k_n, k_h, k_by_columns, k_step, v_n, v_h, v_by_columns, v_step, m_n, m_h, m_l, m_s,
        g_n, g_h, g_l, g_e, o_n, o_h, o_l, o_e, dq_n, dq_h, dq_l, dk_n, dk_h, dk_l, dv_n, dv_h, dv_l,
        rows_at, turned_grads_at, grads_at, by_queries_at, tops_at, logarithms_at, deltas_at, weights_at, by_scores_at,
    ) = as_tuple(numbers, NUMBERS)  # fmt: skip
    some_queries, by_queries = advance(scratch, rows_at), advance(scratch, by_queries_at)
    turned_grads, grads = advance(scratch, turned_grads_at), advance(scratch, grads_at)
    tops, logarithms = advance(scratch, tops_at), advance(scratch, logarithms_at)
    deltas = advance(scratch, deltas_at)
    weights, by_scores = advance(scratch, weights_at), advance(scratch, by_scores_at)
    factor, hidden = as_element(scratch, number_of(scale)), as_element(scratch, number_of(fill))
    one, zero, lowest = as_element(scratch, 1.0), as_element(scratch, 0.0), as_element(scratch, NOTHING)
    shared = heads // groups
    for unit in range(lo * shared, hi * shared):
        n, h = unit // heads, unit % heads
        g = h // shared
        of_keys, of_values = advance(key, n * k_n + g * k_h), advance(value, n * v_n + g * v_h)
        by_keys, by_values = advance(grad_key, n * dk_n + g * dk_h), advance(grad_value, n * dv_n + g * dv_h)
        if h % shared == 0:
            fill_rows(by_keys, keys, dk_l, width, 0.0)
            fill_rows(by_values, keys, dv_l, value_width, 0.0)
        for first in range(0, queries, most_rows):
            rows = min(most_rows, queries - first)
            lanes = lanes_of(rows)
            of_mask = advance(mask, n * m_n + h * m_h + first * m_l)
            source, upper = (
                advance(query, n * q_n + h * q_h + first * q_l),
                advance(grad, n * g_n + h * g_h + first * g_l),
            )
            copy_rows(source, q_l, q_e, some_queries, width, rows, width, factor)
            turn_rows(some_queries, rows, width, scratch, lanes)
            copy_rows(upper, g_l, g_e, grads, value_width, rows, value_width, one)
            turn_rows(grads, rows, value_width, turned_grads, lanes)
            row_products(grads, advance(out, n * o_n + h * o_h + first * o_l), o_l, o_e, rows, value_width, deltas)
            of_rows = advance(normalizers, 2 * ((n * heads + h) * queries + first))
            part_normalizers(of_rows, rows, lanes, tops, logarithms, deltas)
            fill_with(by_queries, 0, rows * width, zero)
            end = min(keys, first + rows) if is_causal != 0 else keys
            for start in range(0, end, most_columns):
                columns = min(most_columns, end - start)
                shown = advance(of_mask, start * m_s)
                if kind == BOOL_MASK and has_no_weight(tops, logarithms, rows, hidden):
                    if not shows_something(shown, m_l, m_s, rows, columns):
                        continue
                some_keys = advance(of_keys, start if k_by_columns != 0 else start * k_step)
                some_values = advance(of_values, start if v_by_columns != 0 else start * v_step)
                keys_now = Matrix(some_keys, k_step, k_by_columns != 0)
                values_now = Matrix(some_values, v_step, v_by_columns != 0)
                gemm(columns, lanes, width, keys_now, Matrix(scratch, lanes, False), 0.0, weights, lanes)
                gemm(columns, lanes, value_width, values_now, Matrix(turned_grads, lanes, False), 0.0, by_scores, lanes)
                if kind != NO_MASK:
                    put_mask(weights, lanes, rows, columns, shown, m_l, m_s, kind, hidden)
                if is_causal != 0:
                    hide_later(weights, lanes, rows, columns, start - first, lowest)
                weights_again(weights, columns, lanes, tops, logarithms)
                through_softmax(weights, by_scores, columns, lanes, deltas)
                if kind == BOOL_MASK:
                    hide(by_scores, lanes, rows, columns, shown, m_l, m_s)
                if is_causal != 0:
                    hide_later(by_scores, lanes, rows, columns, start - first, zero)
                grads_now, queries_now = Matrix(grads, value_width, False), Matrix(some_queries, width, False)
                of_weights, of_scores = Matrix(weights, lanes, False), Matrix(by_scores, lanes, False)
                gemm(columns, value_width, rows, of_weights, grads_now, 1.0, advance(by_values, start * dv_l), dv_l)
                gemm(columns, width, rows, of_scores, queries_now, 1.0, advance(by_keys, start * dk_l), dk_l)
                gemm(rows, width, columns, Matrix(by_scores, lanes, True), keys_now, 1.0, by_queries, width)
            target = advance(grad_query, n * dq_n + h * dq_h + first * dq_l)
            copy_rows(by_queries, width, 1, target, dq_l, rows, width, factor)
            if has_nan(tops, logarithms, rows):
                fill_rows(by_values, keys, dv_l, value_width, math.nan)


@cache
def attention_backward_kernel(element: str, mask: str) -> Any:
    """The kernel for these dtypes: (lo, hi, seven inputs, three outputs, scratch, numbers)."""
    pointer, mask_pointer = types.CPointer(ELEMENTS[element]), types.CPointer(ELEMENTS[mask])
    tensors = [*[pointer] * 6, mask_pointer, *[pointer] * 4]
    signature = types.void(types.int64, types.int64, *tensors, types.CPointer(types.int64))
    return native_function(f"attention_backward_{element}_{mask}", signature)(backward)
