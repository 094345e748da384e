"""Convolutions of volumes as convolutions of images, on arrays.

For each depth of the result, the slices that the kernel meets there are stacked as further channels of one image:
(N, C, D, H, W) becomes (N * depths, C * kernel's depth, H, W). Compiled graphs do the same
(`prims/decompositions/convolution.py`).

>>> depth_back(depth_into_batch(np.ones((2, 3, 4, 5, 6))), 2).shape
(2, 3, 4, 5, 6)
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.tensor.ops.windows import inside, output_size, pad_image, windows

Array = np.ndarray
Ints = tuple[int, ...]
Along = tuple[int, int, int]  # stride, padding and dilation of the depth


def depths_of(depth: int, kernel: int, along: Along) -> int:
    """How deep the result is."""
    stride, padding, dilation = along
    return output_size(depth, kernel, stride, padding, dilation)


def slices(x: Array, kernel: int, along: Along) -> Array:
    """The images of all depths of the result."""
    stride, padding, dilation = along
    n, channels, depth, height, width = x.shape
    depths = depths_of(depth, kernel, along)
    padded = pad_image(x, (padding, 0, 0))
    seen = windows(padded, (kernel, 1, 1), (stride, 1, 1), (dilation, 1, 1), (depths, height, width))[..., 0, 0]
    return seen.transpose(0, 2, 1, 5, 3, 4).reshape(n * depths, channels * kernel, height, width)


def unsliced(images: Array, sizes: Ints, kernel: int, along: Along) -> Array:
    """The gradient of volumes of these sizes from that of their `slices`: added up where these were."""
    stride, padding, dilation = along
    n, channels, depth, height, width = sizes
    depths = depths_of(depth, kernel, along)
    parts = images.reshape(n, depths, channels, kernel, height, width).swapaxes(1, 2)
    padded = np.zeros((n, channels, depth + 2 * padding, height, width), images.dtype)
    for k in range(kernel):
        first = k * dilation
        padded[:, :, first : first + (depths - 1) * stride + 1 : stride] += parts[:, :, :, k]
    return np.ascontiguousarray(padded[inside((depth, height, width), (padding, 0, 0))])


def merged(weight: Ints) -> Ints:
    """The sizes (F, C, kd, kh, kw) of weights as (F, C * kd, kh, kw)."""
    return weight[0], weight[1] * weight[2], *weight[3:]


def depth_into_batch(x: Array) -> Array:
    """(N, F, depths, H, W) as (N * depths, F, H, W)."""
    n, filters, depths, height, width = x.shape
    return x.swapaxes(1, 2).reshape(n * depths, filters, height, width)


def depth_back(images: Array, n: int) -> Array:
    """The inverse of depth_into_batch."""
    count, filters, height, width = images.shape
    return images.reshape(n, count // n, filters, height, width).swapaxes(1, 2)
