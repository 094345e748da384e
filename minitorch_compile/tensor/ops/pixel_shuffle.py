"""Channels become pixels, pixels become channels, and groups of channels are mixed: views and one copy.

>>> from minitorch_compile.tensor import arange
>>> x = arange(4.0).view(1, 4, 1, 1)
>>> pixel_shuffle(x, 2)
tensor([[[[0., 1.],
          [2., 3.]]]])
>>> channel_shuffle(x, 2).flatten()
tensor([0., 2., 1., 3.])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import permute


def _check(name: str, input: Any, factor: Any, label: str) -> None:
    if len(input.sizes) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(input.sizes)} dimension(s)"
        )
    if not isinstance(factor, int):
        raise TypeError(f"{name}(): argument '{label}' (position 2) must be int, not {type(factor).__name__}")
    if factor < 1:
        raise RuntimeError(f"{name} expects a positive {label}, but got {factor}")


@composite(functional=True)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Any:
    """(..., C * r * r, H, W) -> (..., C, H * r, W * r): each group of r * r channels becomes a square of pixels."""
    _check("pixel_shuffle", input, upscale_factor, "upscale_factor")
    *batch, channels, height, width = input.sizes
    r, n = upscale_factor, len(batch)
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but"
            f" input.size(-3)={channels} is not divisible by {r * r}"
        )
    split = reshape(input, (*batch, channels // (r * r), r, r, height, width))
    ordered = permute(split, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return reshape(ordered, (*batch, channels // (r * r), height * r, width * r))


@composite(functional=True)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Any:
    """(..., C, H * r, W * r) -> (..., C * r * r, H, W): the inverse of pixel_shuffle."""
    _check("pixel_unshuffle", input, downscale_factor, "downscale_factor")
    *batch, channels, height, width = input.sizes
    r, n = downscale_factor, len(batch)
    for label, place, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {label} to be divisible by downscale_factor, but input.size({place})={size}"
                f" is not divisible by {r}"
            )
    split = reshape(input, (*batch, channels, height // r, r, width // r, r))
    ordered = permute(split, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return reshape(ordered, (*batch, channels * r * r, height // r, width // r))


@composite(functional=True)
def channel_shuffle(input: Tensor, groups: int) -> Any:
    """(N, g * c, ...) with the channels dealt out: the first of each group, then the second of each, and so on."""
    if len(input.sizes) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.sizes)}")
    if groups < 1:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    n, channels, *sizes = input.sizes
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    split = reshape(input, (n, groups, channels // groups, *sizes))
    dealt = permute(split, (0, 2, 1, *range(3, len(sizes) + 3)))
    return reshape(dealt, (n, channels, *sizes))


@composite(functional=True)
def native_channel_shuffle(input: Tensor, groups: int) -> Any:
    """channel_shuffle under its other name."""
    return channel_shuffle(input, groups)
