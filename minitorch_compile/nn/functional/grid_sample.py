"""Sampling an image at given places, and grids of places from affine maps.

A grid holds, for each pixel of the result, a place (x, y) in the input, from -1 at one edge to 1 at the other.

>>> from minitorch_compile import tensor
>>> x = tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
>>> grid_sample(x, tensor([[[[0.0, 0.0], [0.5, 0.5]]]]), align_corners=False)
tensor([[[[1.5000, 3.0000]]]])
>>> affine_grid(tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=False)
tensor([[[[-0.5000,  0.0000],
          [ 0.5000,  0.0000]]]])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

from minitorch_compile.nn.functional.interpolation import CUBIC
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import int64

MODES = ("bilinear", "nearest", "bicubic")
PADDING_MODES = ("zeros", "border", "reflection")


# ------------------------------------------------------------------------------------------ coordinates


def _in_pixels(coordinate: Any, size: int, align_corners: bool) -> Any:
    """From [-1, 1] to pixels: the outermost pixels' centres with `align_corners`, else their outer edges, are +-1."""
    if align_corners:
        return (coordinate + 1) * ((size - 1) / 2)
    return ((coordinate + 1) * size - 1) / 2


def _brought_inside(pixel: Any, size: int, padding_mode: str, align_corners: bool) -> Any:
    """A place outside the image moved to the border or reflected at it; unchanged for zeros."""
    if padding_mode == "zeros":
        return pixel
    if padding_mode == "reflection":
        low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
        pixel = _reflected(pixel, low, high) if high > low else ops.zeros_like(pixel)
    return ops.clamp(pixel, 0, size - 1)


def _reflected(pixel: Any, low: float, high: float) -> Any:
    span = high - low
    distance = ops.abs(pixel - low)
    extra = ops.fmod(distance, span)
    odd = ops.fmod(ops.floor(distance / span), 2.0) != 0
    return ops.where(odd, span - extra, extra) + low


# ------------------------------------------------------------------------------------------ taps


def _values(flat: Any, sizes: Sequence[int], place: Sequence[Any]) -> Any:
    """(N, C, P): the elements at whole-numbered places, one tensor (N, P) for each dimension; zeros outside."""
    inside = reduce(ops.logical_and, [(p >= 0) & (p <= n - 1) for p, n in zip(place, sizes, strict=True)])
    number = ops.zeros_like(place[0])
    for p, n in zip(place, sizes, strict=True):
        number = number * n + p
    number = ops.where(inside, number, 0.0).to(int64).unsqueeze(1)
    found = ops.gather(flat, 2, number.expand(number.sizes[0], flat.sizes[1], number.sizes[2]))
    return ops.where(inside.unsqueeze(1), found, 0.0)


def _linear(flat: Any, sizes: Sequence[int], at: Sequence[Any]) -> Any:
    """The 2^n pixels around each place, each with the product of its nearnesses."""
    below = [ops.floor(p).detach() for p in at]
    above_weight = [p - b for p, b in zip(at, below, strict=True)]
    total = None
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight = reduce(ops.mul, [w if c else 1 - w for c, w in zip(corner, above_weight, strict=True)])
        term = _values(flat, sizes, [b + c for b, c in zip(below, corner, strict=True)]) * weight.unsqueeze(1)
        total = term if total is None else total + term
    return total


def _nearest(flat: Any, sizes: Sequence[int], at: Sequence[Any]) -> Any:
    """The pixel nearest to each place. The gradient in the grid is zero, not missing: so PyTorch has it."""
    one = reduce(ops.add, [ops.sign(p) * 0 for p in at]) + 1
    return _values(flat, sizes, [ops.round(p).detach() for p in at]) * one.unsqueeze(1)


def _cubic(flat: Any, sizes: Sequence[int], at: Sequence[Any], padding_mode: str, align_corners: bool) -> Any:
    """The 4 x 4 pixels around each place on cubic curves; it is these pixels that are brought inside."""
    below = [ops.floor(p).detach() for p in at]
    weights = [_cubic_weights(p - b) for p, b in zip(at, below, strict=True)]
    total = None
    for taps in itertools.product(range(4), repeat=len(sizes)):
        place = [
            _brought_inside(b + (tap - 1), n, padding_mode, align_corners)
            for b, tap, n in zip(below, taps, sizes, strict=True)
        ]
        weight = reduce(ops.mul, [w[tap] for w, tap in zip(weights, taps, strict=True)])
        term = _values(flat, sizes, place) * weight.unsqueeze(1)
        total = term if total is None else total + term
    return total


def _cubic_weights(t: Any) -> list[Any]:
    """Keys' kernel at the distances 1 + t, t, 1 - t, 2 - t."""
    a = CUBIC

    def far(x: Any) -> Any:
        return ((x - 5) * x + 8) * x * a - 4 * a

    def near(x: Any) -> Any:
        return (x * (a + 2) - (a + 3)) * x * x + 1

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


# ------------------------------------------------------------------------------------------ as models call it


def _check(input: Any, grid: Any, mode: str, padding_mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"grid_sample: expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in PADDING_MODES:
        raise ValueError(
            f"grid_sample: expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    sizes, grid_sizes, ndim = list(input.sizes), list(grid.sizes), input.dim() - 2
    if not sizes or not grid_sizes or sizes[0] != grid_sizes[0]:
        raise RuntimeError(
            "grid_sample: expected grid and input to have same batch size, but got input with sizes"
            f" {sizes} and grid with sizes {grid_sizes}"
        )
    if grid_sizes[-1] != ndim:
        raise RuntimeError(
            f"grid_sample: expected grid to have size {ndim} in last dimension, but got grid with sizes {grid_sizes}"
        )
    if ndim not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(
            "grid_sample: expected 4D or 5D input and grid with same number of dimensions, but got input with sizes"
            f" {sizes} and grid with sizes {grid_sizes}"
        )
    if 0 in sizes[2:]:
        raise RuntimeError(f"grid_sample: expected input to have non-empty spatial dimensions, but got sizes {sizes}")
    if mode == "bicubic" and ndim != 2:
        raise RuntimeError("grid_sample: bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"grid_sample: expected grid of scalar type {input.dtype} but found {grid.dtype}")


@functional()
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Input (N, C, H, W) and grid (N, h, w, 2) -> (N, C, h, w); or volumes with a grid (N, d, h, w, 3).

    Differentiable in both. `padding_mode` says what lies outside: zeros, the border's pixels, or the image mirrored.
    """
    _check(input, grid, mode, padding_mode)
    align, sizes = bool(align_corners), list(input.sizes[2:])
    count = math.prod(grid.sizes[1:-1])
    # The grid's last dimension runs x, y, z: the image's sizes from the last to the first.
    at = [
        _in_pixels(grid.select(-1, len(sizes) - 1 - d).reshape(grid.sizes[0], count), n, align)
        for d, n in enumerate(sizes)
    ]
    flat = input.reshape(*input.sizes[:2], math.prod(sizes))
    if mode == "bicubic":
        result = _cubic(flat, sizes, at, padding_mode, align)
    else:
        inside = [_brought_inside(p, n, padding_mode, align) for p, n in zip(at, sizes, strict=True)]
        result = (_nearest if mode == "nearest" else _linear)(flat, sizes, inside)
    return result.reshape(*input.sizes[:2], *grid.sizes[1:-1])


@functional()
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """theta (N, 2, 3) and size (N, C, H, W) -> a grid (N, H, W, 2) for grid_sample; or (N, 3, 4) for volumes."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    ndim = len(size) - 2
    if ndim not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size"
            f" {tuple(size)}."
        )
    if theta.dim() != 3 or tuple(theta.sizes[1:]) != (ndim, ndim + 1):
        raise ValueError(
            f"Expected a batch of {ndim}D affine matrices of shape Nx{ndim}x{ndim + 1} for size {tuple(size)}. Got"
            f" {theta.sizes}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    out = list(size[2:])
    places = [_even_places(n, d, ndim, out, bool(align_corners), theta.dtype) for d, n in enumerate(out)]
    points = ops.stack([*reversed(places), ops.ones(out, dtype=theta.dtype)], -1)
    points = points.reshape(1, math.prod(out), ndim + 1).expand(theta.sizes[0], math.prod(out), ndim + 1)
    return ops.bmm(points, theta.transpose(1, 2)).reshape(theta.sizes[0], *out, ndim)


def _even_places(n: int, d: int, ndim: int, out: Sequence[int], align_corners: bool, dtype: Any) -> Any:
    """The coordinates of n pixels in [-1, 1], along dimension d of the output."""
    if n == 1:
        along = ops.zeros((1,), dtype=dtype)
    else:
        along = ops.linspace(-1, 1, n, dtype=dtype)
        along = along if align_corners else along * ((n - 1) / n)
    return along.reshape(*(n if i == d else 1 for i in range(ndim))).expand(*out)
