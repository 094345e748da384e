"""Elementwise ops of three tensors: mixing two values, adding a product or a quotient.

>>> from minitorch_compile.tensor import tensor
>>> lerp(tensor([0.0, 2.0]), tensor([4.0, 4.0]), 0.25), addcmul(tensor([1.0]), tensor([2.0]), tensor([3.0]), value=10)
(tensor([1.0000, 2.5000]), tensor([61.]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import alias, composite, pointwise
from minitorch_compile.tensor.dispatch.number_arguments import coefficient
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import PointwiseOp
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype
from minitorch_compile.tensor.ops.pointwise import clamp, sub
from minitorch_compile.tensor.tensor_base import TensorBase


class LerpOp(PointwiseOp):
    """lerp: converts nothing; all tensors have one floating-point dtype."""

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        coefficient("lerp", "weight", bound[2], bound[0].dtype.is_complex)
        common = super().common_dtype(bound)
        for name, x in zip(self.parameters, bound, strict=True):
            if isinstance(x, TensorBase) and x.dtype is not bound[0].dtype:
                raise RuntimeError(f"lerp: expected dtype {bound[0].dtype} for `{name}` but got dtype {x.dtype}")
        if bound[0].dtype.category < FLOATING:
            raise NotImplementedError(f"lerp: implemented for floating-point tensors, got {bound[0].dtype}")
        return common


@pointwise(family=LerpOp)
def lerp(input: Array, end: Array, weight: Array | Scalar) -> Array:
    """input + weight * (end - input), computed from the nearer end, so that `weight` 1 gives exactly `end`; weight is a
    number or a tensor.

    RuntimeError for integers, and for tensors of different dtypes.

    >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 20.0]), 0.25)
    tensor([ 0.2500, 12.5000])
    """
    difference = end - input
    if not isinstance(weight, np.ndarray):
        return input + weight * difference if abs(weight) < 0.5 else end - difference * (1 - weight)
    return np.where(np.abs(weight) < 0.5, input + weight * difference, end - difference * (1 - weight))


@pointwise()
def addcmul(input: Array, tensor1: Array, tensor2: Array, value: Scalar = 1) -> Array:
    """input + `value` * `tensor1` * `tensor2`: tensors that broadcast.

    >>> torch.addcmul(torch.ones(2), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), value=0.5)
    tensor([2.5000, 5.0000])
    """
    if input.dtype == np.bool_:
        raise NotImplementedError("addcmul: implemented for numbers, got bool tensors; call .int() first")
    coefficient("addcmul", "value", value, input.dtype.kind == "c")
    product = tensor1 * tensor2
    return input + (product if value == 1 else input.dtype.type(value) * product)


@pointwise()
def addcdiv(input: Array, tensor1: Array, tensor2: Array, value: Scalar = 1) -> Array:
    """input + `value` * `tensor1` / `tensor2`: tensors that broadcast. RuntimeError for integers, whose division would
    not be whole.

    >>> torch.addcdiv(torch.zeros(2), torch.ones(2), torch.tensor([2.0, 4.0]), value=3)
    tensor([1.5000, 0.7500])
    """
    if input.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported; convert the arguments with .float(), or use"
            " (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)"
        )
    coefficient("addcdiv", "value", value, input.dtype.kind == "c")
    return input + input.dtype.type(value) * tensor1 / tensor2


@pointwise(inplace=False)
def fmax(input: Array, other: Array) -> Array:
    """The larger one; if one is NaN, the other."""
    return np.fmax(input, other)


@pointwise(inplace=False)
def fmin(input: Array, other: Array) -> Array:
    """The smaller one; if one is NaN, the other."""
    return np.fmin(input, other)


@composite(methods=True, inplace=True, inplace_function=True)
def clamp_min(input: Tensor, min: Tensor | Scalar) -> Any:
    """The input, but at least `min`, a number or a tensor.

    >>> torch.clamp_min(torch.tensor([-1.0, 2.0]), 0)
    tensor([0., 2.])
    """
    return clamp(input, min, None)


@composite(methods=True, inplace=True, inplace_function=True)
def clamp_max(input: Tensor, max: Tensor | Scalar) -> Any:
    """The input, but at most `max`."""
    return clamp(input, None, max)


@composite()
def rsub(input: Tensor, other: Tensor | Scalar, alpha: Scalar = 1) -> Any:
    """other - alpha * input."""
    return sub(other, input, alpha)


clip = alias("clip", clamp)
