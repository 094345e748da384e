"""Prims for attention: the one product of matrices that is worth a kernel which knows what it is for.

A decomposition writes attention in matmul and softmax. A compiler that has a kernel for it writes these instead
(`prims/decompositions/attention.py`); their meaning is that of the ops of the same names.

>>> from minitorch_compile.tensor import ones
>>> out, sums = flash_attention(ones(1, 1, 1, 2), ones(1, 1, 3, 2), ones(1, 1, 3, 2), None, False, 0.5, 0.0, True)
>>> out, sums                                         # three scores of 1: their maximum, and log(3)
(tensor([[[[1., 1.]]]]), tensor([[[[1.0000, 1.0986]]]]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.prims.prim import FLOATS, check_tensor, prim
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase


def _rule(name: str, query: Any, key: Any, value: Any, attn_mask: Any, *how: Any) -> tuple[TensorBase, ...]:
    for argument, x in (("query", query), ("key", key), ("value", value)):
        check_tensor(name, argument, x, FLOATS)
    return ops.flash_attention.meta(query, key, value, attn_mask, *how)


@prim("contraction", _rule, dtypes="floats; attn_mask may be bool", sizes="[N, H, L, Ev], [N, H, L, 2]")
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
    """(softmax(scores) value, maximum and log of the sum of each row) for scores = scale * query key^T, masked: tensors
    (N, H, L, E), (N, G, S, E), (N, G, S, Ev)."""
    return ops.flash_attention.kernel(query, key, value, attn_mask, is_causal, scale, fill, zero_rows)


def _backward_rule(name: str, grad: Any, *rest: Any) -> tuple[TensorBase, ...]:
    check_tensor(name, "grad", grad, FLOATS)
    return ops.flash_attention_backward.meta(grad, *rest)


@prim("contraction", _backward_rule, dtypes="floats; attn_mask may be bool", sizes="those of query, key, value")
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
    """The gradients of query, key and value of flash_attention, from that of its first result."""
    return ops.flash_attention_backward.kernel(
        grad, query, key, value, out, normalizers, attn_mask, is_causal, scale, fill
    )
