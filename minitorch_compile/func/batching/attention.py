"""Attention of a batch: its examples are further entries of the first dimension.

>>> import minitorch_compile as torch
>>> from minitorch_compile.tensor import ops
>>> queries, keys = torch.ones(5, 1, 2, 3, 4), torch.ones(1, 2, 3, 4)
>>> attend = lambda q: ops.flash_attention(q, keys, keys, None, True, 1.0, 0.0, False)[0]
>>> torch.func.vmap(attend)(queries).shape
torch.Size([5, 1, 2, 3, 4])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.batching.images import merged, parted
from minitorch_compile.func.batching.rules import batching_rule
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op


@batching_rule("flash_attention")
def attention(batch: Batch, op: Op, query: Any, key: Any, value: Any, mask: Any, *how: Any) -> Any:
    tensors = [merged(batch.spread(x), 0) for x in (query, key, value)]
    results = op(*tensors, _mask_of_all(batch, mask, query.sizes[0]), *how)
    return tuple(parted(x, 0, batch, query.sizes[0]) for x in results)


@batching_rule("flash_attention_backward")
def attention_gradient(batch: Batch, op: Op, *arguments: Any) -> Any:
    *tensors, mask, is_causal, scale, fill = arguments
    count = tensors[1].sizes[0]
    whole = [merged(batch.spread(x), 0) for x in tensors]
    results = op(*whole, _mask_of_all(batch, mask, count), is_causal, scale, fill)
    return tuple(parted(x, 0, batch, count) for x in results)


def _mask_of_all(batch: Batch, mask: Any, count: int) -> Any:
    """The masks of all examples, one after the other; `count` is how many sets of heads an example has."""
    if mask is None:
        return None
    masks = batch.spread(mask)
    return merged(ops.expand(masks, (batch.size, count, *masks.sizes[2:])), 0)
