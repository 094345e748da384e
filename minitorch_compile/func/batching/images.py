"""Convolutions, pooling and normalisation of a batch of batches.

Where only the images differ, both batches are one. Where the weights differ too, as for per-sample gradients and
ensembles, the examples become groups of one grouped convolution: each group of channels has its own weights.

>>> import minitorch_compile as torch
>>> images, weights = torch.ones(4, 1, 3, 8, 8), torch.ones(4, 2, 3, 5, 5)
>>> torch.func.vmap(torch.nn.functional.conv2d)(images, weights).shape
torch.Size([4, 1, 2, 4, 4])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.batching.pointwise import aligned
from minitorch_compile.func.batching.rules import batching_rule
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op

# --- the batch, merged into another dimension -------------------------------------------------------------------------


def merged(value: Any, dim: int) -> Any:
    """(batch, a, b, ...) with the batch merged into dimension `dim` of an example: (batch * a, b, ...) for 0."""
    return ops.flatten(ops.movedim(value, 0, dim), dim, dim + 1)


def parted(value: Any, dim: int, batch: Batch, size: int) -> Any:
    """The inverse: the batch taken out of a dimension, which is left with `size`, and put first."""
    return ops.movedim(ops.unflatten(value, dim, (batch.size, size)), dim, 0)


# --- convolutions -----------------------------------------------------------------------------------------------------


@batching_rule("convolution")
def convolution(batch: Batch, op: Op, input: Any, weight: Any, bias: Any, *rest: Any) -> Any:
    *window, groups = rest
    if not batch.holds(weight) and not batch.holds(bias):
        return parted(op(merged(input.value, 0), weight, bias, *window, groups), 0, batch, input.sizes[0])
    images, weights = merged(batch.spread(input), 1), merged(batch.spread(weight), 0)
    biases = None if bias is None else merged(batch.spread(bias), 0)
    result = op(images, weights, biases, *window, groups * batch.size)
    return parted(result, 1, batch, weight.sizes[0])


@batching_rule("convolution_weight_grad")
def weight_gradient(batch: Batch, op: Op, grad: Any, input: Any, weight_sizes: Any, *rest: Any) -> Any:
    *window, groups = rest
    outputs, *kernel = weight_sizes
    grads, images = merged(batch.spread(grad), 1), merged(batch.spread(input), 1)
    gradients = op(grads, images, (outputs * batch.size, *kernel), *window, groups * batch.size)
    return parted(gradients, 0, batch, outputs)


@batching_rule("convolution_input_grad")
def input_gradient(batch: Batch, op: Op, grad: Any, weight: Any, input_sizes: Any, *rest: Any) -> Any:
    *window, groups = rest
    images, channels, *places = input_sizes
    if not batch.holds(weight):
        sizes = (images * batch.size, channels, *places)
        return parted(op(merged(grad.value, 0), weight, sizes, *window, groups), 0, batch, images)
    grads, weights = merged(batch.spread(grad), 1), merged(weight.value, 0)
    gradients = op(grads, weights, (images, channels * batch.size, *places), *window, groups * batch.size)
    return parted(gradients, 1, batch, channels)


@batching_rule("im2col", "col2im", "avg_pool", "max_pool_with_indices")
def of_images(batch: Batch, op: Op, input: Any, *rest: Any) -> Any:
    result = op(merged(input.value, 0), *rest)
    images = input.sizes[0]
    if isinstance(result, tuple):
        return tuple(parted(x, 0, batch, images) for x in result)
    return parted(result, 0, batch, images)


@batching_rule("avg_pool_backward")
def average_gradient(batch: Batch, op: Op, grad: Any, input_sizes: Any, *rest: Any) -> Any:
    images, *others = input_sizes
    return parted(op(merged(grad.value, 0), (images * batch.size, *others), *rest), 0, batch, images)


@batching_rule("max_pool_with_indices_backward")
def maximum_gradient(batch: Batch, op: Op, grad: Any, indices: Any, input_sizes: Any) -> Any:
    images, *others = input_sizes
    tensors = merged(batch.spread(grad), 0), merged(batch.spread(indices), 0)
    return parted(op(*tensors, (images * batch.size, *others)), 0, batch, images)


# --- normalisation ----------------------------------------------------------------------------------------------------


@batching_rule("native_layer_norm")
def layer_norm(batch: Batch, op: Op, input: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    values = batch.spread(input)
    if not batch.holds(weight) and not batch.holds(bias):
        return op(values, shape, weight, bias, eps)
    result, mean, rstd = op(values, shape, None, None, eps)
    if weight is not None:
        result = ops.mul(result, aligned(batch, weight, input.dim()))
    if bias is not None:
        result = ops.add(result, aligned(batch, bias, input.dim()))
    return result, mean, rstd


@batching_rule("native_batch_norm")
def batch_norm(batch: Batch, op: Op, input: Any, weight: Any, bias: Any, eps: float) -> Any:
    """The channels of all examples side by side: each is normalised by itself."""
    scale, shift = (None if x is None else merged(batch.spread(x), 0) for x in (weight, bias))
    result, mean, variance = op(merged(batch.spread(input), 1), scale, shift, eps)
    channels = input.sizes[1]
    return tuple(parted(x, 1, batch, channels) for x in (result, mean, variance))
