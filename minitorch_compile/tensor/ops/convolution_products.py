"""Convolution in any number of dimensions, and the two products that are its gradients.

All three are matrix products over the *windows* of the padded input. They are copied out into a matrix, `columns`, with
a row for each channel and tap and a column for each window (im2col); a few images at a time, so that the matrix stays
in cache.

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

from minitorch_compile.tensor.cpu.blas import matmul
from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.memory_format import contiguous_format, strides_in, suggested_format
from minitorch_compile.tensor.ops.windows import Ints, inside, output_sizes, pad_image, seen_at, taps, windows
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

    @property
    def reach(self) -> Ints:
        """From the first tap to the last."""
        return tuple(d * (k - 1) for d, k in zip(self.dilation, self.kernel, strict=True))

    def slides_back(self, filters: int, channels: int) -> bool:
        """Whether the gradient in the input is best computed as a convolution: columns of gradients are no larger."""
        fits = all(s == 1 and r >= p for s, r, p in zip(self.stride, self.reach, self.padding, strict=True))
        return fits and filters <= channels

    def chunks(self, images: int, channels: int) -> Iterator[slice]:
        """Slices of the batch whose unfolded images together have about CHUNK elements."""
        each = channels * math.prod(self.kernel) * math.prod(self.out)
        step = max(1, CHUNK // max(each, 1))
        return (slice(first, min(first + step, images)) for first in range(0, images, step))

    def columns(self, padded: Array) -> Array:
        """The windows of a few images as a matrix for each group: (groups, channels * taps, images * windows)."""
        if self.is_pointwise:
            return _as_rows(padded, self.groups)
        n, channels, d = *padded.shape[:2], len(self.kernel)
        rows = channels // self.groups * math.prod(self.kernel)
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
    if any(n < 1 for n in out):
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
    result = np.zeros((groups, weight_sizes[0] // groups, math.prod(weight_sizes[1:])), upper.dtype)
    for chunk in geometry.chunks(x.shape[0], x.shape[1]):
        columns = geometry.columns(x[chunk])
        result += matmul(_as_rows(upper[chunk], groups), columns.swapaxes(1, 2))
    return result.reshape(weight_sizes).astype(grad.dtype, copy=False)


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
    return empty_fake(weight_sizes, _memory_order(tuple(weight_sizes), grad, input), grad.dtype)


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
    if geometry.is_pointwise or geometry.slides_back(w.shape[0], input_sizes[1]):
        result = _slid_back(upper, w, geometry, tuple(input_sizes[2:]))
    else:
        result = _added_up(upper, w, geometry, input_sizes)
    return result.astype(grad.dtype, copy=False)


def _slid_back(upper: Array, w: Array, geometry: Geometry, sizes: Ints) -> Array:
    """With stride 1, an input element meets the flipped kernel as it slides over the gradients: a convolution."""
    groups, ndim = geometry.groups, len(sizes)
    flipped = np.flip(w, tuple(range(2, 2 + ndim))).reshape(groups, w.shape[0] // groups, *w.shape[1:])
    swapped = flipped.swapaxes(1, 2).reshape(w.shape[1] * groups, w.shape[0] // groups, *w.shape[2:])
    border = tuple(r - p for r, p in zip(geometry.reach, geometry.padding, strict=True))
    back = geometry._replace(padding=(0,) * ndim, out=sizes)
    return _by_matrices(pad_image(upper, border), np.ascontiguousarray(swapped), back)


def _added_up(upper: Array, w: Array, geometry: Geometry, input_sizes: Ints) -> Array:
    """Columns of gradients, each added back to where its window was."""
    groups, (n, channels), sizes = geometry.groups, input_sizes[:2], input_sizes[2:]
    padded = np.zeros((n, channels, *(s + 2 * p for s, p in zip(sizes, geometry.padding, strict=True))), upper.dtype)
    filters, count = w.shape[0] // groups, math.prod(geometry.kernel)
    matrix = w.reshape(groups, filters, w.shape[1] * count).swapaxes(1, 2)
    for chunk in geometry.chunks(n, channels):
        rows = _as_rows(upper[chunk], groups)
        if filters > 1:
            columns = matmul(matrix, rows).reshape(channels, count, rows.shape[2])
        for number, tap in enumerate(taps(geometry.kernel)):
            # With one filter there is nothing to sum over, and no need for all columns at once.
            part = columns[:, number] if filters > 1 else matrix[:, number::count] * rows
            seen = geometry.seen(padded[chunk], tap)
            seen += part.reshape(channels, chunk.stop - chunk.start, *geometry.out).swapaxes(0, 1)
    return np.ascontiguousarray(padded[inside(sizes, geometry.padding)])


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
    return empty_fake(input_sizes, _memory_order(tuple(input_sizes), grad, weight), grad.dtype)
