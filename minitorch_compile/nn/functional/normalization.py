"""Normalisation.

>>> from minitorch_compile import tensor
>>> batch_norm(tensor([[1.0], [3.0]]), None, None, training=True)
tensor([[-1.0000],
        [ 1.0000]])
>>> normalize(tensor([[3.0, 4.0]]))
tensor([[0.6000, 0.8000]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import alias_in, functional
from minitorch_compile.tensor.memory.strides import numel

layer_norm = alias_in("functional", ops.layer_norm)


@functional()
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel (dimension 1) shifted to mean 0 and scaled to variance 1 (Ioffe and Szegedy 2015).

    In training by the statistics of the batch, towards which the running ones are moved, in place; else by the running
    ones. ValueError if there is but one number in a channel to train on.
    """
    if training and numel(n for d, n in enumerate(input.sizes) if d != 1) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.sizes}")
    return ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@functional()
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Any:
    """The channels (dimension 1) of each sample in `num_groups` groups, each normalised as a whole (Wu and He 2018).

    RuntimeError if the groups don't divide the channels, ValueError if there is but one number in a group.
    """
    if len(input.sizes) >= 2 and num_groups > 0 and numel(input.sizes) // num_groups == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(input.sizes)}")
    return ops.group_norm(input, num_groups, weight, bias, eps)


@functional()
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of each sample normalised by itself (Ulyanov et al. 2016).

    By the running statistics instead, unless `use_input_stats`. ValueError if there is but one number in a channel.
    """
    if use_input_stats and numel(input.sizes[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.sizes}")
    return ops.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


@functional()
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each channel divided by (k + alpha * mean of squares of `size` channels around it)^beta (Krizhevsky et al.
    2012).

    ValueError for less than three dimensions.
    """
    if len(input.sizes) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {len(input.sizes)} dimensions)")
    if 0 in input.sizes:
        return input
    squares, channels, before = input * input, input.sizes[1], size // 2
    around = [_shifted(squares, offset, channels) for offset in range(-before, size - before)]
    total = around[0]
    for part in around[1:]:
        total = total + part
    return input / (total / size * alpha + k) ** beta


def _shifted(x: Any, offset: int, channels: int) -> Any:
    """The channel `offset` further on in the place of each channel; 0 beyond the ends."""
    kept = max(channels - abs(offset), 0)
    inside = ops.narrow(x, 1, min(max(offset, 0), channels), kept)
    outside = ops.zeros_like(ops.narrow(x, 1, 0, channels - kept))
    return ops.cat([inside, outside] if offset >= 0 else [outside, inside], 1)


@functional()
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Any:
    """The input divided by its `p`-norm along `dim`; norms below `eps` count as `eps`.

    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    if out is not None:
        return normalize(input, p, dim, eps, out=out)
    return input / ops.clamp(ops.linalg_vector_norm(input, p, dim, True), min=eps)
