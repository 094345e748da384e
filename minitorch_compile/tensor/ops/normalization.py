"""Normalisation, and attention, which is a normalisation of scores.

>>> from minitorch_compile.tensor import tensor
>>> layer_norm(tensor([[1.0, 3.0]]), (2,))
tensor([[-1.0000,  1.0000]])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.declare import composite, kernel_op
from minitorch_compile.tensor.dtype import bool_
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.op import Array, Tensor
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.creation import ones
from minitorch_compile.tensor.ops.indexing import tril
from minitorch_compile.tensor.ops.pointwise import rsqrt, square, where
from minitorch_compile.tensor.ops.random import dropout
from minitorch_compile.tensor.ops.reduction import mean, softmax
from minitorch_compile.tensor.ops.view import transpose
from minitorch_compile.tensor.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("normalization", torch=False)
def native_layer_norm(
    input: Array, normalized_shape: tuple[int, ...], weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """(out, mean, rstd): each row, the last len(normalized_shape) dimensions, shifted to mean 0 and scaled to
    variance 1."""
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean = input.mean(axes, keepdims=True, dtype=input.dtype)
    centred = input - mean
    rstd = 1 / np.sqrt(np.mean(centred * centred, axes, keepdims=True) + input.dtype.type(eps))
    out = centred * rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return np.ascontiguousarray(out), np.ascontiguousarray(mean), np.ascontiguousarray(rstd)


@native_layer_norm.shape_rule
def _layer_norm_rule(
    input: TensorBase, normalized_shape: tuple[int, ...], weight: TensorBase | None, bias: TensorBase | None, eps: float
) -> tuple[Any, Any, Any]:
    rows = len(normalized_shape)
    if not rows or tuple(input.sizes[-rows:]) != tuple(normalized_shape):
        raise RuntimeError(
            f"layer_norm: given normalized_shape={list(normalized_shape)}, expected input with sizes [*,"
            f" {', '.join(map(str, normalized_shape))}], got {list(input.sizes)}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.sizes) != tuple(normalized_shape):
            raise RuntimeError(
                f"layer_norm: expected {name} to be of same shape as normalized_shape {list(normalized_shape)}, got"
                f" {list(parameter.sizes)}"
            )
    statistics = (*input.sizes[:-rows], *[1] * rows)
    return (
        empty_fake(input.sizes, None, input.dtype),
        empty_fake(statistics, None, input.dtype),
        empty_fake(statistics, None, input.dtype),
    )


@composite(functional=True)
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Any:
    """Layer normalisation (Ba, Kiros and Hinton 2016)."""
    return native_layer_norm(input, tuple(normalized_shape), weight, bias, eps)[0]


@composite(torch=False, functional=True)
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel (dimension 1) shifted to mean 0 and scaled to variance 1 (Ioffe and Szegedy 2015).

    In training by the statistics of the batch, towards which the running ones are moved, in place; else by the running
    ones.
    """
    channel = (1, -1, *[1] * (len(input.sizes) - 2))
    if training:
        mean_, var_ = _batch_statistics(input)
        _move_running(running_mean, mean_, 1.0, momentum)
        count = numel(input.sizes) // max(input.sizes[1], 1)
        _move_running(running_var, var_, count / max(count - 1, 1), momentum)
    elif running_mean is None or running_var is None:
        raise RuntimeError("batch_norm: expected running_mean and running_var to be defined when training=False")
    else:
        mean_, var_ = running_mean.view(channel), running_var.view(channel)
    scale = rsqrt(var_ + eps)
    if weight is not None:
        scale = scale * weight.view(channel)
    out = (input - mean_) * scale
    return out if bias is None else out + bias.view(channel)


def _batch_statistics(input: Tensor) -> tuple[Any, Any]:
    """The mean and the biased variance of each channel, with size-1 dimensions for the others."""
    dims = [d for d in range(len(input.sizes)) if d != 1]
    if numel(input.sizes[d] for d in dims) <= 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.sizes}")
    centre = mean(input, dims, True)
    return centre, mean(square(input - centre), dims, True)


def _move_running(running: Any, batch: Any, factor: float, momentum: float) -> None:
    if running is not None:
        with no_grad():
            running.copy_(running * (1 - momentum) + batch.detach().view(-1) * (momentum * factor))


@composite(torch=False, functional=True)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """softmax(query key^T * scale) value over the last two dimensions, (..., L, E); scale is 1 / sqrt(E) unless given.

    `attn_mask`: bool (True takes part) or added to the scores. `is_causal`: each place sees itself and the ones before
    it.
    """
    factor = 1 / math.sqrt(query.sizes[-1]) if scale is None else scale
    scores = matmul(query, transpose(key, -2, -1)) * factor
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("scaled_dot_product_attention: pass attn_mask or is_causal=True, not both")
        attn_mask = tril(ones(query.sizes[-2], key.sizes[-2], dtype=bool_))
    if attn_mask is not None:
        scores = where(attn_mask, scores, float("-inf")) if attn_mask.dtype is bool_ else scores + attn_mask
    return matmul(dropout(softmax(scores, -1), dropout_p), value)
