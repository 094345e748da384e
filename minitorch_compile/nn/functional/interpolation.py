"""Resizing images: each dimension in turn is mapped by a few taps for each new element (tensor/ops/resampling.py).

New element i lies at scale * (i + 1/2) - 1/2 of the old ones, or at scale * i with `align_corners`. The modes differ in
the taps around that place: the nearest, the two neighbours, or four on a cubic curve.

>>> from minitorch_compile import tensor
>>> x = tensor([[[0.0, 1.0]]])
>>> interpolate(x, scale_factor=2), interpolate(x, size=4, mode="linear")
(tensor([[[0., 0., 1., 1.]]]), tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.numerics.dtype import FLOATING, uint8
from minitorch_compile.tensor.ops.resampling import SparseMap, TwoWayMap, apply_map

CUBIC = -0.75  # the slope parameter of Keys 1981 that image libraries use; -1/2 when antialiasing, as in Pillow
DIMENSIONS = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,)}
ANY = (3, 4, 5)
MODES = ("nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact")


# ------------------------------------------------------------------------------------------ taps along one dimension


def step_between(size: int, out: int, scale_factor: float | None, align_corners: bool) -> float:
    """How far apart, in old elements, new elements lie."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale_factor if scale_factor else size / out


def _nearest(size: int, out: int, step: float, exact: bool) -> SparseMap:
    number, single = np.arange(out), np.float32  # whatever the image's dtype, as in PyTorch
    places = np.floor((number.astype(single) + single(0.5 if exact else 0)) * single(step)).astype(np.int64)
    return SparseMap(np.minimum(places, size - 1)[None], np.ones((1, out)))


def _centres(out: int, step: Any, align_corners: bool) -> Array:
    # Rounded once, like PyTorch's fused multiply-add: float64 has room for the exact product of two float32.
    number, exact = np.arange(out), np.float64(step)
    return (number * exact if align_corners else (number + 0.5) * exact - 0.5).astype(step.dtype)


def _linear(size: int, out: int, step: Any, align_corners: bool) -> SparseMap:
    centre = np.maximum(_centres(out, step, align_corners), 0)
    left = np.minimum(centre.astype(np.int64), size - 1)
    right_weight = np.clip(centre - left, 0, 1).astype(step.dtype)
    return SparseMap(np.stack([left, np.minimum(left + 1, size - 1)]), np.stack([1 - right_weight, right_weight]))


def _cubic(size: int, out: int, step: Any, align_corners: bool) -> SparseMap:
    centre = _centres(out, step, align_corners)
    left = np.floor(centre).astype(np.int64)
    offsets = np.arange(-1, 3)[:, None]
    weights = cubic_curve(offsets - (centre - left), CUBIC)
    return SparseMap(np.clip(left + offsets, 0, size - 1), weights)


def cubic_curve(distance: Array, a: float) -> Array:
    """Keys' cubic convolution kernel: 1 at 0, 0 at the other whole numbers and beyond 2.

    >>> cubic_curve(np.array([0.0, 0.5, 1.0, 1.5, 3.0]), -0.75).tolist()
    [1.0, 0.59375, 0.0, -0.09375, 0.0]
    """
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _antialiased(size: int, out: int, step: Any, reach: int, curve: Callable[[Array], Array]) -> SparseMap:
    """All old elements under a curve that is as wide as `reach` new elements on each side, if those lie further apart
    than the old."""
    number, half = step.dtype.type, step.dtype.type(0.5)
    widening = max(step, number(1))
    support = number(reach) * widening
    centre = step * (np.arange(out).astype(step.dtype) + half)
    first = np.maximum((centre - support + half).astype(np.int64), 0)
    last = np.minimum((centre + support + half).astype(np.int64), size)
    tap = np.arange(max(int((last - first).max()), 1))[:, None]
    distance = ((tap + first).astype(step.dtype) - centre + half) / widening
    weights = np.where(tap < last - first, curve(distance), number(0))
    return SparseMap(np.minimum(first + tap, size - 1), weights / weights.sum(0))


def in_whole_numbers(along: SparseMap) -> SparseMap:
    """The weights as fixed-point numbers of 16 bits, by which PyTorch multiplies bytes: as many places as the largest
    allows.

    >>> in_whole_numbers(SparseMap(np.array([[0], [1]]), np.array([[0.25], [0.75]]))).weights * 2**15
    array([[ 8192.],
           [24576.]])
    """
    weights = np.zeros_like(along.weights)
    first = (along.places[:, None] == along.places).argmax(axis=1)  # taps beyond an edge lie on it: there they are one
    np.add.at(weights, (first, np.arange(first.shape[1])), along.weights)
    places = 0
    while places < 22 and int(0.5 + weights.max() * 2 ** (places + 1)) < 2**15:
        places += 1
    whole = weights * 2.0**places
    return SparseMap(along.places, np.trunc(whole + np.copysign(0.5, whole)) / 2.0**places)


def _triangle(distance: Array) -> Array:
    return np.maximum(1 - np.abs(distance), 0)


@lru_cache(maxsize=256)
def taps_for(
    mode: str, size: int, out: int, scale_factor: float | None, align_corners: bool, antialias: bool, kind: str
) -> TwoWayMap | None:
    """The map from `size` to `out` elements, None if it changes nothing. Places are computed in the precision that
    PyTorch uses for a `kind` of image: "single", "double", or "bytes"."""
    if size == out and mode.endswith("linear") and not antialias:
        return None  # even if a scale factor says otherwise
    element = np.float32 if kind == "single" else np.float64
    step = np.asarray(step_between(size, out, scale_factor, align_corners), element)[()]
    if mode in ("nearest", "nearest-exact"):
        forth = _nearest(size, out, float(step), mode == "nearest-exact")
    elif antialias and mode == "bicubic":
        forth = _antialiased(size, out, step, 2, lambda x: cubic_curve(x, -0.5))
    elif antialias:
        forth = _antialiased(size, out, step, 1, _triangle)
    else:
        forth = (_cubic if mode == "bicubic" else _linear)(size, out, step, align_corners)
    if kind == "bytes":
        forth = in_whole_numbers(forth)
    return None if size == out and _is_identity(forth) else TwoWayMap.of(forth, size)


def _is_identity(along: SparseMap) -> bool:
    itself = np.arange(along.places.shape[1])
    return bool((np.where(along.weights != 0, along.places, itself) == itself).all())


# ------------------------------------------------------------------------------------------ as models call it


def _check(input: Any, size: Any, scale_factor: Any, mode: str, align_corners: Any, antialias: bool) -> None:
    dims = input.dim()
    if dims not in ANY or mode not in MODES:
        raise NotImplementedError(
            f"interpolate: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes:"
            f" {' | '.join(MODES)} (got {mode})"
        )
    if (size is None) == (scale_factor is None):
        which = "either size or scale_factor" if size is None else "only one of size or scale_factor"
        raise ValueError(f"interpolate: {which} should be defined")
    if dims not in DIMENSIONS.get(mode, ANY):
        raise NotImplementedError(f"interpolate: Got {dims}D input, but {mode} mode needs {DIMENSIONS[mode][0]}D input")
    if align_corners is not None and mode not in DIMENSIONS:
        raise ValueError(
            "interpolate: align_corners option can only be set with the interpolating modes: linear | bilinear |"
            " bicubic | trilinear"
        )
    if antialias and (mode not in ("bilinear", "bicubic") or dims != 4):
        raise ValueError(
            "interpolate: Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as"
            " input"
        )
    if input.dtype.category < FLOATING and (input.dtype is not uint8 or mode == "area"):
        raise NotImplementedError(f"interpolate: not implemented for {input.dtype}; convert the input with .float()")


def _per_dimension(input: Any, value: Any, label: str) -> list[Any]:
    count = input.dim() - 2
    if not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"interpolate: Input and {label} must have the same number of spatial dimensions, but got input with"
            f" spatial dimensions of {list(input.shape[2:])} and {label} of {tuple(value)}"
        )
    return list(value)


@functional()
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """(N, C, *sizes) resized to `size`, or by `scale_factor`: a number, or one for each dimension.

    `mode`: nearest, nearest-exact, area for any image; linear (3-D input), bilinear, bicubic (4-D), trilinear (5-D).
    `align_corners`: the outermost points stay in place, not the outermost edges. `recompute_scale_factor`: the factor
    is that of the rounded sizes. `antialias` averages over all old elements when an image is made smaller. ValueError
    or NotImplementedError for what doesn't fit together.

    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    _check(input, size, scale_factor, mode, align_corners, antialias)
    sizes = list(input.shape[2:])
    factors: list[Any] = [None] * len(sizes)
    if size is not None:
        if recompute_scale_factor:
            raise ValueError("interpolate: recompute_scale_factor is not meaningful with an explicit size.")
        out = [int(n) for n in _per_dimension(input, size, "output size")]
    else:
        factors = [float(f) for f in _per_dimension(input, scale_factor, "scale_factor")]
        out = [math.floor(n * f) for n, f in zip(sizes, factors, strict=True)]
        factors = [None] * len(sizes) if recompute_scale_factor else factors
    if min(out) < 1 or 0 in input.shape[1:]:
        raise RuntimeError(
            f"interpolate: Input and output sizes should be greater than 0, but got input {list(input.shape)} and"
            f" output size {out}"
        )
    if mode == "area":
        pool = {1: ops.adaptive_avg_pool1d, 2: ops.adaptive_avg_pool2d, 3: ops.adaptive_avg_pool3d}[len(sizes)]
        return pool(input, out)
    return _resized(input, out, factors, mode, bool(align_corners), antialias)


def _resized(input: Any, out: list[int], factors: list[Any], mode: str, align_corners: bool, antialias: bool) -> Any:
    rounded = input.dtype is uint8 and not mode.startswith("nearest")
    x = input.float() if rounded else input
    kind = "bytes" if rounded and mode in ("bilinear", "bicubic") else "double" if x.dtype.itemsize == 8 else "single"
    # The last dimension first: what comes after is then done in longer runs of memory.
    for d in reversed(range(len(out))):
        n, factor = x.shape[2 + d], factors[d]
        if mode == "nearest" and len(out) == 2 and out[d] in (n, 2 * n):
            factor = None  # for images, PyTorch repeats pixels once or twice, whatever the scale factor says
        along = taps_for(mode, n, out[d], factor, align_corners, antialias, kind)
        if along is not None:
            x = apply_map(x, 2 + d, along)
            if kind == "bytes":  # what lies between the dimensions is bytes, too; sums of these products are exact
                x = (x + 0.5).floor().clamp(0, 255)
    if rounded:
        return x.round().clamp(0, 255).to(uint8)
    return x.clone() if x is input else x


@functional()
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """interpolate under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@functional()
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate in mode nearest."""
    return interpolate(input, size, scale_factor, "nearest")


@functional()
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """interpolate in mode bilinear with aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
