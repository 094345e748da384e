"""Attention with several heads: the inputs are projected, each head attends by itself, the results are projected back.

>>> from minitorch_compile import manual_seed, ones, randn
>>> x, in_weight, out_weight = ones(3, 1, 4), randn(12, 4), randn(4, 4)
>>> out, weights = multi_head_attention_forward(
...     x, x, x, 4, 2, in_weight, None, None, None, False, 0.0, out_weight, None
... )
>>> out.shape, weights.shape, weights[0, 0]
(torch.Size([3, 1, 4]), torch.Size([1, 3, 3]), tensor([0.3333, 0.3333, 0.3333]))

Shapes: L places to look from, S to look at, N samples, E numbers each; (L, N, E) in and out.
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import bool_


@functional()
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Any:
    """(output, weights): attention of `num_heads` heads over query (L, N, E) or (L, E), key and value (S, N, ...).

    `weights` are None unless `need_weights`: (N, L, S) averaged over the heads, or (N, heads, L, S). Masks are bool
    (True is not looked at) or floats to add: `key_padding_mask` (N, S), `attn_mask` (L, S) or (N * heads, L, S).
    `is_causal` says that attn_mask hides what comes later. AssertionError for sizes that don't fit.
    """
    batched = _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    _check_widths(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if not batched:
        query, key, value, key_padding_mask = _as_one_sample(query, key, value, key_padding_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected(query, key, value, in_proj_weight if separate is None else separate, in_proj_bias)
    may_be_causal = is_causal and key_padding_mask is None and not need_weights
    attn_mask = None if may_be_causal else _attention_mask(attn_mask, query, key, num_heads)
    padding = canonical_mask(key_padding_mask, "key_padding_mask", query.dtype)
    if bias_k is not None and bias_v is not None:
        k, v = (ops.cat([x, ops.repeat(bias, (1, x.sizes[1], 1))]) for x, bias in ((k, bias_k), (v, bias_v)))
        attn_mask, padding = _one_more(attn_mask), _one_more(padding)
    q, k, v = (_heads(x, num_heads) for x in (q, k, v))
    k, v = (old if new is None else _as_heads(new, old) for old, new in ((k, static_k), (v, static_v)))
    if add_zero_attn:
        k, v = _with_zero(k), _with_zero(v)
        attn_mask, padding = _one_more(attn_mask), _one_more(padding)
    mask, dropped = _merged(attn_mask, padding, q, k), dropout_p if training else 0.0
    if not need_weights:
        attended, weights = ops.scaled_dot_product_attention(q, k, v, mask, dropped, may_be_causal), None
    else:
        attended, weights = _attend_with_weights(q, k, v, mask, dropped)
    out = _joined(attended, out_proj_weight, out_proj_bias)
    return _returned(out, weights, batched, average_attn_weights)


def _returned(out: Any, weights: Any, batched: bool, averaged: bool) -> tuple[Any, Any]:
    """What the caller gets: without a dimension of samples if there was none."""
    if weights is not None and averaged:
        weights = ops.mean(weights, 1)
    if batched:
        return out, weights
    return ops.squeeze(out, 1), None if weights is None else ops.squeeze(weights, 0)


def _as_one_sample(query: Any, key: Any, value: Any, padding: Any) -> tuple[Any, Any, Any, Any]:
    """(L, E) as (L, 1, E), and the mask of its keys; tensors that were the same stay so."""
    same_key, same_value = key is query, value is key
    query = ops.unsqueeze(query, 1)
    key = query if same_key else ops.unsqueeze(key, 1)
    value = key if same_value else ops.unsqueeze(value, 1)
    return query, key, value, None if padding is None else ops.unsqueeze(padding, 0)


# ---------------------------------------------------------------------------------------------------- projections


def _projected(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Query, key and value by three weights, or the thirds of one; with one product where they are the same tensor."""
    if isinstance(weight, tuple):
        return _separately_projected(query, key, value, weight, bias)
    width = query.sizes[-1]
    if key is value and query is key:
        together = ops.linear(query, weight, bias)
        q, k, v = ops.chunk(together, 3, -1)
        return q, k, v
    if key is value:
        q = ops.linear(query, weight[:width], None if bias is None else bias[:width])
        together = ops.linear(key, weight[width:], None if bias is None else bias[width:])
        k, v = ops.chunk(together, 2, -1)
        return q, k, v
    return _separately_projected(query, key, value, ops.chunk(weight, 3, 0), bias)


def _separately_projected(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> tuple[Any, Any, Any]:
    biases = (None, None, None) if bias is None else ops.chunk(bias, 3, 0)
    q, k, v = (ops.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))
    return q, k, v


def _heads(x: Any, num_heads: int) -> Any:
    """(L, N, E) -> (N, heads, L, E / heads)."""
    length, samples, width = x.sizes
    return ops.permute(ops.view(x, (length, samples, num_heads, width // num_heads)), (1, 2, 0, 3))


def _as_heads(given: Any, like: Any) -> Any:
    """A static key or value, (N * heads, S, E / heads), as (N, heads, S, E / heads)."""
    samples, heads, _, width = like.sizes
    if given.sizes[0] != samples * heads or given.sizes[2] != width:
        raise AssertionError(
            f"expecting static_k and static_v of sizes [{samples * heads}, *, {width}], but got {list(given.sizes)}"
        )
    return ops.view(given, (samples, heads, given.sizes[1], width))


def _joined(attended: Any, weight: Any, bias: Any) -> Any:
    """(N, heads, L, E / heads) -> (L, N, E), projected."""
    samples, heads, length, width = attended.sizes
    rows = ops.reshape(ops.permute(attended, (2, 0, 1, 3)), (length * samples, heads * width))
    return ops.view(ops.linear(rows, weight, bias), (length, samples, weight.sizes[0]))


def _with_zero(x: Any) -> Any:
    """One more place to look at, of zeros."""
    samples, heads, _, width = x.sizes
    return ops.cat([x, ops.zeros((samples, heads, 1, width), dtype=x.dtype)], 2)


def _attend_with_weights(q: Any, k: Any, v: Any, mask: Any, dropout_p: float) -> tuple[Any, Any]:
    """Attention that also gives its weights; a query that may see nothing gets NaN."""
    scores = ops.matmul(q * math.sqrt(1.0 / q.sizes[-1]), ops.transpose(k, -2, -1))
    weights = ops.softmax(scores if mask is None else scores + mask.to(scores.dtype), -1)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, dropout_p, True)
    return ops.matmul(weights, v), weights


# ---------------------------------------------------------------------------------------------------- masks


def canonical_mask(mask: Any, name: str, dtype: Any) -> Any:
    """A mask as floats to add to scores: -inf where a bool mask hides. AssertionError for integers."""
    if mask is None:
        return None
    if mask.dtype is bool_:
        return ops.where(mask, ops.full((), float("-inf"), dtype=dtype, device=mask.device), 0.0)
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported, got {mask.dtype}")
    return mask


def _attention_mask(mask: Any, query: Any, key: Any, num_heads: int) -> Any:
    """The mask as floats, (1 or N, 1 or heads, L, S)."""
    if mask is None:
        return None
    (length, samples), source = query.sizes[:2], key.sizes[0]
    expected = (length, source) if len(mask.sizes) == 2 else (samples * num_heads, length, source)
    if tuple(mask.sizes) != expected:
        raise RuntimeError(
            f"The shape of the {len(mask.sizes)}D attn_mask is {tuple(mask.sizes)}, but should be {expected}."
        )
    mask = canonical_mask(mask, "attn_mask", query.dtype)
    if len(mask.sizes) == 2:
        return ops.view(mask, (1, 1, length, source))
    return ops.view(mask, (samples, num_heads, length, source))


def _one_more(mask: Any) -> Any:
    """The mask with one more place to look at, which it doesn't hide."""
    if mask is None:
        return None
    return ops.cat([mask, ops.zeros((*mask.sizes[:-1], 1), dtype=mask.dtype)], -1)


def _merged(attn_mask: Any, padding: Any, q: Any, k: Any) -> Any:
    """Both masks as one that is added to the scores (N, heads, L, S); None if there is none."""
    if padding is None:
        return attn_mask
    samples, source = q.sizes[0], k.sizes[2]
    if tuple(padding.sizes) != (samples, source):
        raise AssertionError(f"expecting key_padding_mask shape of {(samples, source)}, but got {tuple(padding.sizes)}")
    padding = ops.view(padding, (samples, 1, 1, source))
    return padding if attn_mask is None else attn_mask + padding


# ---------------------------------------------------------------------------------------------------- checks


def _check_dims(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Whether the inputs are batches, (L, N, E). AssertionError for numbers of dimensions that don't fit together."""
    ndim = len(query.sizes)
    if ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    kind = "batched (3-D)" if ndim == 3 else "unbatched (2-D)"
    if len(key.sizes) != ndim or len(value.sizes) != ndim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {ndim}-D but found {len(key.sizes)}-D and"
            f" {len(value.sizes)}-D tensors respectively"
        )
    if key_padding_mask is not None and len(key_padding_mask.sizes) != ndim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {ndim - 1}-D but found"
            f" {len(key_padding_mask.sizes)}-D tensor instead"
        )
    if attn_mask is not None and len(attn_mask.sizes) not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {len(attn_mask.sizes)}-D"
            " tensor instead"
        )
    return ndim == 3


def _check_widths(query: Any, key: Any, value: Any, embed_dim: int, num_heads: int, separate: bool) -> None:
    """AssertionError unless the widths are those of the layer, and key and value belong together."""
    width = query.sizes[-1]
    if width != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {width}")
    if width % num_heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    key_sizes, value_sizes = tuple(key.sizes), tuple(value.sizes)
    if separate:
        key_sizes, value_sizes = key_sizes[:-1], value_sizes[:-1]
    if key_sizes != value_sizes:
        raise AssertionError(f"key shape {tuple(key.sizes)} does not match value shape {tuple(value.sizes)}")
