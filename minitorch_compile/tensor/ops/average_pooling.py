"""Average pooling: the mean of each window.

A window's sum is the sum along one dimension of sums along the others, so the work grows with the sum of the kernel's
sizes, not with their product.

>>> from minitorch_compile.tensor import arange
>>> avg_pool2d(arange(16.0).view(1, 1, 4, 4), 2)
tensor([[[[ 2.5000,  4.5000],
          [10.5000, 12.5000]]]])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.complex_support import refuse_complex
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.memory_format import strides_in, suggested_format
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.ops.pooling_windows import batched_image, check_window, pool_window
from minitorch_compile.tensor.ops.view import squeeze
from minitorch_compile.tensor.ops.windows import Ints, inside, output_sizes, pad_image
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def window_counts(size: int, out: int, kernel: int, stride: int, padding: int, count_include_pad: bool) -> list[int]:
    """How many elements each window along one dimension counts; of the padding, only what lies within `padding`.

    >>> window_counts(4, 3, 3, 2, 1, True), window_counts(4, 3, 3, 2, 1, False)
    ([3, 3, 2], [2, 3, 1])
    """
    counts = []
    for i in range(out):
        start = i * stride - padding
        end = min(start + kernel, size + padding)
        counts.append(end - start if count_include_pad else min(end, size) - max(start, 0))
    return counts


def divisors(
    sizes: Ints,
    kernel: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    override: int | None,
) -> list[list[int]]:
    """What the sum of a window is divided by, as a factor for each dimension and window along it."""
    out = output_sizes(sizes, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
    if override is not None:
        return [[override if d == 0 else 1] * o for d, o in enumerate(out)]
    return [window_counts(*along, count_include_pad) for along in zip(sizes, out, kernel, stride, padding, strict=True)]


def _divisor(factors: list[list[int]]) -> Any:
    """The product of the factors: one number if all windows have the same, else an array of the windows' sizes."""
    if all(len(set(along)) == 1 for along in factors):
        return math.prod(along[0] for along in factors)
    result = np.ones((), np.int64)
    for along in factors:
        result = result[..., None] * np.asarray(along)
    return result


@kernel_op("pooling", torch=False)
def avg_pool(
    input: Array,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """The mean of each window of images (N, C, *sizes)."""
    sizes = input.shape[2:]
    factors = divisors(sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    total = pad_image(_summed_in(input), padding, _after(sizes, factors, kernel_size, stride, padding))
    for d, (k, s, o) in enumerate(zip(kernel_size, stride, map(len, factors), strict=True)):
        parts = [total[_along(2 + d, np.s_[i : i + s * (o - 1) + 1 : s])] for i in range(k)]
        total = _sum_of(parts)
    if input.dtype.kind in "iu":  # as in C, the quotient is rounded towards zero
        return np.trunc(total / _divisor(factors)).astype(input.dtype)
    return (total / np.asarray(_divisor(factors), total.dtype)).astype(input.dtype, copy=False)


def _sum_of(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    total = parts[0] + parts[1]
    for part in parts[2:]:
        total += part
    return total


def _summed_in(x: Array) -> Array:
    """Half precision is summed in single."""
    return x.astype(np.float32) if x.dtype.itemsize < 4 and x.dtype.kind not in "iu" else x


def _after(sizes: Ints, factors: list[list[int]], kernel: Ints, stride: Ints, padding: Ints) -> Ints:
    """How much to pad behind, so that the last window along each dimension has all its elements."""
    return tuple(
        max(0, (len(along) - 1) * s + k - n - p)
        for along, n, k, s, p in zip(factors, sizes, kernel, stride, padding, strict=True)
    )


def _along(dim: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * dim, part)


@avg_pool.shape_rule
def _avg_pool_rule(
    input: TensorBase,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> TensorBase:
    name = f"avg_pool{len(kernel_size)}d"
    refuse_complex(name, input.dtype)
    if input.dtype is bool_:
        raise NotImplementedError(f"{name}: not implemented for 'Bool'; convert the input with .float()")
    out = output_sizes(input.sizes[2:], kernel_size, stride, padding, (1,) * len(kernel_size), ceil_mode)
    if any(n < 1 for n in out):
        raise RuntimeError(
            f"{name}: Given input size: {list(input.sizes[1:])}. Calculated output size:"
            f" {[input.sizes[1], *out]}. Output size is too small"
        )
    sizes = (*input.sizes[:2], *out)
    return empty_fake(sizes, strides_in(suggested_format(input.sizes, input.strides), sizes), input.dtype)


@kernel_op("pooling", torch=False)
def avg_pool_backward(
    grad: Array,
    input_sizes: Ints,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """The gradient of avg_pool: each element gets its share of the gradients of the windows it is in."""
    sizes = tuple(input_sizes[2:])
    factors = divisors(sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    upper = _summed_in(grad)
    share = upper / np.asarray(_divisor(factors), upper.dtype)
    after = _after(sizes, factors, kernel_size, stride, padding)
    for d in reversed(range(len(sizes))):
        length = padding[d] + sizes[d] + after[d]
        spread = np.zeros((*share.shape[: 2 + d], length, *share.shape[3 + d :]), upper.dtype)
        for i in range(kernel_size[d]):
            spread[_along(2 + d, np.s_[i : i + stride[d] * (len(factors[d]) - 1) + 1 : stride[d]])] += share
        share = spread
    return np.ascontiguousarray(share[inside(sizes, padding)]).astype(grad.dtype, copy=False)


@avg_pool_backward.shape_rule
def _avg_pool_backward_rule(
    grad: TensorBase,
    input_sizes: Ints,
    kernel_size: Ints,
    stride: Ints,
    padding: Ints,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> TensorBase:
    return empty_fake(input_sizes, None, grad.dtype)


# ------------------------------------------------------------------------------------------ as models call it


def _pooled(
    name: str,
    ndim: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    kernel, strides, paddings, dilations = pool_window(name, ndim, kernel_size, stride, padding)
    check_window(name, kernel, strides, paddings, dilations)
    if divisor_override == 0:
        raise RuntimeError(f"{name}: divisor must be not zero; divisor_override=None divides by the window's size")
    x, batched = batched_image(name, ndim, input, IndexError if ndim == 2 else RuntimeError)
    result = avg_pool(x, kernel, strides, paddings, bool(ceil_mode), bool(count_include_pad), divisor_override)
    return result if batched else squeeze(result, 0)


@composite(functional=True)
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of (N, C, L) or (C, L); windows lie side by side unless `stride` says otherwise.

    `count_include_pad=False` leaves the padding out of the mean.
    """
    return _pooled("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@composite(torch=False, functional=True)
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of (N, C, H, W) or (C, H, W); `divisor_override` divides the sum instead of its size.

    `kernel_size`, `stride` (the kernel's unless given), `padding` (of zeros): a number, or one each for height and
    width. `ceil_mode`: a last window that reaches over the border counts, too. `count_include_pad`: padding counts in
    the mean.

    >>> torch.nn.functional.avg_pool2d(torch.arange(16.0).view(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    return _pooled("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@composite(torch=False, functional=True)
def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W); see avg_pool2d."""
    return _pooled("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
