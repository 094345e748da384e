"""Activations.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> [node.target.name for node in decomposed(ops.leaky_relu, empty_fake((2,))).find_nodes(op="call_function")]
['full', 'gt', 'full', 'mul', 'where']
"""

from __future__ import annotations

from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.ops.checked_values import checked


@decomposes(ops.hardtanh)
def _(x: Tensor, low: float, high: float) -> Tensor:
    """Clamped from both sides, in the dtype of x. RuntimeError below 0 for unsigned ones, as of the op's kernel."""
    if x.dtype.numpy.kind == "u" and int(min(low, high)) < 0:
        raise RuntimeError("hardtanh: cannot do hardtanh on an unsigned type with negative limits; call .float() first")
    bounds = (low, high) if x.dtype.is_floating_point else (int(low), int(high))
    return ops.clamp(x, *bounds)


@decomposes(ops.leaky_relu)
def _(x: Tensor, negative_slope: float) -> Tensor:
    """x or slope * x."""
    return ops.where(x > 0, x, x * negative_slope)


@decomposes(ops.elu)
def _(x: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    """The exponential is only taken of what isn't positive, so that it can't overflow."""
    below = ops.expm1(ops.where(x <= 0, x, 0.0) * input_scale) * (alpha * scale)
    return ops.where(x <= 0, below, x * scale)


@decomposes(ops.hardsigmoid)
def _(x: Tensor) -> Tensor:
    """A clamped line."""
    return ops.clamp(x + 3, 0, 6) / 6


@decomposes(ops.hardswish)
def _(x: Tensor) -> Tensor:
    """x times a clamped line."""
    return x * ops.clamp(x + 3, 0, 6) / 6


@decomposes(ops.softplus)
def _(x: Tensor, beta: float, threshold: float) -> Tensor:
    """A straight line from the threshold on, where exp would overflow."""
    scaled = x * beta
    return ops.where(scaled > threshold, x, ops.log1p(ops.exp(ops.clamp(scaled, max=threshold))) / beta)


@decomposes(ops.log_sigmoid)
def _(x: Tensor) -> Tensor:
    """min(x, 0) - log1p(exp(-|x|)): what is added to the larger exponent is never large."""
    return ops.clamp(x, max=0) - ops.log1p(ops.exp(-ops.abs(x)))


@decomposes(ops.binary_cross_entropy)
def _(x: Tensor, target: Tensor) -> Tensor:
    """-(y log x + (1 - y) log(1 - x))."""
    x = checked(x, (x >= 0) & (x <= 1))
    if_one, if_zero = ops.clamp(ops.log(x), min=-100), ops.clamp(ops.log1p(-x), min=-100)
    return (target - 1) * if_zero - target * if_one
