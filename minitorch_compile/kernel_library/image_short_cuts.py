"""Convolutions on kernels that take a plan: how a call, or a gradient of one, comes down to images.

A convolution of one dimension is one of images of height 1, one of volumes is one of their slices (`volumes.py`). What
is no image row by row in memory is copied: that is little work beside the products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.kernel_library import volumes
from minitorch_compile.kernel_library.convolution_plan import PLANS, Shape, extent_of, shortest_piece
from minitorch_compile.kernel_library.planned_kernel import Plan
from minitorch_compile.kernel_library.replaced import is_dense, kernel, planned
from minitorch_compile.kernel_library.tile_sizes import TileSizes
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.ops.windows import output_sizes

Array = np.ndarray
Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints, Ints, int]  # stride, padding, dilation, groups
MOST_OF_SLICES = 1 << 26  # elements of a volume's slices


@kernel(ops.convolution)
def _(input: Array, weight: Array, bias: Array | None, *how: Any) -> Array | None:
    geometry = _geometry(*how)
    if input.ndim == 5:
        if not _is_sliced("convolution", input.shape, weight.shape):
            return None
        kernel, along, inner = weight.shape[2], _along(geometry), _inner(geometry)
        images = _forward(volumes.slices(input, kernel, along), weight.reshape(volumes.merged(weight.shape)), inner)
        out = None if images is None else volumes.depth_back(images, input.shape[0])
    else:
        out = _forward(input, weight, geometry)
    if out is not None and bias is not None:
        out += bias.reshape(-1, *(1,) * (out.ndim - 2))
    return out


@kernel(ops.convolution_weight_grad)
def _(grad: Array, input: Array, weight_sizes: Sequence[int], *how: Any) -> Array | None:
    sizes, geometry = tuple(weight_sizes), _geometry(*how)
    if input.ndim == 5:
        if not _is_sliced("convolution_weight_grad", input.shape, sizes):
            return None
        images, merged = volumes.slices(input, sizes[2], _along(geometry)), volumes.merged(sizes)
        upper = volumes.depth_into_batch(grad)
        found = _run("convolution_weight_grad", upper, images, images.shape, merged, merged, _inner(geometry))
        return None if found is None else found.reshape(sizes)
    return _run("convolution_weight_grad", grad, input, input.shape, sizes, sizes, geometry)


@kernel(ops.convolution_input_grad)
def _(grad: Array, weight: Array, input_sizes: Sequence[int], *how: Any) -> Array | None:
    sizes, geometry = tuple(input_sizes), _geometry(*how)
    if grad.ndim == 5:
        if not _is_sliced("convolution_input_grad", sizes, weight.shape):
            return None
        kernel, upper = weight.shape[2], volumes.depth_into_batch(grad)
        images = (upper.shape[0], sizes[1] * kernel, *sizes[3:])
        merged = weight.reshape(volumes.merged(weight.shape))
        found = _run("convolution_input_grad", upper, merged, images, merged.shape, images, _inner(geometry))
        return None if found is None else volumes.unsliced(found, sizes, kernel, _along(geometry))
    return _run("convolution_input_grad", grad, weight, sizes, weight.shape, sizes, geometry)


def _forward(x: Array, weight: Array, geometry: Geometry) -> Array | None:
    sizes = (x.shape[0], weight.shape[0], *output_sizes(x.shape[2:], weight.shape[2:], *geometry[:3]))
    return _run("convolution", x, weight, x.shape, weight.shape, sizes, geometry)


def _is_sliced(name: str, volume: Ints, weight: Ints) -> bool:
    """Whether volumes are taken as slices: if they aren't too much memory, a window has neighbours, and there is a
    kernel."""
    few = math.prod(volume) * weight[2] <= MOST_OF_SLICES
    return few and math.prod(weight[2:]) > 1 and planned(name) is not None


def _along(geometry: Geometry) -> volumes.Along:
    """The part of a volume's geometry that is about its depth."""
    stride, padding, dilation, _ = geometry
    return stride[0], padding[0], dilation[0]


def _inner(geometry: Geometry) -> Geometry:
    """The part that is about its slices."""
    stride, padding, dilation, groups = geometry
    return stride[1:], padding[1:], dilation[1:], groups


def _geometry(stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int) -> Geometry:
    return tuple(stride), tuple(padding), tuple(dilation), groups


def _run(
    name: str, first: Array, second: Array, image: Ints, weight: Ints, result: Ints, geometry: Geometry
) -> Array | None:
    """A kernel's result for a convolution of images by weights of these sizes; None where there is no kernel for it."""
    found = planned(name) if len(image) in (3, 4) else None
    call = found and found.call(convolution_plan, name, image, weight, *geometry)
    if call is None:
        return None
    first, second = np.ascontiguousarray(first), np.ascontiguousarray(second)
    if not is_dense(first, second):
        return None
    out = np.empty(result, np.float32)
    call(first, second, out)
    return out


def convolution_plan(
    name: str, image: Ints, weight: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int, tiles: TileSizes
) -> Plan | None:
    """What a kernel is told of a convolution. None for what BLAS multiplies faster, and if there is nothing to do."""
    if len(image) == 3:
        image, weight = (*image[:2], 1, *image[2:]), (*weight[:2], 1, *weight[2:])
        stride, padding, dilation = (1, *stride), (0, *padding), (1, *dilation)
    if not all((*image, *weight)):
        return None
    places = output_sizes(image[2:], weight[2:], stride, padding, dilation)
    size, kernel, out, step, border, apart = (
        (y, x) for y, x in (image[2:], weight[2:], places, stride, padding, dilation)
    )
    shape = Shape(image[0], image[1], size, weight[0], kernel, out, step, border, apart, groups)
    numbers, elements = PLANS[name](shape, tiles)
    if not numbers.slides:
        return None
    extent, scratch = extent_of(name, shape, numbers), elements * np.float32().itemsize
    return Plan(numbers, 3, extent, shape.nanoseconds, scratch, shortest=shortest_piece(name, shape, numbers))
