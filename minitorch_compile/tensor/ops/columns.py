"""Sliding blocks of an image as columns of a matrix, and the way back, where overlapping blocks are added.

The two are each other's transposed, so each is the other's derivative.

>>> from minitorch_compile.tensor import arange
>>> columns = im2col(arange(6.0).view(1, 1, 2, 3), (2, 2), (1, 1), (0, 0), (1, 1))
>>> columns, col2im(columns, (2, 3), (2, 2), (1, 1), (0, 0), (1, 1))
(tensor([[[0., 1.],
         [1., 2.],
         [3., 4.],
         [4., 5.]]]), tensor([[[[0., 2., 2.],
          [3., 8., 5.]]]]))
"""

from __future__ import annotations

import math

import numpy as np

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.ops.windows import Ints, inside, output_sizes, pad_image, seen_at, tap_of, taps, windows
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("convolution", torch=False)
def im2col(input: Array, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    """(N, C, *sizes) -> (N, C * taps, blocks): a column for each block that the kernel meets."""
    out = output_sizes(input.shape[2:], kernel_size, stride, padding, dilation)
    view = windows(pad_image(input, padding), kernel_size, stride, dilation, out)
    d = len(kernel_size)
    columns = view.transpose(0, 1, *range(2 + d, 2 + 2 * d), *range(2, 2 + d))
    return columns.reshape(input.shape[0], input.shape[1] * math.prod(kernel_size), math.prod(out))


@im2col.shape_rule
def _im2col_rule(input: TensorBase, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> TensorBase:
    out = output_sizes(input.sizes[2:], kernel_size, stride, padding, dilation)
    if any(n < 1 for n in out):
        raise RuntimeError(
            f"unfold: Given input with spatial size {list(input.sizes[2:])}, kernel_size={kernel_size},"
            f" dilation={dilation}, padding={padding}, calculated shape of the array of sliding blocks as {out}, but"
            " its components must be at least one."
        )
    sizes = (input.sizes[0], input.sizes[1] * math.prod(kernel_size), math.prod(out))
    return empty_fake(sizes, None, input.dtype)


@kernel_op("convolution", torch=False)
def col2im(input: Array, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Array:
    """(N, C * taps, blocks) -> (N, C, *output_size): every block added where the kernel met it."""
    out = output_sizes(output_size, kernel_size, stride, padding, dilation)
    channels = input.shape[1] // math.prod(kernel_size)
    columns = input.reshape(input.shape[0], channels, *kernel_size, *out)
    sizes = [n + 2 * p for n, p in zip(output_size, padding, strict=True)]
    padded = np.zeros((input.shape[0], channels, *sizes), input.dtype)
    for tap in taps(kernel_size):
        seen = seen_at(tap, padded, stride, dilation, out)
        seen += columns[tap_of(tap)]
    return np.ascontiguousarray(padded[inside(output_size, padding)])


@col2im.shape_rule
def _col2im_rule(
    input: TensorBase, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> TensorBase:
    count = math.prod(kernel_size)
    if input.sizes[1] % count:
        raise RuntimeError(
            "fold: Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got"
            f" input.size(1)={input.sizes[1]} and kernel_size={kernel_size}."
        )
    out = output_sizes(output_size, kernel_size, stride, padding, dilation)
    if math.prod(out) != input.sizes[2] or any(n < 1 for n in out):
        raise RuntimeError(
            f"fold: Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding},"
            f" stride={stride}, expected size of input's dimension 2 to match the calculated number of sliding blocks"
            f" {' * '.join(map(str, out))} = {math.prod(out)}, but got input.size(2)={input.sizes[2]}."
        )
    return empty_fake((input.sizes[0], input.sizes[1] // count, *output_size), None, input.dtype)
