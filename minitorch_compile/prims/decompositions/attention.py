"""Decompositions of attention: in matmul and softmax, or, for those who have a kernel, as the prim.

>>> from minitorch_compile.prims import decomposed
>>> from minitorch_compile.tensor import empty_fake
>>> x = empty_fake((1, 2, 8, 4))
>>> arguments = (x, x, x, None, False, 0.5, 0.0, False)
>>> "bmm" in decomposed(ops.flash_attention, *arguments).compact()
True
>>> print(decomposed(ops.flash_attention, *arguments, decompositions=AS_PRIMS).compact())
query, key, value -> flash_attention = flash_attention(query, key, value, None, False, 0.5, 0.0, False); ...
"""

from __future__ import annotations

from collections.abc import Mapping

from minitorch_compile.prims.attention import flash_attention, flash_attention_backward
from minitorch_compile.prims.decomposition_table import Rule, decomposes
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.ops.attention_in_ops import attention_in_ops, gradients_in_ops

AS_PRIMS: Mapping[Op, Rule] = {
    ops.flash_attention: flash_attention,
    ops.flash_attention_backward: flash_attention_backward,
}


@decomposes(ops.flash_attention)
def _(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, is_causal: bool, scale: float, fill: float, zero_rows: bool
) -> tuple[Tensor, Tensor]:
    """softmax(scale * query key^T, masked) value, and the maximum and sum of each row."""
    return attention_in_ops(query, key, value, mask, is_causal, scale, fill, zero_rows)


@decomposes(ops.flash_attention_backward)
def _(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    normalizers: Tensor,
    mask: Tensor,
    is_causal: bool,
    scale: float,
    fill: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The weights again, from the scores and normalizers, and the derivative of softmax."""
    return gradients_in_ops(grad, query, key, value, normalizers, mask, is_causal, scale, fill)[:3]
