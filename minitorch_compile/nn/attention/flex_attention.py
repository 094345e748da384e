"""Attention in which a function of one's own changes each score, and another one says what is seen.

>>> from minitorch_compile import manual_seed, randn
>>> _ = manual_seed(0)
>>> q, k, v = randn(3, 1, 2, 6, 4)
>>> causal = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 6, 6, BLOCK_SIZE=2)
>>> out = flex_attention(q, k, v, score_mod=lambda s, b, h, q_idx, kv_idx: s - abs(q_idx - kv_idx), block_mask=causal)
>>> out.shape, bool((out[:, :, 0] == v[:, :, 0]).all())
(torch.Size([1, 2, 6, 4]), True)

It is written in tensor operations, with a score matrix. Compiled, the functions are traced into the graph with all the
rest. What only masks, or adds to the scores, is then recognised as attention (`aot/passes/attention_pattern.py`) and
computed block by block without that matrix; another score_mod becomes part of the fused loops over it. Gradients are
those of the operations. Which blocks of a BlockMask are empty changes no result, and is asked for only where nothing
else says what is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch_compile.nn.attention.block_mask import _DEFAULT_SPARSE_BLOCK_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE
from minitorch_compile.nn.attention.block_mask import BlockMask, create_block_mask
from minitorch_compile.nn.attention.score_functions import and_masks, at_all_places, create_mask, noop_mask, or_masks
from minitorch_compile.tensor import Tensor, float32, float64, ops

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

NOTHING = float("-inf")


class AuxRequest(NamedTuple):
    """What to give besides the result: the logarithms of the sums of exponentials, the largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """It, as far as it was asked for: (B, Hq, L) each."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Any] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query key^T * scale)) value, of (B, Hq, L, E), (B, Hkv, S, E) and (B, Hkv, S, Ev).

    score_mod: `(score, batch, head, q_idx, kv_idx) -> score`, for one place. block_mask: what is seen; a query that
    sees nothing gets zeros. scale: 1 / sqrt(E) unless given. enable_gqa: several heads of the query share one of the
    key and value. return_lse: also gives log(sum(exp(scores))), (B, Hq, L). kernel_options: not needed here.
    NotImplementedError or ValueError for sizes and dtypes that don't fit.
    """
    if return_lse and return_aux is not None:
        raise ValueError("return_lse and return_aux cannot both be specified. Use return_aux instead")
    _check(query, key, value, block_mask, enable_gqa)
    element = float64 if query.dtype is float64 else float32
    heads = query.shape[1] // key.shape[1]
    keys, values = (_for_each_head(x, heads, query.shape[0]).to(element) for x in (key, value))
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query.to(element), keys.transpose(-2, -1)) * factor
    places = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    if score_mod is not None:
        scores = at_all_places(score_mod, places, scores).to(element)
    if block_mask is not None:
        scores = ops.where(_seen(block_mask, places), scores, NOTHING)
    out = ops.matmul(_weights(scores), values).to(query.dtype)
    if return_lse:
        return out, scores.logsumexp(-1)
    if return_aux is not None:
        lse = scores.logsumexp(-1) if return_aux.lse else None
        return out, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return out


def _weights(scores: Any) -> Any:
    """softmax, in which a row of -inf becomes zeros."""
    blind = scores.amax(-1, keepdim=True) == NOTHING
    return ops.where(blind, 0.0, ops.softmax(ops.where(blind, 0.0, scores), -1))


def _seen(block_mask: BlockMask, places: tuple[int, int, int, int]) -> Any:
    """Whether each place is seen; by the blocks that are listed, if there is no function that says so."""
    if block_mask.mask_mod is not noop_mask:
        return at_all_places(block_mask.mask_mod, places)
    height, width = block_mask.BLOCK_SIZE
    blocks = block_mask.to_dense().bool().repeat_interleave(height, -2).repeat_interleave(width, -1)
    return blocks[..., : places[2], : places[3]]


def _for_each_head(shared: Any, heads: int, samples: int) -> Any:
    """A key or value for each sample and each head of the query."""
    if shared.shape[0] != samples:
        shared = shared.expand(samples, *shared.shape[1:])
    return shared if heads == 1 else shared.repeat_interleave(heads, 1)


def _check(query: Any, key: Any, value: Any, block_mask: Any, enable_gqa: bool) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype}, key.dtype:"
            f" {key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got"
            f" E={query.shape[-1]} and E={key.shape[-1]}."
        )
    heads, groups = query.shape[1], key.shape[1]
    if not enable_gqa and heads != groups:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={heads} and Hkv={groups}. Try"
            " setting enable_gqa=True for GQA."
        )
    if heads % groups:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and Hkv={groups}."
        )
    samples, others = query.shape[0], key.shape[0]
    if samples != others and (block_mask is None or others != 1):
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but got"
            f" block_mask={block_mask}, Bq={samples}, and Bkv={others}."
        )
    if block_mask is not None:
        _check_lengths(block_mask, query.shape[2], key.shape[2])


def _check_lengths(block_mask: BlockMask, queries: int, keys: int) -> None:
    of_mask = block_mask.shape
    if queries > of_mask[-2] or keys > of_mask[-1]:
        raise ValueError(
            f"block_mask was created for block_mask.shape={of_mask} but got q_len={queries} and kv_len={keys}. As the"
            " block mask was created for a smaller length than you're using it for, you likely need to create a new"
            " block mask."
        )
    if queries < of_mask[-2] or keys < of_mask[-1]:
        raise ValueError(
            f"block_mask was created for block_mask.shape={of_mask} but got q_len={queries} and kv_len={keys}. As the"
            " block mask was created for a larger length than you're using it for, you can either 1. create a new block"
            " mask with the correct length, or 2. 'adjust' the existing block mask to the correct length by calling"
            " block_mask._adjust(q_len, kv_len). This essentially 'crops' the block mask to the upper left corner,"
            " which does not work for all mask_mods!"
        )
