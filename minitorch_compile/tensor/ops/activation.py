"""Activations whose slope is written by hand: at the kinks it is PyTorch's, and one step of the tape serves each.

relu, gelu and silu are in `pointwise.py`; what is only composed of other ops is in `nn/functional/activation.py`.

>>> from minitorch_compile.tensor import tensor
>>> leaky_relu(tensor([-1.0, 2.0])), hardtanh(tensor([-3.0, 0.5]))
(tensor([-0.0100,  2.0000]), tensor([-1.0000,  0.5000]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.cpu.branchless_where import select
from minitorch_compile.tensor.dispatch.declare import composite, pointwise
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.ops.pointwise import _floats_only, abs, le, where
from minitorch_compile.tensor.ops.view import view_op


@pointwise(torch=False, methods=False, inplace=True)
def hardtanh(input: Array, min_val: float = -1.0, max_val: float = 1.0) -> Array:
    """The nearest value in [min_val, max_val]. RuntimeError for bool tensors, and below 0 for unsigned ones."""
    if input.dtype == np.bool_:
        raise RuntimeError("hardtanh: Bool inputs not supported for hardtanh; call .float() first")
    if input.dtype.kind == "u" and int(min(min_val, max_val)) < 0:
        raise RuntimeError("hardtanh: cannot do hardtanh on an unsigned type with negative limits; call .float() first")
    low, high = input.dtype.type(min_val), input.dtype.type(max_val)
    return np.minimum(np.maximum(input, low), high)


@pointwise(torch=False, methods=False, inplace=True)
def leaky_relu(input: Array, negative_slope: float = 0.01) -> Array:
    """x above 0, negative_slope * x below."""
    _floats_only("leaky_relu", input)
    return select(input > 0, input, input * negative_slope)


@pointwise(torch=False, methods=False, inplace=True)
def elu(input: Array, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Array:
    """scale * x above 0, scale * alpha * (exp(input_scale * x) - 1) below."""
    _floats_only("elu", input)
    below = np.expm1(np.minimum(input, 0) * input_scale) * (alpha * scale)
    return select(input <= 0, below, input * scale)


@pointwise(torch=False, methods=False, inplace=True)
def hardsigmoid(input: Array) -> Array:
    """(x + 3) / 6, kept within [0, 1]."""
    _floats_only("hardsigmoid", input)
    return np.minimum(np.maximum(input + 3, 0), 6) / 6


@pointwise(torch=False, methods=False, inplace=True)
def hardswish(input: Array) -> Array:
    """x * hardsigmoid(x) (Howard et al. 2019)."""
    _floats_only("hardswish", input)
    return input * np.minimum(np.maximum(input + 3, 0), 6) / 6


@pointwise(torch=False, methods=False)
def softplus(input: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold."""
    _floats_only("softplus", input)
    scaled = input * beta
    return select(scaled > threshold, input, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


@pointwise(torch=False, methods=False)
def log_sigmoid(input: Array) -> Array:
    """log(1 / (1 + exp(-x))), exact at both ends."""
    _floats_only("log_sigmoid", input)
    return np.minimum(input, 0) - np.log1p(np.exp(-np.abs(input)))


@composite(methods=True, functional=True)
def prelu(input: Tensor, weight: Tensor) -> Any:
    """x above 0, weight * x below: one weight, or one for each channel (dimension 1). RuntimeError for another
    number of weights or another dtype."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"prelu: implemented for floating-point tensors, got {input.dtype}; call .float() first"
        )
    channels = input.sizes[1] if len(input.sizes) > 1 else 1
    count = numel(weight.sizes)
    if len(weight.sizes) > 1 or count not in (1, channels):
        raise RuntimeError(
            f"prelu: Mismatch of parameter numbers and input channel size. Found weight of sizes {list(weight.sizes)}"
            f" and {channels} channels; it takes one number, or one for each channel."
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}")
    weight = view_op(weight, (count, *[1] * max(len(input.sizes) - 2, 0)) if input.sizes else ())
    return where(input > 0, input, weight * input)


@composite(methods=True, functional=True)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x, and 0 where |x| <= lambd."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"hardshrink: implemented for floating-point tensors, got {input.dtype}")
    return where(le(abs(input), lambd), 0.0, input)


@pointwise(torch=False, methods=False)
def binary_cross_entropy(input: Array, target: Array) -> Array:
    """-(y log x + (1 - y) log(1 - x)); the logarithms end at -100. RuntimeError for x outside [0, 1]."""
    _floats_only("binary_cross_entropy", input)
    if input.size and not (input.min() >= 0 and input.max() <= 1):
        raise RuntimeError("binary_cross_entropy: all elements of input should be between 0 and 1")
    if_one, if_zero = np.maximum(np.log(input), -100), np.maximum(np.log1p(-input), -100)
    return (target - 1) * if_zero - target * if_one
