"""Normalisation.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> graph = decomposed(ops.native_layer_norm, empty_fake((2, 3)), (3,), None, None, 1e-5)
>>> [node.target.name for node in graph.find_nodes(op="call_function")].count("sum")
2
"""

from __future__ import annotations

from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.ops.normalization import scaled_channels


@decomposes(ops.native_layer_norm)
def _(
    x: Tensor, normalized_shape: tuple[int, ...], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Two passes over each row, the mean and then the squared distance from it, so that no digits cancel."""
    dims = tuple(range(len(x.sizes) - len(normalized_shape), len(x.sizes)))
    mean = ops.mean(x, dims, True)
    centred = x - mean
    rstd = ops.rsqrt(ops.mean(centred * centred, dims, True) + eps)
    out = centred * rstd
    if weight is not None:
        out = out * weight
    return (out if bias is None else out + bias), mean, rstd


@decomposes(ops.native_batch_norm)
def _(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Two passes over each channel, as for rows."""
    dims = [d for d in range(len(x.sizes)) if d != 1]
    mean = ops.mean(x, dims, True)
    centred = x - mean
    variance = ops.mean(centred * centred, dims, True)
    return scaled_channels(centred * ops.rsqrt(variance + eps), weight, bias), mean, variance
