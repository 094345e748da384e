"""Convolution and pooling: the prims, with the bias added outside."""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.tensor import ops

Tensor = Any
Pair = tuple[int, int]


@decomposes(ops.convolution)
def _(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Tensor:
    """A convolution, and one number added to each channel."""
    out = prims.convolution(x, weight, stride, padding, dilation, groups)
    return out if bias is None else prims.add(out, prims.broadcast_in_dim(bias, tuple(out.sizes), (1,)))


decomposes(ops.convolution_input_grad)(lambda *bound: prims.convolution_input_grad(*_with_tuple(bound, 2)))
decomposes(ops.convolution_weight_grad)(lambda *bound: prims.convolution_weight_grad(*_with_tuple(bound, 2)))
decomposes(ops.max_pool2d_with_indices)(prims.max_pool2d)
decomposes(ops.max_pool2d_with_indices_backward)(lambda *bound: prims.max_pool2d_backward(*_with_tuple(bound, 2)))


def _with_tuple(bound: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    """The arguments with the sizes at `position` as a plain tuple of ints."""
    return (*bound[:position], tuple(bound[position]), *bound[position + 1 :])
