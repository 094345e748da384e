"""The derivative of attention: no score matrix is kept, only two numbers for each row.

>>> from minitorch_compile.autograd import grad
>>> from minitorch_compile.tensor import ones, ops, tensor
>>> keys = tensor([[[[0.0], [1.0]]]], requires_grad=True)
>>> out, _ = ops.flash_attention(ones(1, 1, 1, 1), keys, tensor([[[[0.0], [4.0]]]]), None, False, 1.0, 0.0, False)
>>> grad(out.sum(), keys)                           # p (1 - p) (v - v'), with p = sigmoid(1)
(tensor([[[[-0.7864],
          [ 0.7864]]]]),)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Unused, derivative, sum_to
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import float32
from minitorch_compile.tensor.numerics.rounding import HALF
from minitorch_compile.tensor.ops.attention_in_ops import gradients_in_ops, second_gradients_in_ops


@derivative(ops.flash_attention)
def _(
    grad: tuple[Tensor | None, Tensor | None],
    out: tuple[Tensor, Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor,
    is_causal: bool,
    scale: float,
    fill: float,
    zero_rows: bool,
) -> Gradients:
    upper, by_normalizers = grad
    tensors, how = (query, key, value), (attn_mask, is_causal, scale, fill)
    if upper is None:
        upper = ops.zeros_like(out[0])

    def in_ops() -> Any:
        arguments: Any = (*_wide(upper, *tensors), out[1], *how, by_normalizers)
        return _rounded(gradients_in_ops(*arguments), query)

    gradients = in_ops() if by_normalizers is not None else ops.flash_attention_backward(upper, *tensors, *out, *how)
    return (*gradients[:3], lambda: sum_to(in_ops()[3], attn_mask))


@derivative(ops.flash_attention_backward)
def _(
    grad: tuple[Tensor | None, Tensor | None, Tensor | None],
    out: tuple[Unused, Unused, Unused],
    upper: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    result: Tensor,
    normalizers: Tensor,
    attn_mask: Tensor,
    is_causal: bool,
    scale: float,
    fill: float,
) -> Gradients:
    tensors = query, key, value
    grads: Any = [ops.zeros_like(x) if g is None else g for g, x in zip(grad, tensors, strict=True)]
    wide: Any = _wide(upper, *tensors, result)
    how: Any = (normalizers, attn_mask, is_causal, scale, fill)
    by_results: Any = tuple(_wide(*grads))
    *gradients, by_normalizers, by_scores = second_gradients_in_ops(by_results, *wide, *how)
    return (*_rounded(gradients, query), by_normalizers, lambda: sum_to(by_scores, attn_mask))


def _wide(*tensors: Tensor) -> list[Tensor]:
    """Floats of two bytes as float32, which normalizers are then, too."""
    return [ops.to_copy(x, float32) if x.dtype in HALF else x for x in tensors]


def _rounded(tensors: Any, like: Tensor) -> list[Tensor]:
    """And back."""
    return [ops.to_copy(x, like.dtype) if like.dtype in HALF else x for x in tensors]
