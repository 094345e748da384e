"""Pooling: one number for each window.

>>> from minitorch_compile.tensor import arange
>>> max_pool2d(arange(16.0).view(1, 1, 4, 4), 2)
tensor([[[[ 5.,  7.],
          [13., 15.]]]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.declare import composite, kernel_op
from minitorch_compile.tensor.dtype import int64
from minitorch_compile.tensor.op import Array, Tensor
from minitorch_compile.tensor.ops.conv import Pair, output_size, pair, windows
from minitorch_compile.tensor.ops.reduction import mean
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("pooling", torch=False)
def max_pool2d_with_indices(
    input: Array, kernel_size: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> tuple[Array, Array]:
    """The maximum of each window, and where it is as y * width + x in the unpadded image; the first of equals, NaN
    wins."""
    out = _out(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    view = windows(_padded(input, kernel_size, stride, padding, dilation, out), kernel_size, stride, dilation, out)
    values, place = _running_maximum(view)
    rows, columns = np.divmod(np.arange(kernel_size[0] * kernel_size[1]), kernel_size[1])
    y = np.arange(out[0])[:, None] * stride[0] - padding[0] + (rows * dilation[0])[place]
    x = np.arange(out[1]) * stride[1] - padding[1] + (columns * dilation[1])[place]
    # Padding is -inf and never chosen, except over a window of nothing but -inf: there the nearest element is.
    return values, np.maximum(y, 0) * input.shape[3] + np.maximum(x, 0)


def _padded(input: Array, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, out: Pair) -> Array:
    """The image with a border of the lowest value, as wide as the windows reach (ceil_mode may ask for more)."""
    lowest = -np.inf if input.dtype.kind == "f" else np.iinfo(input.dtype).min
    reach = [(o - 1) * s + d * (k - 1) + 1 for o, s, d, k in zip(out, stride, dilation, kernel, strict=True)]
    after = [max(0, r - n - p) for r, n, p in zip(reach, input.shape[2:], padding, strict=True)]
    if not any((*padding, *after)):
        return input
    borders = ((0, 0), (0, 0), (padding[0], after[0]), (padding[1], after[1]))
    return np.pad(input, borders, constant_values=lowest)


def _running_maximum(view: Array) -> tuple[Array, Array]:
    """The maximum over the last two dimensions, and which element it is: the first of equals, a NaN before all.

    Goes from one place in the window to the next, for all windows at once. Later places have higher numbers, so the
    number of the last place that was an improvement is a maximum as well: no branch for each element.
    """
    kernel_height, kernel_width = view.shape[4:]
    numbers = np.uint8 if kernel_height * kernel_width <= 256 else np.uint32
    has_nan = view.dtype.kind == "f" and np.isnan(view).any()
    values = view[..., 0, 0].copy()
    place = np.zeros(values.shape, numbers)
    for number in range(1, kernel_height * kernel_width):
        candidate = view[..., number // kernel_width, number % kernel_width]
        better = candidate > values
        if has_nan:
            better |= np.isnan(candidate) & ~np.isnan(values)
        np.maximum(values, candidate, out=values)
        np.maximum(place, better.view(np.uint8) * numbers(number), out=place)
    return values, place


def _out(sizes: tuple[int, ...], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool) -> Pair:
    height, width = (
        output_size(sizes[2 + i], kernel[i], stride[i], padding[i], dilation[i], ceil_mode) for i in (0, 1)
    )
    return height, width


@max_pool2d_with_indices.shape_rule
def _max_pool_rule(
    input: TensorBase, kernel_size: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> tuple[Any, Any]:
    if len(input.sizes) != 4:
        raise RuntimeError(
            f"max_pool2d: Expected 4D (N, C, H, W) input, got sizes {list(input.sizes)}; unsqueeze(0) adds a batch"
            " dimension"
        )
    if any(2 * p > k for p, k in zip(padding, kernel_size, strict=True)):
        raise RuntimeError(
            f"max_pool2d: padding should be at most half of kernel size, but got padding={padding} and"
            f" kernel_size={kernel_size}"
        )
    out = _out(input.sizes, kernel_size, stride, padding, dilation, ceil_mode)
    if min(out) < 1:
        raise RuntimeError(
            f"max_pool2d: given input size {list(input.sizes)}, the output size {list(out)} is too small for"
            f" kernel_size={kernel_size}"
        )
    sizes = (*input.sizes[:2], *out)
    return empty_fake(sizes, None, input.dtype), empty_fake(sizes, None, int64)


@kernel_op("pooling", torch=False)
def max_pool2d_with_indices_backward(grad: Array, indices: Array, input_sizes: tuple[int, ...]) -> Array:
    """The gradient of max_pool2d: each output gradient goes to the element that was the maximum."""
    planes, area = input_sizes[0] * input_sizes[1], input_sizes[2] * input_sizes[3]
    target = indices.reshape(planes, -1) + np.arange(planes)[:, None] * area
    summed = np.bincount(target.reshape(-1), grad.reshape(-1), minlength=planes * area)
    return summed.astype(grad.dtype).reshape(input_sizes)


@max_pool2d_with_indices_backward.shape_rule
def _max_pool_backward_rule(grad: TensorBase, indices: TensorBase, input_sizes: tuple[int, ...]) -> TensorBase:
    return empty_fake(input_sizes, None, grad.dtype)


@composite(functional=True)
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window; windows lie side by side unless `stride` says otherwise."""
    kernel = pair(kernel_size, "max_pool2d: kernel_size")
    strides = kernel if stride is None else pair(stride, "max_pool2d: stride")
    if min(kernel) < 1 or min(strides) < 1:
        raise RuntimeError(f"max_pool2d: kernel_size and stride must be positive, got {kernel_size} and {stride}")
    paddings, dilations = pair(padding, "max_pool2d: padding"), pair(dilation, "max_pool2d: dilation")
    values, indices = max_pool2d_with_indices(input, kernel, strides, paddings, dilations, ceil_mode)
    return (values, indices) if return_indices else values


@composite(torch=False, functional=True)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Any:
    """The average over equal parts of the image. RuntimeError unless the output size divides the image's."""
    out = pair(output_size, "adaptive_avg_pool2d: output_size")
    n, c, height, width = input.sizes
    if height % out[0] or width % out[1]:
        raise RuntimeError(f"adaptive_avg_pool2d: output_size {out} must divide the image size {(height, width)} here")
    return mean(input.reshape(n, c, out[0], height // out[0], out[1], width // out[1]), (3, 5))
