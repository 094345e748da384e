"""Pooling as nn.functional has it: maxima with or without their places, power means, and the way back from maxima.

>>> from minitorch_compile import arange
>>> x = arange(4.0).view(1, 1, 2, 2)
>>> values, places = max_pool2d(x, 2, return_indices=True)
>>> values, places, max_unpool2d(values, places, 2)
(tensor([[[[3.]]]]), tensor([[[[3]]]]), tensor([[[[0., 0.],
          [0., 3.]]]]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.ops.pooling_windows import batched_image, pool_window

Ints = tuple[int, ...]


# ------------------------------------------------------------------------------------------ maxima


@functional()
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of (N, C, L) or (C, L); with its place if `return_indices`."""
    found = ops.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


@functional()
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of (N, C, H, W) or (C, H, W); with its place y * W + x if `return_indices`.

    `kernel_size`, `stride` (the kernel's unless given), `padding` (of -inf), `dilation`: a number, or one each for
    height and width. `ceil_mode`: a last window that reaches over the border counts, too.

    >>> torch.nn.functional.max_pool2d(torch.arange(16.0).view(1, 4, 4), 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    found = ops.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


@functional()
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The maximum of each window of (N, C, D, H, W) or (C, D, H, W); with its place if `return_indices`."""
    found = ops.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


@functional()
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """max_pool1d and the places of the maxima, whatever `return_indices` says."""
    return ops.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


@functional()
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """max_pool2d and the places of the maxima, whatever `return_indices` says."""
    return ops.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


@functional()
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """max_pool3d and the places of the maxima, whatever `return_indices` says."""
    return ops.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


@functional()
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of `output_size` parts of (N, C, L) or (C, L); with their places if `return_indices`."""
    found = ops.adaptive_max_pool1d(input, output_size)
    return found if return_indices else found[0]


@functional()
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of `output_size` parts of (N, C, H, W) or (C, H, W); with their places if `return_indices`."""
    found = ops.adaptive_max_pool2d(input, output_size)
    return found if return_indices else found[0]


@functional()
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maxima of `output_size` parts of (N, C, D, H, W) or (C, D, H, W); with their places if `return_indices`."""
    found = ops.adaptive_max_pool3d(input, output_size)
    return found if return_indices else found[0]


# ------------------------------------------------------------------------------------------ back from maxima


@functional()
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """The way back from max_pool1d: each value at its place, zeros elsewhere."""
    return _unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


@functional()
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """The way back from max_pool2d: each value at its place, zeros elsewhere.

    `output_size` chooses among the sizes that max_pool2d reduces to this one; it may include batch and channels.
    """
    return _unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


@functional()
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """The way back from max_pool3d: each value at its place, zeros elsewhere."""
    return _unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)


def _unpool(
    name: str, ndim: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Any:
    kernel, strides, paddings, _ = pool_window(name, ndim, kernel_size, stride, padding)
    values, batched = batched_image(name, ndim, input)
    if indices.dtype is not int64:
        raise RuntimeError(f"{name}: elements in indices should be type int64 but got: {indices.dtype}")
    if indices.sizes != input.sizes:
        raise RuntimeError(
            f"{name}: Expected shape of indices to be same as that of the input tensor ({list(input.sizes)}) but got"
            f" indices tensor with shape: {list(indices.sizes)}"
        )
    sizes = _unpooled_sizes(tuple(values.sizes[2:]), kernel, strides, paddings, output_size)
    planes, area = values.sizes[0] * values.sizes[1], math.prod(sizes)
    places = indices.reshape(planes, math.prod(values.sizes[2:]))
    if not places.is_fake and places.numel() and not (0 <= int(places.min()) and int(places.max()) < area):
        raise RuntimeError(
            f"{name}: Found an invalid max index: {int(places.max())} (output volumes are of size {list(sizes)})"
        )
    empty = ops.zeros((planes, area), dtype=input.dtype, device=input.device)
    rows = ops.unsqueeze(ops.arange(planes, device=input.device), 1)
    filled = ops.index_put(empty, [rows, places], values.reshape(planes, math.prod(values.sizes[2:])))
    result = filled.reshape(*values.sizes[:2], *sizes)
    return result if batched else result.squeeze(0)


def _unpooled_sizes(sizes: Ints, kernel: Ints, stride: Ints, padding: Ints, asked: Sequence[int] | None) -> Ints:
    """The sizes that a pooling had before; ValueError if those asked for are too far from the smallest of them."""
    least = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(sizes, kernel, stride, padding, strict=True)]
    if asked is None:
        return tuple(least)
    given = tuple(asked)[2:] if len(asked) == len(sizes) + 2 else tuple(asked)
    if len(given) != len(sizes):
        raise ValueError(
            f"output_size should be a sequence containing {len(sizes)} or {len(sizes) + 2} elements, but it has a"
            f" length of '{len(given)}'"
        )
    for d, (n, smallest, s) in enumerate(zip(given, least, stride, strict=True)):
        if not smallest - s < n < smallest + s:
            raise ValueError(
                f'invalid output_size "{given}" (dim {d} must be between {smallest - s} and {smallest + s})'
            )
    return given


# ------------------------------------------------------------------------------------------ power means


def _power_sum(
    ndim: int,
    average: Callable[..., Any],
    input: Any,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
) -> Any:
    kernel, strides, _, _ = pool_window(f"lp_pool{ndim}d", ndim, kernel_size, stride, 0)
    means = average(ops.pow(input, norm_type), kernel, strides, 0, ceil_mode)
    positive = ops.sign(means) * ops.relu(ops.abs(means))
    return ops.pow(positive * math.prod(kernel), 1.0 / norm_type)


@functional()
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(the sum of x^p over each window)^(1/p), for p = `norm_type`."""
    return _power_sum(1, ops.avg_pool1d, input, norm_type, kernel_size, stride, ceil_mode)


@functional()
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(the sum of x^p over each window)^(1/p), for p = `norm_type`."""
    return _power_sum(2, ops.avg_pool2d, input, norm_type, kernel_size, stride, ceil_mode)


@functional()
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """(the sum of x^p over each window)^(1/p), for p = `norm_type`."""
    return _power_sum(3, ops.avg_pool3d, input, norm_type, kernel_size, stride, ceil_mode)
