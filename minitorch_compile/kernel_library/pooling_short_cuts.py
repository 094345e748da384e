"""Maximum pooling and its gradient on kernels that take a plan: how a call comes down to images.

Pooling of one dimension is one of images of height 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from minitorch_compile.kernel_library.planned_kernel import Plan
from minitorch_compile.kernel_library.pooling_sizes import shape_of
from minitorch_compile.kernel_library.replaced import is_dense, kernel, planned
from minitorch_compile.kernel_library.tile_sizes import TileSizes
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.ops.windows import output_sizes

Array = np.ndarray
Ints = tuple[int, ...]
PLACES = np.dtype(np.int64)


@kernel(ops.max_pool_with_indices)
def _(
    input: Array, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> tuple[Array, Array] | None:
    geometry = tuple(kernel_size), tuple(stride), tuple(padding), tuple(dilation)
    input = np.ascontiguousarray(input)
    found = planned("max_pool2d") if input.ndim in (3, 4) and is_dense(input) else None
    sizes = (*input.shape[:2], *output_sizes(input.shape[2:], *geometry, ceil_mode))
    call = found and found.call(_plan, input.shape, sizes, *geometry)
    if call is None:
        return None
    values, places = np.empty(sizes, np.float32), np.empty(sizes, PLACES)
    call(input, values, places)
    return values, places


def _plan(
    image: Ints, result: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, tiles: TileSizes
) -> Plan | None:
    if not math.prod(result):
        return None
    if len(image) == 3:
        image, result = (*image[:2], 1, *image[2:]), (*result[:2], 1, *result[2:])
        kernel, stride, padding, dilation = (1, *kernel), (1, *stride), (0, *padding), (1, *dilation)
    kernel, stride, padding, dilation = ((y, x) for y, x in (kernel, stride, padding, dilation))
    shape = shape_of(image, result, kernel, stride, padding, dilation)
    return Plan(shape, 3, shape.planes, shape.nanoseconds)


@kernel(ops.max_pool_with_indices_backward)
def _(grad: Array, indices: Array, input_sizes: Sequence[int]) -> Array | None:
    found = planned("max_pool2d_backward") if grad.shape == indices.shape else None
    grad, indices = np.ascontiguousarray(grad), np.ascontiguousarray(indices)
    if found is None or indices.dtype is not PLACES or not is_dense(grad):
        return None
    sizes = tuple(input_sizes)
    call = found.call(_backward_plan, sizes, grad.shape)
    # A kernel looks at no place twice: what would lie outside of its plane is the formula's to refuse.
    if call is None or indices.min() < 0 or indices.max() >= math.prod(sizes[2:]):
        return None
    out = np.empty(sizes, np.float32)
    call(grad, indices, out)
    return out


def _backward_plan(image: Ints, result: Ints, tiles: TileSizes) -> Plan | None:
    planes, area, places = math.prod(image[:2]), math.prod(image[2:]), math.prod(result[2:])
    if image[:2] != result[:2]:
        return None
    return Plan((), 3, planes, 1.0 * planes * (places + area), sizes=(places, area))
