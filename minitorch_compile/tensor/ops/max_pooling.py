"""Maximum pooling: the largest element of each window, and where it is.

A place is the element's number in its own image (y * width + x), counted without padding.

>>> from minitorch_compile.tensor import arange
>>> max_pool2d(arange(16.0).view(1, 1, 4, 4), 2)
tensor([[[[ 5.,  7.],
          [13., 15.]]]])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.complex_support import refuse_complex
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.memory_format import strides_in, suggested_format
from minitorch_compile.tensor.numerics.dtype import bool_, int64
from minitorch_compile.tensor.ops.pooling_windows import batched_image, check_window, pool_window
from minitorch_compile.tensor.ops.view import squeeze
from minitorch_compile.tensor.ops.windows import Ints, output_sizes, pad_image, seen_at, taps
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

FEW_TAPS = 25  # up to here, looking at all taps of a window at once is faster


@kernel_op("pooling", torch=False)
def max_pool_with_indices(
    input: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Array, Array]:
    """The maximum of each window of images (N, C, *sizes), and its place; the first of equals, the last NaN."""
    sizes = input.shape[2:]
    out = output_sizes(sizes, kernel_size, stride, padding, dilation, ceil_mode)
    padded = _padded(input, kernel_size, stride, padding, dilation, out)
    search = _all_taps if math.prod(kernel_size) <= FEW_TAPS else _dimension_by_dimension
    values, taps_along = search(padded, kernel_size, stride, dilation, out)
    return values, _places(taps_along, sizes, stride, padding, dilation)


def _padded(input: Array, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Array:
    """The image with a border of the lowest value, as wide as the windows reach (ceil_mode may ask for more)."""
    lowest = np.iinfo(input.dtype).min if input.dtype.kind in "iu" else -np.inf
    reach = [(o - 1) * s + d * (k - 1) + 1 for o, s, d, k in zip(out, stride, dilation, kernel, strict=True)]
    after = tuple(max(0, r - n - p) for r, n, p in zip(reach, input.shape[2:], padding, strict=True))
    return pad_image(input, padding, after, lowest)


def _running_maximum(padded: Array, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> tuple[Array, Array]:
    """The maximum of each window, and the number of the tap that sees it: the first of equals, the last NaN.

    Goes from one tap to the next, for all windows at once. Later taps have higher numbers, so the number of the last
    tap that was an improvement is a maximum as well: no branch for each element.
    """
    numbers = np.uint8 if math.prod(kernel) <= 256 else np.uint32
    has_nan = padded.dtype.kind not in "iu" and bool(np.isnan(padded).any())
    views = (seen_at(tap, padded, stride, dilation, out) for tap in taps(kernel))
    values = next(views).copy(order="C")
    place = np.zeros(values.shape, numbers)
    for number, candidate in enumerate(views, 1):
        better = candidate > values
        if has_nan:
            better |= np.isnan(candidate)
        np.maximum(values, candidate, out=values)
        np.maximum(place, better.view(np.uint8) * numbers(number), out=place)
    return values, place


def _all_taps(padded: Array, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> tuple[Array, list[Array]]:
    """Maxima, and for each dimension which of the kernel's taps along it sees them."""
    values, tap = _running_maximum(padded, kernel, stride, dilation, out)
    return values, [along[tap] for along in np.unravel_index(np.arange(math.prod(kernel)), kernel)]


def _dimension_by_dimension(
    padded: Array, kernel: Ints, stride: Ints, dilation: Ints, out: Ints
) -> tuple[Array, list[Array]]:
    """The same for large kernels: the maxima of rows, then of columns of these, ... so that the work grows with the sum
    of the kernel's sizes, not with their product."""
    values, found = padded, list[Array]()
    for d in reversed(range(len(kernel))):
        before, after = (1,) * d, (1,) * (len(kernel) - 1 - d)
        k, s, step = ((*before, n[d], *after) for n in (kernel, stride, dilation))
        sizes = (*values.shape[2 : 2 + d], out[d], *values.shape[3 + d :])
        values, tap = _running_maximum(values, k, s, step, sizes)
        steps = np.arange(out[d]).reshape(-1, *(1,) * (len(kernel) - 1 - d)) * stride[d]
        chosen = steps + tap.astype(np.int64) * dilation[d]
        found = [tap, *(np.take_along_axis(inner, chosen, 2 + d) for inner in found)]
    return values, found


def _places(taps_along: list[Array], sizes: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Array:
    """The taps of the maxima as places in the image.

    Padding is -inf and never chosen, except over a window of nothing but -inf: there its first element inside is.
    """
    ndim = len(sizes)
    place = np.zeros((1,) * (2 + ndim), np.int64)
    for d, (size, tap) in enumerate(zip(sizes, taps_along, strict=True)):
        first = np.arange(tap.shape[2 + d]) * stride[d] - padding[d]
        coordinate = first.reshape(-1, *(1,) * (ndim - 1 - d)) + tap.astype(np.int64) * dilation[d]
        if padding[d]:
            coordinate = np.where(coordinate < 0, coordinate % dilation[d], coordinate)
        place = place * size + coordinate
    return place


@max_pool_with_indices.shape_rule
def _max_pool_rule(
    input: TensorBase, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Any, Any]:
    name = f"max_pool{len(kernel_size)}d"
    refuse_complex(name, input.dtype)
    if input.dtype is bool_:
        raise NotImplementedError(f"{name}: not implemented for 'Bool'; convert the input with .float()")
    out = output_sizes(input.sizes[2:], kernel_size, stride, padding, dilation, ceil_mode)
    if any(n < 1 for n in out):
        raise RuntimeError(
            f"{name}: Given input size: {list(input.sizes[1:])}. Calculated output size:"
            f" {[input.sizes[1], *out]}. Output size is too small"
        )
    _check_something_inside(name, input.sizes[2:], kernel_size, stride, padding, dilation)
    sizes = (*input.sizes[:2], *out)
    strides = strides_in(suggested_format(input.sizes, input.strides), sizes)
    return empty_fake(sizes, strides, input.dtype), empty_fake(sizes, strides, int64)


def _check_something_inside(name: str, sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> None:
    """RuntimeError if all taps of a dilated window fall into the padding: it has no maximum."""
    for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        if d > 1 and any(start % d >= min(n, start + (k - 1) * d + 1) for start in range(-p, 0, s)):
            raise RuntimeError(
                f"{name}: a window sees nothing but padding: kernel_size={kernel}, padding={padding},"
                f" dilation={dilation} over input sizes {list(sizes)}; use less padding or dilation"
            )


@kernel_op("pooling", torch=False)
def max_pool_with_indices_backward(grad: Array, indices: Array, input_sizes: Ints) -> Array:
    """The gradient of max_pool: each output gradient goes to the element that was the maximum."""
    planes, area = input_sizes[0] * input_sizes[1], math.prod(input_sizes[2:])
    target = indices.reshape(planes, math.prod(indices.shape[2:])) + np.arange(planes)[:, None] * area
    summed = np.bincount(target.reshape(-1), grad.reshape(-1), minlength=planes * area)
    return summed.astype(grad.dtype).reshape(input_sizes)


@max_pool_with_indices_backward.shape_rule
def _max_pool_backward_rule(grad: TensorBase, indices: TensorBase, input_sizes: Ints) -> TensorBase:
    return empty_fake(input_sizes, None, grad.dtype)


# ------------------------------------------------------------------------------------------ as models call it


def _pooled(
    name: str, ndim: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    kernel, strides, paddings, dilations = pool_window(name, ndim, kernel_size, stride, padding, dilation)
    check_window(name, kernel, strides, paddings, dilations)
    x, batched = batched_image(name, ndim, input)
    values, indices = max_pool_with_indices(x, kernel, strides, paddings, dilations, bool(ceil_mode))
    return (values, indices) if batched else (squeeze(values, 0), squeeze(indices, 0))


@composite()
def max_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """The maximum of each window of (N, C, L) or (C, L); windows lie side by side unless `stride` says otherwise."""
    return _pooled("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode)[0]


@composite()
def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """The maximum of each window of (N, C, H, W) or (C, H, W); see max_pool1d."""
    return _pooled("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)[0]


@composite()
def max_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """The maximum of each window of (N, C, D, H, W) or (C, D, H, W); see max_pool1d."""
    return _pooled("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)[0]


@composite()
def max_pool1d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """max_pool1d, and the place of each maximum."""
    return _pooled("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode)


@composite(torch=False)
def max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """max_pool2d, and the place of each maximum."""
    return _pooled("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode)


@composite(torch=False)
def max_pool3d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    """max_pool3d, and the place of each maximum."""
    return _pooled("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode)
