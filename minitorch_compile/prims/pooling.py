"""Prims for maximum pooling of images (N, C, H, W).

>>> from minitorch_compile.tensor import arange
>>> max_pool2d(arange(4.0).view(1, 1, 2, 2), (2, 2), (2, 2), (0, 0), (1, 1), False)
(tensor([[[[3.]]]]), tensor([[[[3]]]]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.prims.prim import FLOATS, NUMBERS, check_index, check_ints, check_tensor, describe, prim, refuse
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Pair = tuple[int, int]


def _max_pool_rule(
    name: str, x: Any, kernel_size: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> tuple[TensorBase, TensorBase]:
    check_tensor(name, "x", x, NUMBERS)
    check_ints(name, "kernel_size", kernel_size, 2, least=1)
    check_ints(name, "stride", stride, 2, least=1)
    check_ints(name, "padding", padding, 2)
    check_ints(name, "dilation", dilation, 2, least=1)
    return ops.max_pool_with_indices.meta(x, kernel_size, stride, padding, dilation, ceil_mode)


@prim("pooling", _max_pool_rule, dtypes="integers, floats; places are int64", sizes="[N, C, out_h, out_w], twice")
def max_pool2d(
    x: Array, kernel_size: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> tuple[Array, Array]:
    """The maximum of each window, and its place y * width + x in the image: the first of equals, the last NaN."""
    return ops.max_pool_with_indices.kernel(x, kernel_size, stride, padding, dilation, ceil_mode)


def _backward_rule(name: str, grad: Any, indices: Any, input_sizes: tuple[int, ...]) -> TensorBase:
    check_tensor(name, "grad", grad, FLOATS)
    check_index(name, "indices", indices)
    check_ints(name, "input_sizes", input_sizes, 4)
    if indices.sizes != grad.sizes or grad.sizes[:2] != input_sizes[:2]:
        raise refuse(name, "indices", f"of the sizes {list(grad.sizes)} of grad", describe(indices))
    return empty_fake(input_sizes, None, grad.dtype)


@prim("pooling", _backward_rule, dtypes="floats; int64 for indices", sizes="input_sizes")
def max_pool2d_backward(grad: Array, indices: Array, input_sizes: tuple[int, ...]) -> Array:
    """The gradient of max_pool2d: each element of grad is added to the element of the image that was the maximum."""
    return ops.max_pool_with_indices_backward.kernel(grad, indices, input_sizes)
