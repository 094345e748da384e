"""Normalisation whose weights belong to channels, as fused functions: groups, instances, and running statistics.

>>> FUSED["group_norm"].size_names
('samples', 'groups', 'width', 'area')
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch_compile.kernel_library.batch_norms import SHORTEST_AREA
from minitorch_compile.kernel_library.fused import FUSED, Fused, fused
from minitorch_compile.kernel_library.replaced import LEAST, NUMBERS, recorded_composite
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import float32
from minitorch_compile.tensor.ops.normalization import scale_and_shift
from minitorch_compile.tensor.tensor_base import wrap


def _group_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Any:
    groups, width, area = x.sizes[1:]
    normed = ops.native_layer_norm(x, (width, area), None, None, eps)[0]
    return normed * ops.reshape(weight, (groups, width, 1)) + ops.reshape(bias, (groups, width, 1))


def _scaled(x: Tensor, scale: Tensor, shift: Tensor) -> Any:
    """Each channel, which is dimension 1, by its numbers."""
    channel = (-1, *[1] * (len(x.sizes) - 2))
    return x * ops.reshape(scale, channel) + ops.reshape(shift, channel)


IMAGES = ("samples", "channels", "area")
OF_GROUPS = {"x": ("samples", "groups", "width", "area"), "weight": ("groups", "width"), "bias": ("groups", "width")}
OF_CHANNELS = {"scale": ("channels",), "shift": ("channels",)}
FUSED |= {
    "group_norm": Fused(_group_norm, OF_GROUPS, "eps", wanted=3),
    "prelu": Fused(ops.prelu.kernel, {"x": IMAGES, "weight": ("channels",)}, wanted=2),
    "scaled_channels": Fused(_scaled, {"x": IMAGES, **OF_CHANNELS}, wanted=3),
    "scaled_pixels": Fused(_scaled, {"x": ("pixels", "channels"), **OF_CHANNELS}, wanted=3),
}


def _is_large(x: Any) -> bool:
    return len(x.sizes) > 1 and math.prod(x.sizes) >= LEAST and x.dtype is float32


@lru_cache(maxsize=64)
def _every(channels: int, value: float) -> Any:
    """The weights of channels that have none."""
    return wrap(np.full(channels, value, np.float32))


def grouped(x: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    """The channels of each image normalised in groups, and scaled; None for what doesn't fit."""
    samples, channels = x.sizes[:2]
    area = math.prod(x.sizes[2:])
    if area < SHORTEST_AREA or groups < 1 or channels % groups:
        return None
    if any(p is not None and p.sizes != (channels,) for p in (weight, bias)):
        return None
    w, b = _every(channels, 1) if weight is None else weight, _every(channels, 0) if bias is None else bias
    return fused("group_norm", (samples, groups, channels // groups, area), (eps,), x, w, b)


def scaled(x: Any, scale: Any, shift: Any) -> Any:
    """Each channel of images times its scale, plus its shift, however the images lie; None for what doesn't fit."""
    samples, channels = x.sizes[:2]
    area = math.prod(x.sizes[2:])
    if area >= SHORTEST_AREA and x.is_contiguous():
        return fused("scaled_channels", (samples, channels, area), (), x, scale, shift)
    out = fused("scaled_pixels", (samples * area, channels), (), ops.movedim(x, 1, -1), scale, shift)
    return out if out is None else ops.movedim(out, -1, 1)


# ------------------------------------------------------------------------------------------------ short cuts


@recorded_composite(ops.group_norm)
def _(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True
) -> Any:
    return grouped(input, num_groups, weight, bias, eps) if _is_large(input) else None


@recorded_composite(ops.prelu)
def _(input: Any, weight: Any) -> Any:
    if not _is_large(input) or weight.sizes != (input.sizes[1],):
        return None
    samples, channels = input.sizes[:2]
    area = math.prod(input.sizes[2:])
    return fused("prelu", (samples, channels, area), (), input, weight) if area >= SHORTEST_AREA else None


@recorded_composite(ops.instance_norm)
def _(input: Any, weight: Any, bias: Any, *how: Any, **named: Any) -> Any:
    """`how`: running_mean, running_var, use_input_stats, momentum, eps, and perhaps cudnn_enabled."""
    if named or not 5 <= len(how) <= 6 or not _is_large(input):
        return None
    running_mean, running_var, use_input_stats, _, eps = how[:5]
    if not use_input_stats or running_mean is not None or running_var is not None:
        return None
    return grouped(input, input.sizes[1], weight, bias, eps)  # each channel is a group


@recorded_composite(ops.batch_norm)
def _(input: Any, weight: Any, bias: Any, *how: Any, **named: Any) -> Any:
    """`how`: running_mean, running_var, training, momentum, eps, and perhaps cudnn_enabled."""
    if named or not 5 <= len(how) <= 6 or not _is_large(input):
        return None
    running_mean, running_var, training, _, eps = how[:5]
    if training or running_mean is None or running_var is None or not isinstance(eps, NUMBERS):
        return None
    given = [p for p in (running_mean, running_var, weight, bias) if p is not None]
    if running_mean.requires_grad or running_var.requires_grad:
        return None
    if any(p.sizes != (input.sizes[1],) or p.dtype is not float32 for p in given):
        return None
    return scaled(input, *scale_and_shift(weight, bias, running_mean, running_var, eps))
