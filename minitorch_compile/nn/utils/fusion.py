"""A layer and the batch normalisation behind it as one layer: in evaluation the running statistics are constants.

>>> from minitorch_compile import nn, ones
>>> layer, norm = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
>>> fused = fuse_linear_bn_eval(layer, norm)
>>> bool((fused(ones(1, 2)) - norm(layer(ones(1, 2)))).abs().max() < 1e-5)
True
"""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, no_grad, ops


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Module:
    """The convolution, with the normalisation in its weight and bias. `transpose`: it is a transposed one.

    AssertionError unless both are in evaluation mode.
    """
    return _fused(conv, bn, lambda weight, bias, *norm: fuse_conv_bn_weights(weight, bias, *norm, transpose=transpose))


def fuse_linear_bn_eval(linear: Module, bn: Module) -> Module:
    """The linear layer, with the normalisation in its weight and bias."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, fuse_linear_bn_weights)


def _fused(layer: Any, bn: Any, fuse: Any) -> Module:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion needs running statistics: the batch norm was made with track_running_stats=False")
    result = copy.deepcopy(layer)
    result.weight, result.bias = fuse(
        result.weight, result.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return result


def _scale_and_shift(bias: Any, mean: Any, var: Any, eps: float, bn_weight: Any, bn_bias: Any) -> tuple[Any, Any]:
    """By how much each channel is scaled, and the new bias."""
    scale = ops.rsqrt(var + eps)
    if bn_weight is not None:
        scale = bn_weight * scale
    shift = (0 if bias is None else bias) - mean
    return scale, shift * scale if bn_bias is None else shift * scale + bn_bias


@no_grad()
def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused convolution."""
    scale, bias = _scale_and_shift(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    channel = (1, -1) if transpose else (-1, 1)
    weight = conv_w * scale.reshape(channel + (1,) * (conv_w.dim() - 2))
    return _parameters(weight, bias, conv_w, conv_b)


@no_grad()
def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused linear layer."""
    scale, bias = _scale_and_shift(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w * scale.unsqueeze(-1), bias, linear_w, linear_b)


def _parameters(weight: Any, bias: Any, old_weight: Any, old_bias: Any) -> tuple[Parameter, Parameter]:
    trained = old_weight.requires_grad
    return (
        Parameter(weight.to(old_weight.dtype), trained),
        Parameter(bias.to(old_weight.dtype), trained if old_bias is None else old_bias.requires_grad),
    )
