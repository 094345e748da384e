"""Two-dimensional convolution and the two products that are its gradients.

All three are one matrix product over the *windows* of the padded input, which `as_strided` shows without copying
(im2col): window (y, x) of channel c holds the input elements that the kernel meets there.

>>> from minitorch_compile.tensor import ones
>>> conv2d(ones(1, 1, 3, 3), ones(1, 1, 2, 2))
tensor([[[[4., 4.],
          [4., 4.]]]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.blas import matmul
from minitorch_compile.tensor.declare import composite, kernel_op
from minitorch_compile.tensor.op import Array, Tensor
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Pair = tuple[int, int]


def pair(value: int | tuple[int, ...], name: str) -> Pair:
    """One int for both directions, or two. TypeError for others."""
    if isinstance(value, int):
        return value, value
    pair_ = tuple(value)
    if len(pair_) != 2 or not all(isinstance(v, int) for v in pair_):
        raise TypeError(f"{name} must be an int or a pair of ints, got {value!r}")
    return pair_


def output_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool = False) -> int:
    """How many windows of a (dilated) kernel fit along one padded dimension."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = -(-room // stride) + 1 if ceil_mode else room // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1  # the last window would start in the padding
    return count


def windows(padded: Array, kernel: Pair, stride: Pair, dilation: Pair, out: Pair) -> Array:
    """A view (N, C, out_h, out_w, kernel_h, kernel_w) of an image (N, C, H, W)."""
    n, c, h, w = padded.strides
    shape = (*padded.shape[:2], *out, *kernel)
    return np.lib.stride_tricks.as_strided(
        padded, shape, (n, c, h * stride[0], w * stride[1], h * dilation[0], w * dilation[1])
    )


def pad_image(x: Array, padding: Pair, value: float = 0) -> Array:
    """Rows and columns of `value` on each side."""
    if padding == (0, 0):
        return x
    return np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=value)


@kernel_op("convolution", torch=False)
def convolution(
    input: Array, weight: Array, bias: Array | None, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """input (N, C_in, H, W), weight (C_out, C_in / groups, kernel_h, kernel_w) -> (N, C_out, out_h, out_w)."""
    columns, out = _columns(input, weight.shape, stride, padding, dilation, groups)
    matrix = weight.reshape(groups, weight.shape[0] // groups, -1)
    result = matmul(matrix, columns).reshape(input.shape[0], weight.shape[0], *out)
    return result if bias is None else result + bias[:, None, None]


def _columns(
    x: Array, weight_sizes: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> tuple[Array, Pair]:
    """The windows as matrices (N, groups, C_in / groups * kernel_h * kernel_w, out_h * out_w)."""
    kernel = (weight_sizes[2], weight_sizes[3])
    out = _out_sizes(x.shape, kernel, stride, padding, dilation)
    view = windows(pad_image(x, padding), kernel, stride, dilation, out).transpose(0, 1, 4, 5, 2, 3)
    return view.reshape(x.shape[0], groups, -1, out[0] * out[1]) if view.size else np.zeros(
        (x.shape[0], groups, weight_sizes[1] * kernel[0] * kernel[1], out[0] * out[1]), x.dtype
    ), out


def _out_sizes(sizes: tuple[int, ...], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    return (
        output_size(sizes[2], kernel[0], stride[0], padding[0], dilation[0]),
        output_size(sizes[3], kernel[1], stride[1], padding[1], dilation[1]),
    )


@convolution.shape_rule
def _convolution_rule(
    input: TensorBase,
    weight: TensorBase,
    bias: TensorBase | None,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> TensorBase:
    if len(input.sizes) != 4 or len(weight.sizes) != 4:
        raise RuntimeError(
            f"conv2d: expected 4D input and weight, got input {list(input.sizes)} and weight {list(weight.sizes)}"
        )
    if groups < 1 or weight.sizes[0] % groups or input.sizes[1] != weight.sizes[1] * groups:
        raise RuntimeError(
            f"conv2d: given groups={groups} and weight of size {list(weight.sizes)}, expected"
            f" input{list(input.sizes)} to have"
            f" {weight.sizes[1] * groups} channels, but got {input.sizes[1]} channels instead"
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"conv2d: Input type ({input.dtype}) and weight type ({weight.dtype}) should be the same")
    if bias is not None and tuple(bias.sizes) != (weight.sizes[0],):
        raise RuntimeError(
            f"conv2d: expected bias to be 1-dimensional with {weight.sizes[0]} elements, but got bias of size"
            f" {list(bias.sizes)}"
        )
    out = _out_sizes(input.sizes, weight.sizes[2:], stride, padding, dilation)
    if min(out) < 1:
        raise RuntimeError(
            f"conv2d: kernel size {list(weight.sizes[2:])} can't be greater than the padded input size"
            f" {list(input.sizes[2:])} + 2 * {list(padding)}"
        )
    return empty_fake((input.sizes[0], weight.sizes[0], *out), None, input.dtype)


@kernel_op("convolution", torch=False)
def convolution_weight_grad(
    grad: Array, input: Array, weight_sizes: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """d loss / d weight: each output gradient times the window it came from, summed over images and places."""
    columns, _ = _columns(input, weight_sizes, stride, padding, dilation, groups)
    rows = grad.reshape(grad.shape[0], groups, weight_sizes[0] // groups, grad.shape[2] * grad.shape[3])
    return matmul(rows, columns.swapaxes(-1, -2)).sum(0).reshape(weight_sizes)


@convolution_weight_grad.shape_rule
def _weight_grad_rule(
    grad: TensorBase,
    input: TensorBase,
    weight_sizes: tuple[int, ...],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> TensorBase:
    return empty_fake(weight_sizes, None, grad.dtype)


@kernel_op("convolution", torch=False)
def convolution_input_grad(
    grad: Array, weight: Array, input_sizes: tuple[int, ...], stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """d loss / d input: every window's gradient added back to where the window was taken from (col2im)."""
    n, channels, height, width = input_sizes
    matrix = weight.reshape(groups, weight.shape[0] // groups, -1)
    columns = matmul(
        matrix.swapaxes(-1, -2), grad.reshape(n, groups, weight.shape[0] // groups, grad.shape[2] * grad.shape[3])
    )
    columns = columns.reshape(n, channels, weight.shape[2], weight.shape[3], grad.shape[2], grad.shape[3])
    padded = np.zeros((n, channels, height + 2 * padding[0], width + 2 * padding[1]), grad.dtype)
    for y in range(weight.shape[2]):
        for x in range(weight.shape[3]):
            top, left = y * dilation[0], x * dilation[1]
            bottom, right = top + stride[0] * (grad.shape[2] - 1) + 1, left + stride[1] * (grad.shape[3] - 1) + 1
            padded[:, :, top : bottom : stride[0], left : right : stride[1]] += columns[:, :, y, x]
    return np.ascontiguousarray(padded[:, :, padding[0] : padding[0] + height, padding[1] : padding[1] + width])


@convolution_input_grad.shape_rule
def _input_grad_rule(
    grad: TensorBase,
    weight: TensorBase,
    input_sizes: tuple[int, ...],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> TensorBase:
    return empty_fake(input_sizes, None, grad.dtype)


@composite(functional=True)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """2-d convolution. `padding` may be "valid" (none) or "same" (output as large as the input, for stride 1 and
    odd kernels)."""
    strides, dilations = pair(stride, "conv2d: stride"), pair(dilation, "conv2d: dilation")
    if padding == "same":
        if strides != (1, 1) or any(d * (k - 1) % 2 for d, k in zip(dilations, weight.sizes[2:], strict=True)):
            raise RuntimeError("conv2d: padding='same' needs stride 1 and an odd kernel here; pad the input explicitly")
        padding = tuple(d * (k - 1) // 2 for d, k in zip(dilations, weight.sizes[2:], strict=True))
    paddings = (0, 0) if padding == "valid" else pair(padding, "conv2d: padding")
    if min(strides) < 1 or min(dilations) < 1 or min(paddings) < 0:
        raise RuntimeError(
            f"conv2d: stride and dilation must be positive and padding non-negative, got {stride}, {dilation},"
            f" {padding}"
        )
    return convolution(input, weight, bias, strides, paddings, dilations, groups)
