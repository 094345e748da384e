"""`flash_attention` and its gradient, written in ops of which each has a derivative and a decomposition.

They make the score matrix: for `decompose`, where no kernel computes attention block by block, and for derivatives of
derivatives.

>>> from minitorch_compile.tensor import ops, tensor
>>> keys = tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
>>> arguments = (keys * 10, keys, keys, None, True, 1.0, NOTHING, False)
>>> bool((attention_in_ops(*arguments)[0] == ops.flash_attention(*arguments)[0]).all())
True
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import ones
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.pointwise import clamp, exp, log, logical_not, where
from minitorch_compile.tensor.ops.reduction import amax
from minitorch_compile.tensor.ops.reduction import sum as total
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.triangles import tril
from minitorch_compile.tensor.ops.view import expand, slice, transpose, unsqueeze

NOTHING = float("-inf")


def attention_in_ops(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float, fill: float,
    zero_rows: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """`flash_attention` in ops of which each has a derivative and a decomposition."""
    scores, _ = _scores(query, key, mask, is_causal, scale, fill)
    top = amax(scores, -1, True)
    blind = top == NOTHING
    exponentials = exp(scores - where(blind, 0.0, top))
    sums = total(exponentials, -1, True)
    out = matmul(exponentials / (where(blind, 1.0, sums) if zero_rows else sums), _for_each_head(value, query))
    return out, cat((where(blind, 0.0, top), where(blind, math.inf, log(sums))) if zero_rows else (top, log(sums)), -1)


def gradients_in_ops(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    normalizers: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    fill: float,
    by_normalizers: Tensor | None = None,
) -> tuple[Any, Any, Any, Any]:
    """The gradients of query, key, value and the scores, from those of both results."""
    scores, hidden = _scores(query, key, mask, is_causal, scale, fill)
    weights = _weights(scores, normalizers)
    by_weights = matmul(grad, transpose(_for_each_head(value, query), -1, -2))
    delta = total(by_weights * weights, -1, True)
    if by_normalizers is not None:
        delta = delta - _part(by_normalizers, 1)
    by_scores = weights * (by_weights - delta)
    if by_normalizers is not None:  # the largest score moves the maximum, and takes from the logarithm what it adds
        highest = to_copy(scores == _part(normalizers, 0), scores.dtype)
        share = highest / clamp(total(highest, -1, True), 1)  # none is, where only the sum of both numbers is kept
        by_scores = by_scores + share * (_part(by_normalizers, 0) - _part(by_normalizers, 1))
    by_scores = _used(by_scores, hidden)
    by_products = by_scores * scale
    return (
        matmul(by_products, _for_each_head(key, query)),
        _of_shared_head(matmul(transpose(by_products, -1, -2), query), key),
        _of_shared_head(matmul(transpose(weights, -1, -2), grad), value),
        by_scores,
    )


def second_gradients_in_ops(
    grads: tuple[Tensor, Tensor, Tensor],
    upper: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    normalizers: Tensor,
    mask: Tensor | None,
    is_causal: bool,
    scale: float,
    fill: float,
) -> tuple[Any, ...]:
    """The derivative of flash_attention_backward: gradients of its tensors up to normalizers, and of the scores.

    With P the weights, D = upper value^T and X the gradient of the products, it computes X key, X^T query and P^T upper
    from X = scale P (D - sum(upper out)). The rest is the product rule.
    """
    to_query, to_key, to_value = grads
    shared, keys, values = key, _for_each_head(key, query), _for_each_head(value, query)
    to_key, to_value = _for_each_head(to_key, query), _for_each_head(to_value, query)
    scores, hidden = _scores(query, key, mask, is_causal, scale, fill)
    weights = _weights(scores, normalizers)
    surplus = matmul(upper, transpose(values, -1, -2)) - total(upper * out, -1, True)
    products = _used(weights * surplus, hidden) * scale
    by_products = matmul(to_query, transpose(keys, -1, -2)) + matmul(query, transpose(to_key, -1, -2))
    by_scores = _used(by_products * scale, hidden)
    by_surplus = by_scores * weights
    by_delta = -total(by_surplus, -1, True)
    by_exponents = weights * (matmul(upper, transpose(to_value, -1, -2)) + by_scores * surplus)
    by_inner = _used(by_exponents, hidden)
    return (
        matmul(weights, to_value) + matmul(by_surplus, values) + by_delta * out,
        matmul(products, to_key) + matmul(by_inner, keys) * scale,
        _of_shared_head(
            matmul(transpose(products, -1, -2), to_query) + matmul(transpose(by_inner, -1, -2), query) * scale, shared
        ),
        _of_shared_head(matmul(transpose(by_surplus, -1, -2), upper), value),
        by_delta * upper,
        expand(-total(by_exponents, -1, True), (*normalizers.sizes,)),
        by_inner,
    )


def _used(by_scores: Any, hidden: Any | None) -> Any:
    """No gradient goes to a score that was replaced."""
    return by_scores if hidden is None else where(hidden, 0.0, by_scores)


def _scores(query: Any, key: Any, mask: Any, is_causal: bool, scale: float, fill: float) -> tuple[Any, Any | None]:
    scores = matmul(query * scale, transpose(_for_each_head(key, query), -1, -2))
    hidden = None
    if mask is not None and mask.dtype is bool_:
        hidden = logical_not(mask)
        scores = where(mask, scores, fill)
    elif mask is not None:
        scores = scores + mask
    if is_causal:
        later = logical_not(tril(ones(query.sizes[2], key.sizes[2], dtype=bool_)))
        hidden = later if hidden is None else hidden | later
        scores = where(later, NOTHING, scores)
    return scores, hidden


def _weights(scores: Any, normalizers: Any) -> Any:
    """The largest score is subtracted first: a row may be all -1e9."""
    return exp((scores - _part(normalizers, 0)) - _part(normalizers, 1))


def _part(normalizers: Any, part: int) -> Any:
    """(N, H, L, 1): the maxima, or the logarithms."""
    return slice(normalizers, -1, part, part + 1)


def _for_each_head(shared: Any, query: Any) -> Any:
    (n, groups, *matrix), heads = shared.sizes, query.sizes[1]
    if heads == groups:
        return shared
    repeated = expand(unsqueeze(shared, 2), (n, groups, heads // groups, *matrix))
    return reshape(repeated, (n, heads, *matrix))


def _of_shared_head(grads: Any, shared: Any) -> Any:
    n, heads, *matrix = grads.sizes
    groups = shared.sizes[1]
    return grads if heads == groups else total(reshape(grads, (n, groups, heads // groups, *matrix)), 2)
