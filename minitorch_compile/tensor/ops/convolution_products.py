"""Convolution in any number of dimensions, and the two products that are its gradients.

All three are matrix products over the *windows* of the padded input. They are copied out into a matrix, `columns`, with
a row for each channel and tap and a column for each window (im2col); a few images at a time, so that the matrix stays
in cache. Where each filter sees one channel only (a depthwise convolution) a matrix product has nothing to sum over:
there the taps are added one by one, for all windows at once.

Memory: the channels-last order of the input or the weight is the order of the result, as in PyTorch.

>>> from minitorch_compile.tensor import ones
>>> convolution(ones(1, 1, 3), ones(1, 1, 2), None, (1,), (0,), (1,), 1)
tensor([[[2., 2.]]])
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from minitorch_compile.tensor.blas import matmul
from minitorch_compile.tensor.declare import kernel_op
from minitorch_compile.tensor.memory_format import contiguous_format, strides_in, suggested_format
from minitorch_compile.tensor.op import Array
from minitorch_compile.tensor.ops.windows import Ints, inside, output_sizes, pad_image, seen_at, tap_of, taps, windows
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

CHUNK = 1 << 19  # elements of `columns` at a time: about the size of a core's cache


class Geometry(NamedTuple):
    """Everything that says which input element meets which weight."""

    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int
    out: Ints

    @classmethod
    def of(
        cls, input_sizes: Ints, weight_sizes: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
    ) -> Geometry:
        out = output_sizes(input_sizes[2:], weight_sizes[2:], stride, padding, dilation)
        return cls(tuple(weight_sizes[2:]), stride, padding, dilation, groups, out)

    @property
    def is_pointwise(self) -> bool:
        """Whether each window is one element, the next window the next element: the image is its own matrix."""
        return all(n == 1 for n in (*self.kernel, *self.stride)) and not any(self.padding)

    def chunks(self, images: int, channels: int) -> Iterator[slice]:
        """Slices of the batch whose unfolded images together have about CHUNK elements."""
        each = channels * math.prod(self.kernel) * math.prod(self.out)
        step = max(1, CHUNK // max(each, 1))
        return (slice(first, min(first + step, images)) for first in range(0, images, step))

    def columns(self, padded: Array) -> Array:
        """The windows of a few images as a matrix for each group: (groups, channels * taps, images * windows)."""
        n, channels = padded.shape[:2]
        rows = channels // self.groups * math.prod(self.kernel)
        if self.is_pointwise:
            return padded.reshape(n, channels, -1).swapaxes(0, 1).reshape(self.groups, rows, -1)
        d = len(self.kernel)
        view = windows(padded, self.kernel, self.stride, self.dilation, self.out)
        order = (1, *range(2 + d, 2 + 2 * d), 0, *range(2, 2 + d))
        return view.transpose(order).reshape(self.groups, rows, n * math.prod(self.out))

    def seen(self, padded: Array, tap: Ints) -> Array:
        """What all windows see at one tap."""
        return seen_at(tap, padded, self.stride, self.dilation, self.out)


def _as_rows(images: Array, groups: int) -> Array:
    """Images (n, channels, *sizes) as (groups, channels of a group, n * places)."""
    n, channels = images.shape[:2]
    return images.swapaxes(0, 1).reshape(groups, channels // groups, n * math.prod(images.shape[2:]))


def _as_images(rows: Array, n: int, sizes: Ints) -> Array:
    """The inverse of _as_rows."""
    return rows.reshape(rows.shape[0] * rows.shape[1], n, *sizes).swapaxes(0, 1)


def _computing(x: Array) -> Array:
    """Half precision is computed in single: BLAS has no other, and sums would lose their small terms."""
    return x.astype(np.float32) if x.dtype.itemsize < 4 and x.dtype.kind not in "iub" else x


def _per_channel(values: Array, ndim: int) -> Array:
    return values.reshape(-1, *(1,) * ndim)


# ------------------------------------------------------------------------------------------ forward


@kernel_op("convolution", torch=False)
def convolution(
    input: Array, weight: Array, bias: Array | None, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Array:
    """input (N, C_in, *sizes), weight (C_out, C_in / groups, *kernel) -> (N, C_out, *out)."""
    geometry = Geometry.of(input.shape, weight.shape, stride, padding, dilation, groups)
    x, w = pad_image(_computing(input), padding), _computing(weight)
    if groups > 1 and w.shape[1] == 1:
        result = _depthwise(x, w, geometry)
    else:
        result = _by_matrices(x, w, geometry)
    if bias is not None:
        result += _per_channel(_computing(bias), len(stride))
    return result.astype(input.dtype, copy=False)


def _by_matrices(x: Array, w: Array, geometry: Geometry) -> Array:
    n, groups = x.shape[0], geometry.groups
    result = np.empty((n, w.shape[0], *geometry.out), x.dtype)
    matrix = w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))
    if geometry.is_pointwise:
        images = x.reshape(n, groups, w.shape[1], math.prod(geometry.out))
        return matmul(matrix, images).reshape(result.shape)
    for chunk in geometry.chunks(n, x.shape[1]):
        product = matmul(matrix, geometry.columns(x[chunk]))
        result[chunk] = _as_images(product, chunk.stop - chunk.start, geometry.out)
    return result


def _depthwise(x: Array, w: Array, geometry: Geometry) -> Array:
    """Each channel with its own filters, of which there may be several."""
    n, channels = x.shape[:2]
    filters = w.reshape(channels, w.shape[0] // channels, *w.shape[2:])
    result = np.zeros((n, *filters.shape[:2], *geometry.out), x.dtype)
    for image, out in zip(x, result, strict=True):
        term = np.empty_like(out)
        for tap in taps(geometry.kernel):
            factors = filters[tap_of(tap)].reshape(*filters.shape[:2], *(1,) * len(tap))
            out += np.multiply(geometry.seen(image, tap)[:, None], factors, out=term)
    return result.reshape(n, w.shape[0], *geometry.out)


@convolution.shape_rule
def _convolution_rule(
    input: TensorBase,
    weight: TensorBase,
    bias: TensorBase | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> TensorBase:
    name = f"conv{len(weight.sizes) - 2}d"
    check_groups(name, input, weight, groups)
    check_dtypes(name, input, weight, bias)
    if bias is not None and tuple(bias.sizes) != (weight.sizes[0],):
        raise RuntimeError(
            f"{name}: Given weight of size {list(weight.sizes)}, expected bias to be 1-dimensional with"
            f" {weight.sizes[0]} elements, but got bias of size {list(bias.sizes)} instead"
        )
    out = Geometry.of(input.sizes, weight.sizes, stride, padding, dilation, groups).out
    if min(out) < 1:
        padded = [n + 2 * p for n, p in zip(input.sizes[2:], padding, strict=True)]
        kernel = [d * (k - 1) + 1 for d, k in zip(dilation, weight.sizes[2:], strict=True)]
        raise RuntimeError(
            f"{name}: Calculated padded input size per channel: {padded}. Kernel size: {kernel}. Kernel size can't be"
            " greater than actual input size"
        )
    sizes = (input.sizes[0], weight.sizes[0], *out)
    return empty_fake(sizes, _memory_order(sizes, input, weight), input.dtype)


def check_groups(name: str, input: TensorBase, weight: TensorBase, groups: int) -> None:
    """RuntimeError unless the channels of input and weight fit together."""
    if len(input.sizes) != len(weight.sizes) or len(weight.sizes) < 3:
        raise RuntimeError(
            f"{name}: expected input and weight with as many dimensions, got sizes {list(input.sizes)} and"
            f" {list(weight.sizes)}"
        )
    if groups < 1:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {groups}")
    if weight.sizes[0] < groups or weight.sizes[0] % groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be at least {groups} and divisible by {groups} at"
            f" dimension 0, but got weight of size {list(weight.sizes)} instead"
        )
    if input.sizes[1] != weight.sizes[1] * groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, weight of size {list(weight.sizes)}, expected input{list(input.sizes)} to"
            f" have {weight.sizes[1] * groups} channels, but got {input.sizes[1]} channels instead"
        )


def check_dtypes(name: str, input: TensorBase, weight: TensorBase, bias: TensorBase | None) -> None:
    """RuntimeError unless all have one dtype, and not bool."""
    for label, other in (("weight", weight), ("bias", bias)):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: Input type ({input.dtype}) and {label} type ({other.dtype}) should be the same"
            )
    if input.dtype.name == "bool":
        raise NotImplementedError(f"{name}: not implemented for 'Bool'; convert the input with .float()")


def _memory_order(sizes: Ints, *operands: TensorBase) -> Ints | None:
    """Channels-last strides for the result if an operand lies so, else None for row-major order."""
    for x in operands:
        order = suggested_format(x.sizes, x.strides)
        if order is not contiguous_format:
            return strides_in(order, sizes)
    return None


# ------------------------------------------------------------------------------------------ gradient in the weight


@kernel_op("convolution", torch=False)
def convolution_weight_grad(
    grad: Array, input: Array, weight_sizes: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Array:
    """d loss / d weight: each output gradient times the window it came from, summed over images and windows."""
    geometry = Geometry.of(input.shape, weight_sizes, stride, padding, dilation, groups)
    upper, x = _computing(grad), pad_image(_computing(input), padding)
    if groups > 1 and weight_sizes[1] == 1:
        result = _depthwise_weight_grad(upper, x, geometry)
    else:
        result = np.zeros((groups, weight_sizes[0] // groups, math.prod(weight_sizes[1:])), upper.dtype)
        for chunk in geometry.chunks(x.shape[0], x.shape[1]):
            columns = geometry.columns(x[chunk])
            result += matmul(_as_rows(upper[chunk], groups), columns.swapaxes(1, 2))
    return result.reshape(weight_sizes).astype(grad.dtype, copy=False)


def _depthwise_weight_grad(upper: Array, x: Array, geometry: Geometry) -> Array:
    n, channels = x.shape[:2]
    each = upper.shape[1] // channels
    result = np.zeros((channels, each, *geometry.kernel), upper.dtype)
    for image, image_grad in zip(x, upper, strict=True):
        rows = image_grad.reshape(channels, each, math.prod(geometry.out))
        for tap in taps(geometry.kernel):
            seen = np.ascontiguousarray(geometry.seen(image, tap)).reshape(channels, 1, rows.shape[2])
            result[tap_of(tap)] += np.einsum("cfp,cop->cf", rows, seen)
    return result


@convolution_weight_grad.shape_rule
def _weight_grad_rule(
    grad: TensorBase,
    input: TensorBase,
    weight_sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> TensorBase:
    return empty_fake(weight_sizes, None, grad.dtype)


# ------------------------------------------------------------------------------------------ gradient in the input


@kernel_op("convolution", torch=False)
def convolution_input_grad(
    grad: Array, weight: Array, input_sizes: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Array:
    """d loss / d input: every window's gradient added back to where the window was taken from (col2im).

    This is also what is called a transposed convolution of `grad`.
    """
    geometry = Geometry.of(input_sizes, weight.shape, stride, padding, dilation, groups)
    upper, w = _computing(grad), _computing(weight)
    sizes = tuple(input_sizes[2:])
    if geometry.is_pointwise:
        matrix = w.reshape(groups, w.shape[0] // groups, w.shape[1]).swapaxes(1, 2)
        rows = upper.reshape(upper.shape[0], groups, w.shape[0] // groups, math.prod(geometry.out))
        return matmul(matrix, rows).reshape(input_sizes).astype(grad.dtype, copy=False)
    padded = np.zeros((*input_sizes[:2], *(n + 2 * p for n, p in zip(sizes, padding, strict=True))), upper.dtype)
    if groups > 1 and w.shape[1] == 1:
        _add_depthwise(upper, w, padded, geometry)
    else:
        _add_products(upper, w, padded, geometry)
    return np.ascontiguousarray(padded[inside(sizes, padding)]).astype(grad.dtype, copy=False)


def _add_products(upper: Array, w: Array, padded: Array, geometry: Geometry) -> None:
    """padded += the windows' gradients, where the windows lie."""
    groups, channels = geometry.groups, padded.shape[1]
    matrix = w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:])).swapaxes(1, 2)
    for chunk in geometry.chunks(upper.shape[0], channels):
        columns = matmul(matrix, _as_rows(upper[chunk], groups))
        columns = columns.reshape(channels, *geometry.kernel, chunk.stop - chunk.start, *geometry.out)
        for tap in taps(geometry.kernel):
            seen = geometry.seen(padded[chunk], tap)
            seen += columns[tap_of(tap)[1:]].swapaxes(0, 1)


def _add_depthwise(upper: Array, w: Array, padded: Array, geometry: Geometry) -> None:
    channels = padded.shape[1]
    filters = w.reshape(channels, w.shape[0] // channels, *w.shape[2:])
    for image, image_grad in zip(padded, upper, strict=True):
        per_filter = image_grad.reshape(*filters.shape[:2], *geometry.out)
        for tap in taps(geometry.kernel):
            factors = filters[tap_of(tap)].reshape(*filters.shape[:2], *(1,) * len(tap))
            seen = geometry.seen(image, tap)
            seen += (per_filter * factors).sum(1) if filters.shape[1] > 1 else per_filter[:, 0] * factors[:, 0]


@convolution_input_grad.shape_rule
def _input_grad_rule(
    grad: TensorBase,
    weight: TensorBase,
    input_sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> TensorBase:
    return empty_fake(input_sizes, None, grad.dtype)
