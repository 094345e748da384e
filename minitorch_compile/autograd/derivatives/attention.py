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
        arguments: Any = (upper, *tensors, out[1], *how, by_normalizers)
        return gradients_in_ops(*arguments)

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
    *gradients, by_scores = second_gradients_in_ops(
        grads, upper, *tensors, result, normalizers, attn_mask, is_causal, scale, fill
    )
    return (*gradients, lambda: sum_to(by_scores, attn_mask))
