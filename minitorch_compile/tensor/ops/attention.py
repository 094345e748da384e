"""Attention: each query takes a weighted average of the values, by how well it agrees with their keys.

>>> from minitorch_compile.tensor import tensor
>>> keys = tensor([[1.0, 0.0], [0.0, 1.0]])
>>> scaled_dot_product_attention(keys * 10, keys, tensor([[1.0], [2.0]]))
tensor([[1.0008],
        [1.9992]])
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.dispatch import contexts, stacks
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.dispatch.torch_dispatch import is_asked
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import bool_, float32
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.copies import contiguous, to
from minitorch_compile.tensor.ops.creation import ones
from minitorch_compile.tensor.ops.dropout import dropout
from minitorch_compile.tensor.ops.flash_attention import NOTHING, fit, flash_attention
from minitorch_compile.tensor.ops.pointwise import where
from minitorch_compile.tensor.ops.reduction import amax, softmax
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.triangles import tril
from minitorch_compile.tensor.ops.view import expand, permute, transpose, unsqueeze


@composite(torch=False, functional=True)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query key^T * scale) value over the last two dimensions, (..., L, E); scale is 1 / sqrt(E) unless given.

    `attn_mask`: bool (True takes part) or added to the scores; a query that may see nothing gets zeros. `is_causal`:
    each place sees itself and the ones before it. `dropout_p`: with what probability a weight is left out.
    `enable_gqa`: several heads (dimension -3) of the query share one of the key and value. RuntimeError for other
    dtypes, and for a mask together with is_causal.

    >>> query, key, value = torch.ones(2, 8, 5, 4), torch.ones(2, 8, 6, 4), torch.ones(2, 8, 6, 3)
    >>> torch.nn.functional.scaled_dot_product_attention(query, key, value).shape
    torch.Size([2, 8, 5, 3])
    """
    _check(query, key, value, attn_mask, is_causal)
    factor = 1 / math.sqrt(query.sizes[-1] or 1) if scale is None else scale
    if not dropout_p and _is_fused(query, key, value, attn_mask, is_causal, factor, enable_gqa):
        how = _of_four(attn_mask), is_causal, factor, NOTHING, attn_mask is not None
        return _laid_out_as(query, flash_attention(query, key, value, *how)[0])
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
    scores = matmul(query * factor, transpose(key, -2, -1))
    if is_causal:
        visible = tril(ones(query.sizes[-2], key.sizes[-2], dtype=bool_))
        weights = softmax(where(visible, scores, float("-inf")), -1)
    elif attn_mask is None:
        weights = softmax(scores, -1)
    else:
        weights = _masked_softmax(scores, attn_mask)
    out = matmul(dropout(weights, dropout_p, True) if dropout_p else weights, value)
    return _laid_out_as(query, out) if _keeps_layout(query, key, value, attn_mask, dropout_p) else out


def _is_fused(query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float, shares_heads: bool) -> bool:
    """Whether the device that all three lie on, or will when the program runs that is traced, computes this without a
    score matrix."""
    if query.device is CPU:
        return _is_one_call(query, key, value, mask, shares_heads)
    if query.device.type not in accelerators or stacks.transforms:
        return False
    if len(query.sizes) != 4 or any(x.device != query.device for x in (key, value)):
        return False
    if not shares_heads and query.sizes[:-2] != key.sizes[:-2]:
        return False
    if mask is not None and (mask.dtype is not bool_ or not 2 <= len(mask.sizes) <= 4):
        return False
    return accelerators[query.device.type].attends((query, key, value), is_causal, scale, _of_four(mask))


def _is_one_call(query: Any, key: Any, value: Any, mask: Any, shares_heads: bool) -> bool:
    """Whether this is run at once, in main memory, with heads of float32 numbers: then one operation takes less time
    and memory, and leaves one node for the way back. Who traces or transforms a program sees what it is written in."""
    if contexts or is_asked((query, key, value), {}) or mask is not None or query.dtype is not float32:
        return False
    if any(len(x.sizes) != 4 or 0 in x.sizes or x.is_fake or x.device is not CPU for x in (query, key, value)):
        return False
    return fit(query.sizes, key.sizes, value.sizes) and (shares_heads or query.sizes[1] == key.sizes[1])


def _of_four(mask: Any) -> Any:
    """A mask with all dimensions of the scores."""
    while mask is not None and len(mask.sizes) < 4:
        mask = unsqueeze(mask, 0)
    return mask


def _keeps_layout(query: Any, key: Any, value: Any, mask: Any, dropout_p: float) -> bool:
    """Whether PyTorch's fast kernel takes these: its result lies in memory as the query does, which programs rely on
    when they view (N, heads, L, E) as (N, L, heads * E)."""
    alike = all(len(x.sizes) == 4 and x.strides[3] == 1 and x.sizes[0] == query.sizes[0] for x in (query, key, value))
    trains_mask = mask is not None and mask.requires_grad
    return alike and query.sizes[3] == value.sizes[3] and not dropout_p and not trains_mask


def _laid_out_as(like: Any, out: Any) -> Any:
    """`out` with its dimensions in the order in memory of those of `like`, which has its sizes."""
    if like.strides == contiguous_strides(like.sizes):  # nearly always
        return out
    strides = elementwise_strides(like.sizes, [(like.sizes, like.strides)])
    order = sorted(range(4), key=lambda d: -strides[d])
    if order == [0, 1, 2, 3]:
        return out
    return permute(contiguous(permute(out, order)), [order.index(d) for d in range(4)])


def _masked_softmax(scores: Any, mask: Any) -> Any:
    """softmax of what the mask leaves; zeros, not NaN, in a row where it leaves nothing."""
    scores = where(mask, scores, float("-inf")) if mask.dtype is bool_ else scores + to(mask, scores.dtype)
    nothing = amax(scores, -1, True) == float("-inf")
    return where(nothing, 0.0, softmax(where(nothing, 0.0, scores), -1))


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    name = "scaled_dot_product_attention"
    if not (query.dtype is key.dtype is value.dtype):
        raise RuntimeError(
            f"{name}: Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype}"
            f" key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if min(len(x.sizes) for x in (query, key, value)) < 2:
        raise RuntimeError(f"{name}: Expected query, key, and value to all be at least 2 dimensional")
    if mask is None:
        return
    if is_causal:
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if mask.dtype not in (bool_, float32, query.dtype):
        raise RuntimeError(
            f"{name}: Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype:"
            f" {mask.dtype} and query.dtype: {query.dtype} instead."
        )


def _shared_heads(query: Any, shared: Any) -> Any:
    """Each head of a key or value repeated for the heads of the query that share it. RuntimeError if it doesn't come
    out even."""
    heads, groups = query.sizes[-3], shared.sizes[-3]
    if heads == groups:
        return shared
    if heads % groups:
        raise RuntimeError(
            "scaled_dot_product_attention: Number of heads in key and value must divide the number of heads in query,"
            f" got {groups} and {heads}"
        )
    *batch, _, length, width = shared.sizes
    repeated = expand(unsqueeze(shared, -3), (*batch, groups, heads // groups, length, width))
    return reshape(repeated, (*batch, heads, length, width))
