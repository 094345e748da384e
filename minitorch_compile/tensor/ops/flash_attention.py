"""Attention as one operation, and its gradient: what a compiler may compute block by block.

`scaled_dot_product_attention` is written in matmul and softmax, so its score matrix, a number for every query and key,
is a tensor like any other. Here it is not: `flash_attention` gives the result, and of the scores only two numbers for
each row, its *normalizers*: the largest score m, and log(l), where l is the sum of exp(score - m). That is enough to
make any block of the weights again,

    weights[i, j] = exp(scores[i, j] - m[i] - log(l[i])),

so the gradient needs no score matrix either. (Their sum, the logsumexp, would not do: beside the -1e9 of a mask that
hides everything, a float32 has no digit left for log(l).) The kernels below are the meaning, and do make one; those
that don't are in `inductor/kernels/attention.py`.

>>> from minitorch_compile.tensor import tensor
>>> keys = tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
>>> out, normalizers = flash_attention(keys * 10, keys, keys, None, True, 1.0, float("-inf"), False)
>>> out, normalizers                             # causal: the first query sees the first key only
(tensor([[[[1.0000e+00, 0.0000e+00],
          [4.5398e-05, 9.9995e-01]]]]), tensor([[[[1.0000e+01, 0.0000e+00],
          [1.0000e+01, 4.5418e-05]]]]))

Source: Dao, Fu, Ermon, Rudra and Re, "FlashAttention" (2022); PyTorch's _scaled_dot_product_flash_attention_for_cpu.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import bfloat16, bool_, dtype, float16, float32, float64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

NOTHING = float("-inf")


@kernel_op("contraction", torch=False)
def flash_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    is_causal: bool,
    scale: float,
    fill: float,
    zero_rows: bool,
) -> tuple[Array, Array]:
    """(softmax(scores) value, normalizers) for scores = scale * query key^T.

    query (N, H, L, E), key (N, G, S, E), value (N, G, S, Ev), with H a multiple of G: head h shares key h // (H / G).
    attn_mask, (N, H, L, S) or with ones among these: a bool one lets a score be where it is True and makes it `fill`
    elsewhere, any other is added. is_causal: query i sees key j only for j <= i.
    A row whose scores are all -inf is NaN, with normalizers -inf; with zero_rows it is 0, and they are 0 and inf, so
    that its weights are 0. Otherwise normalizers, (N, H, L, 2), are the maximum of a row and the logarithm of its sum,
    or any two numbers with that sum. Of floats of two bytes they are float32, as all between is.
    """
    element, (query, key, value) = query.dtype, _wide(query, key, value)
    scores, _ = _scores(query, key, attn_mask, is_causal, scale, fill)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top)
    sums = weights.sum(-1, keepdims=True)
    blind = top == NOTHING
    logarithms = np.where(blind, np.inf if zero_rows else NOTHING, np.log(sums))
    if zero_rows:
        weights, sums, top = np.where(blind, 0, weights), np.where(blind, 1, sums), np.where(blind, 0, top)
    out = (weights / sums).astype(query.dtype, copy=False) @ _for_each_head(value, query)
    return out.astype(element, copy=False), np.concatenate((top, logarithms), -1).astype(query.dtype, copy=False)


@kernel_op("contraction", torch=False)
def flash_attention_backward(
    grad: Array,
    query: Array,
    key: Array,
    value: Array,
    out: Array,
    normalizers: Array,
    attn_mask: Array | None,
    is_causal: bool,
    scale: float,
    fill: float,
) -> tuple[Array, Array, Array]:
    """The gradients of query, key and value, from that of `out`."""
    element, (grad, query, key, value, out) = query.dtype, _wide(grad, query, key, value, out)
    scores, hidden = _scores(query, key, attn_mask, is_causal, scale, fill)
    weights = np.exp((scores - normalizers[..., :1]) - normalizers[..., 1:])
    by_weights = grad @ _swapped(_for_each_head(value, query))
    by_scores = weights * (by_weights - (grad * out).sum(-1, keepdims=True))
    by_scores = np.where(hidden, 0, by_scores * query.dtype.type(scale)).astype(query.dtype, copy=False)
    by_query = by_scores @ _for_each_head(key, query)
    by_key = _of_shared_head(_swapped(by_scores) @ query, key)
    by_value = _of_shared_head(_swapped(weights) @ grad, value)
    return (
        by_query.astype(element, copy=False),
        by_key.astype(element, copy=False),
        by_value.astype(element, copy=False),
    )


def _wide(*arrays: Array) -> list[Array]:
    """Floats of two bytes as float32."""
    return [x.astype(np.float32) if x.dtype.itemsize == 2 else x for x in arrays]


def _scores(
    query: Array, key: Array, mask: Array | None, is_causal: bool, scale: float, fill: float
) -> tuple[Array, Array]:
    """The score matrix, and where a score is hidden: its gradient goes nowhere."""
    number = query.dtype.type
    scores = query * number(scale) @ _swapped(_for_each_head(key, query))
    hidden = np.zeros((1, 1, 1, 1), bool)
    if mask is not None and mask.dtype == bool:
        hidden = ~mask
        scores = np.where(mask, scores, number(fill))
    elif mask is not None:
        scores = scores + mask
    if is_causal:
        later = np.tri(*scores.shape[-2:]) == 0
        hidden = hidden | later
        scores = np.where(later, number(NOTHING), scores)
    return scores, hidden


def _swapped(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _for_each_head(shared: Array, query: Array) -> Array:
    times = query.shape[1] // shared.shape[1]
    return shared if times == 1 else np.repeat(shared, times, 1)


def _of_shared_head(grads: Array, shared: Array) -> Array:
    """The gradients of the heads that share one, added up."""
    n, heads, *matrix = grads.shape
    if heads == shared.shape[1]:
        return grads
    return grads.reshape(n, shared.shape[1], heads // shared.shape[1], *matrix).sum(2)


# ------------------------------------------------------------------------------------------ sizes


@flash_attention.shape_rule
def _rule(query: Any, key: Any, value: Any, attn_mask: Any, *how: Any) -> tuple[TensorBase, TensorBase]:
    _check("flash_attention", query, key, value, attn_mask)
    *rows, _ = query.sizes
    return empty_fake((*rows, value.sizes[-1]), None, query.dtype), empty_fake((*rows, 2), None, _of_sums(query))


@flash_attention_backward.shape_rule
def _backward_rule(
    grad: Any, query: Any, key: Any, value: Any, out: Any, normalizers: Any, attn_mask: Any, *how: Any
) -> tuple[TensorBase, TensorBase, TensorBase]:
    name = "flash_attention_backward"
    _check(name, query, key, value, attn_mask)
    sizes = (*query.sizes[:3], value.sizes[3])
    numbers = "normalizers", normalizers, (*sizes[:3], 2), _of_sums(query)
    parts = ("grad", grad, sizes, query.dtype), ("out", out, sizes, query.dtype), numbers
    for argument, x, expected, element in parts:
        if tuple(x.sizes) != expected or x.dtype is not element:
            raise RuntimeError(
                f"{name}: {argument} must be a {element} tensor of sizes {list(expected)}, but it is a {x.dtype}"
                f" tensor of sizes {list(x.sizes)}"
            )
    made = [empty_fake(x.sizes, None, x.dtype) for x in (query, key, value)]
    return made[0], made[1], made[2]


def _check(name: str, query: Any, key: Any, value: Any, mask: Any) -> None:
    """RuntimeError unless the tensors are as the docstring says, with no size 0 among them."""
    if not (query.dtype is key.dtype is value.dtype) or query.dtype not in (float32, float64, float16, bfloat16):
        raise RuntimeError(
            f"{name}: query, key and value must all be float32, float64, float16 or bfloat16, but they are"
            f" {query.dtype}, {key.dtype} and {value.dtype}"
        )
    sizes = [tuple(x.sizes) for x in (query, key, value)]
    if any(len(s) != 4 or numel(s) == 0 for s in sizes) or not fit(*sizes):
        raise RuntimeError(
            f"{name}: query, key and value must have sizes (N, H, L, E), (N, G, S, E) and (N, G, S, Ev), none of them 0"
            f" and H a multiple of G, but they have {', '.join(str(list(s)) for s in sizes)}"
        )
    if mask is None:
        return
    scores = (*query.sizes[:3], key.sizes[2])
    if mask.dtype not in (bool_, query.dtype) or len(mask.sizes) != 4:
        raise RuntimeError(f"{name}: attn_mask must be bool or {query.dtype} with 4 dimensions, but it is {mask.dtype}"
                           f" of sizes {list(mask.sizes)}")  # fmt: skip
    if any(size not in (1, whole) for size, whole in zip(mask.sizes, scores, strict=True)):
        raise RuntimeError(
            f"{name}: each size of attn_mask must be 1 or that of the scores, {list(scores)}, but they are"
            f" {list(mask.sizes)}"
        )


def _of_sums(query: Any) -> dtype:
    """The dtype of what is kept of rows."""
    return query.dtype if query.dtype is float64 else float32


def fit(query: Any, key: Any, value: Any) -> bool:
    """Whether tensors of these sizes, of four dimensions each, attend to each other."""
    return key[:3] == value[:3] and query[0] == key[0] and query[3] == key[3] and query[1] % key[1] == 0
