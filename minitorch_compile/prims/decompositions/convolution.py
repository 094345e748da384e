r"""Convolution of any number of dimensions: the prims convolve images, which have two.

A one-dimensional convolution is one of images of height 1. A three-dimensional one stacks, for each depth of the
result, the slices that the kernel meets there as further channels of one image:

    (N, C, D, H, W)  ->  (N * depths, C * kernel_depth, H, W)

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake
>>> graph = decomposed(ops.conv1d, empty_fake((1, 2, 5)), empty_fake((3, 2, 1)))
>>> print(graph.compact().replace(" reshape", "\n  reshape"))
x, weight ->
  reshape(convolution(reshape(x, (1, 2, 1, 5)),
  reshape(weight, (3, 2, 1, 1)), (1, 1), (0, 0), (1, 1), 1), (1, 3, 5))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import as_mask, converted, reshaped
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import bool_, int64
from minitorch_compile.tensor.ops.windows import Ints, output_sizes

Geometry = tuple[Ints, Ints, Ints, int]  # stride, padding, dilation, groups


@decomposes(ops.convolution)
def _(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Tensor:
    """A convolution, and one number added to each channel."""
    geometry = (tuple(stride), tuple(padding), tuple(dilation), groups)
    if len(stride) == 1:
        out = _flat(prims.convolution(_tall(x), _tall(weight), *_tall_geometry(geometry)))
    elif len(stride) == 2:
        out = prims.convolution(x, weight, *geometry)
    else:
        depths = _depths(x.sizes, weight.sizes, geometry)
        images = prims.convolution(_slices(x, weight.sizes[2], depths, geometry), _merged(weight), *_inner(geometry))
        out = _depth_back(images, x.sizes[0], depths)
    return out if bias is None else prims.add(out, prims.broadcast_in_dim(bias, tuple(out.sizes), (1,)))


@decomposes(ops.convolution_input_grad)
def _(grad: Tensor, weight: Tensor, input_sizes: Ints, *how: Any) -> Tensor:
    """The prim; in three dimensions, the slices' gradients are added up where the slices were."""
    geometry = _as_tuples(how)
    sizes = tuple(input_sizes)
    if len(sizes) == 4:
        return prims.convolution_input_grad(grad, weight, sizes, *geometry)
    if len(sizes) == 3:
        tall = (*sizes[:2], 1, sizes[2])
        return _flat(prims.convolution_input_grad(_tall(grad), _tall(weight), tall, *_tall_geometry(geometry)))
    depths = grad.sizes[2]
    merged = (sizes[0] * depths, sizes[1] * weight.sizes[2], *sizes[3:])
    images = prims.convolution_input_grad(_depth_into_batch(grad), _merged(weight), merged, *_inner(geometry))
    return _unsliced(images, sizes, weight.sizes[2], depths, geometry)


@decomposes(ops.convolution_weight_grad)
def _(grad: Tensor, x: Tensor, weight_sizes: Ints, *how: Any) -> Tensor:
    """The prim, on images."""
    geometry = _as_tuples(how)
    sizes = tuple(weight_sizes)
    if len(sizes) == 4:
        return prims.convolution_weight_grad(grad, x, sizes, *geometry)
    if len(sizes) == 3:
        tall = (*sizes[:2], 1, sizes[2])
        return _flat(prims.convolution_weight_grad(_tall(grad), _tall(x), tall, *_tall_geometry(geometry)))
    images = _slices(x, sizes[2], grad.sizes[2], geometry)
    merged = (sizes[0], sizes[1] * sizes[2], *sizes[3:])
    return reshaped(prims.convolution_weight_grad(_depth_into_batch(grad), images, merged, *_inner(geometry)), sizes)


def _as_tuples(how: tuple[Any, ...]) -> Geometry:
    stride, padding, dilation, groups = how
    return tuple(stride), tuple(padding), tuple(dilation), groups


# ------------------------------------------------------------------------------------------ one dimension


def _tall(x: Tensor) -> Tensor:
    """(N, C, L) as images of height 1."""
    return reshaped(x, (*x.sizes[:2], 1, x.sizes[2]))


def _flat(x: Tensor) -> Tensor:
    """Images of height 1 as (N, C, L)."""
    return reshaped(x, (*x.sizes[:2], x.sizes[3]))


def _tall_geometry(geometry: Geometry) -> Geometry:
    stride, padding, dilation, groups = geometry
    return (1, *stride), (0, *padding), (1, *dilation), groups


# ------------------------------------------------------------------------------------------ three dimensions


def _inner(geometry: Geometry) -> Geometry:
    """The geometry within one slice."""
    stride, padding, dilation, groups = geometry
    return stride[1:], padding[1:], dilation[1:], groups


def _depths(input_sizes: Ints, weight_sizes: Ints, geometry: Geometry) -> int:
    stride, padding, dilation, _ = geometry
    return (input_sizes[2] + 2 * padding[0] - dilation[0] * (weight_sizes[2] - 1) - 1) // stride[0] + 1


def _merged(weight: Tensor) -> Tensor:
    """(F, C, kd, kh, kw) as (F, C * kd, kh, kw)."""
    return reshaped(weight, (weight.sizes[0], weight.sizes[1] * weight.sizes[2], *weight.sizes[3:]))


def _slices(x: Tensor, kernel: int, depths: int, geometry: Geometry) -> Tensor:
    """(N, C, D, H, W) as (N * depths, C * kernel, H, W): the slices that the kernel meets at each depth."""
    stride, padding, dilation, _ = geometry
    padded = ops.constant_pad_nd(x, (0, 0, 0, 0, padding[0], padding[0]))
    first = [k * dilation[0] for k in range(kernel)]
    met = [ops.slice(padded, 2, f, f + stride[0] * (depths - 1) + 1, stride[0]) for f in first]
    stacked = ops.permute(ops.stack(met, 2), (0, 3, 1, 2, 4, 5))  # (N, depths, C, kernel, H, W)
    n, _, channels, _, height, width = stacked.sizes
    return reshaped(stacked, (n * depths, channels * kernel, height, width))


def _unsliced(images: Tensor, sizes: Ints, kernel: int, depths: int, geometry: Geometry) -> Tensor:
    """The transposed of _slices: every slice added to the depth it came from."""
    stride, padding, dilation, _ = geometry
    n, channels, depth, height, width = sizes
    stacked = ops.permute(reshaped(images, (n, depths, channels, kernel, height, width)), (0, 2, 3, 1, 4, 5))
    # Seen as a convolution along the depth whose filters each pick one slice of the kernel: this is its input gradient.
    rows = reshaped(stacked, (n * channels, kernel, depths, height * width))
    picking = reshaped(ops.eye(kernel, dtype=images.dtype), (kernel, 1, kernel, 1))
    along = ((stride[0], 1), (padding[0], 0), (dilation[0], 1), 1)
    return reshaped(
        prims.convolution_input_grad(rows, picking, (n * channels, 1, depth, height * width), *along), sizes
    )


def _depth_into_batch(grad: Tensor) -> Tensor:
    """(N, F, depths, H, W) as (N * depths, F, H, W)."""
    n, filters, depths, height, width = grad.sizes
    return reshaped(ops.permute(grad, (0, 2, 1, 3, 4)), (n * depths, filters, height, width))


def _depth_back(images: Tensor, n: int, depths: int) -> Tensor:
    """The inverse of _depth_into_batch."""
    _, filters, height, width = images.sizes
    return ops.permute(reshaped(images, (n, depths, filters, height, width)), (0, 2, 1, 3, 4))


# ------------------------------------------------------------------------------------------ columns


@decomposes(ops.im2col)
def _(x: Tensor, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Tensor:
    """A gather: tap k of block b lies at k * dilation + b * stride of the padded image."""
    padded = ops.constant_pad_nd(x, [n for p in reversed(padding) for n in (p, p)])
    out = output_sizes(x.sizes[2:], kernel_size, stride, padding, dilation)
    place: Any = 0
    for d, size in enumerate(padded.sizes[2:]):
        tap = ops.mul(ops.arange(kernel_size[d]), dilation[d]).reshape(*_only(d, kernel_size), *(1,) * len(out))
        block = ops.mul(ops.arange(out[d]), stride[d]).reshape(*_only(d, out))
        along = ops.add(tap, block)
        place = along if d == 0 else ops.add(ops.mul(place, size), along)
    flat = reshaped(padded, (*x.sizes[:2], math.prod(padded.sizes[2:])))
    found = ops.index(flat, [None, None, place.reshape(math.prod(kernel_size), math.prod(out))])
    return reshaped(found, (x.sizes[0], x.sizes[1] * math.prod(kernel_size), math.prod(out)))


def _only(d: int, sizes: Ints) -> Ints:
    """The sizes of something that varies along one of several dimensions."""
    return tuple(n if i == d else 1 for i, n in enumerate(sizes))


@decomposes(ops.col2im)
def _(columns: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Tensor:
    """The input gradient of a convolution whose filters each pick one tap. Of bools: where any lands."""
    if columns.dtype is bool_:
        return as_mask(ops.col2im(converted(columns, int64), output_size, kernel_size, dilation, padding, stride))
    count = math.prod(kernel_size)
    out = output_sizes(output_size, kernel_size, stride, padding, dilation)
    channels = columns.sizes[0] * columns.sizes[1] // count
    rows = reshaped(columns, (channels, count, *out))
    picking = ops.eye(count, dtype=columns.dtype).reshape(count, 1, *kernel_size)
    sizes = (channels, 1, *output_size)
    image = prims.convolution_input_grad(rows, picking, sizes, tuple(stride), tuple(padding), tuple(dilation), 1)
    return reshaped(image, (columns.sizes[0], columns.sizes[1] // count, *output_size))
