"""Normalisation: numbers are shifted to mean 0 and scaled to variance 1; what differs is which are taken together.

>>> from minitorch_compile.tensor import tensor
>>> layer_norm(tensor([[1.0, 3.0]]), (2,))
tensor([[-1.0000,  1.0000]])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor.dispatch.captured_memory import captured_may_change
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.grad_mode import is_grad_enabled, no_grad
from minitorch_compile.tensor.memory.memory_format import strides_in, suggested_format
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float32, promote_types
from minitorch_compile.tensor.numerics.numeric_limits import finfo
from minitorch_compile.tensor.ops.copies import contiguous, to
from minitorch_compile.tensor.ops.pointwise import rsqrt
from minitorch_compile.tensor.ops.reduction import mean, sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

# ---------------------------------------------------------------------------------------------------- rows


@kernel_op("normalization", torch=False)
def native_layer_norm(
    input: Array, normalized_shape: tuple[int, ...], weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """(out, mean, rstd): each row, the last len(normalized_shape) dimensions, shifted to mean 0 and scaled to
    variance 1."""
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean, out, variance = _centred(input, axes)
    rstd = 1 / np.sqrt(variance + variance.dtype.type(eps))
    out *= rstd
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    mean, rstd = (_rounded(x, *_given(input, weight, bias)) for x in (mean, rstd))
    return _rounded(out, input), mean, rstd


def _centred(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """(mean, x - mean, variance) over these axes, with size 1 there; float16 adds up in float32."""
    wide = x.astype(np.promote_types(x.dtype, np.float32), copy=False)
    count = wide.dtype.type(max(numel(x.shape[axis] for axis in axes), 1))
    mean = np.add.reduce(wide, axes, keepdims=True) / count
    centred = wide - mean
    return mean, centred, np.add.reduce(centred * centred, axes, keepdims=True) / count


def _rounded(x: Array, *like: Array) -> Array:
    return np.ascontiguousarray(x, np.result_type(*like))


def _given(*arguments: Any) -> list[Any]:
    return [argument for argument in arguments if argument is not None]


def _wide(x: Any) -> Any:
    """Half precision in float32: what is computed is rounded once, at the end."""
    return x if x is None or x.dtype.itemsize >= 4 else to(x, float32)


def _check_dtypes(name: str, input: TensorBase, *parameters: TensorBase | None) -> None:
    """RuntimeError unless all have the input's dtype, or float32 beside an input of half precision."""
    dtypes = {parameter.dtype for parameter in parameters if parameter is not None}
    beside_half = input.dtype.itemsize == 2 and dtypes == {float32}
    if dtypes - {input.dtype} and not beside_half:
        raise RuntimeError(
            f"{name}: mixed dtype (CPU): expect parameter to have scalar type of Float beside half precision, else the"
            f" input's: the input has {input.dtype}, the parameters {', '.join(sorted(map(str, dtypes)))}"
        )


def _check_floating(name: str, input: TensorBase) -> None:
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"{name}: implemented for floating-point tensors, got {input.dtype}; call .float()")


@native_layer_norm.shape_rule
def _layer_norm_rule(
    input: TensorBase, normalized_shape: tuple[int, ...], weight: TensorBase | None, bias: TensorBase | None, eps: float
) -> tuple[Any, Any, Any]:
    _check_floating("layer_norm", input)
    rows = len(normalized_shape)
    if not rows or tuple(input.sizes[-rows:]) != tuple(normalized_shape):
        raise RuntimeError(
            f"layer_norm: given normalized_shape={list(normalized_shape)}, expected input with sizes [*,"
            f" {', '.join(map(str, normalized_shape))}], got {list(input.sizes)}"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.sizes) != tuple(normalized_shape):
            raise RuntimeError(
                f"layer_norm: expected {name} to be of same shape as normalized_shape {list(normalized_shape)}, got"
                f" {list(parameter.sizes)}"
            )
    statistics = (*input.sizes[:-rows], *[1] * rows)
    widest = reduce(promote_types, (x.dtype for x in _given(input, weight, bias)))
    return (
        empty_fake(input.sizes, None, input.dtype),
        empty_fake(statistics, None, widest),
        empty_fake(statistics, None, widest),
    )


@composite()
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """Layer normalisation (Ba, Kiros and Hinton 2016). `cudnn_enable` is PyTorch's, and unused."""
    _check_dtypes("layer_norm", input, weight, bias)
    return native_layer_norm(input, tuple(normalized_shape), weight, bias, eps)[0]


@composite(functional=True)
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Any:
    """Rows, the last dimensions of sizes `normalized_shape`, divided by their root mean square (Zhang and Sennrich
    2019).

    `eps` is added under the root: the smallest step at 1 of the dtype, unless given. Half precision is computed in
    float32, and with its step. RuntimeError for other sizes.
    """
    _check_floating("layer_norm", input)
    rows = len(normalized_shape)
    if not rows or tuple(input.sizes[-rows:]) != tuple(normalized_shape):
        raise RuntimeError(
            f"rms_norm: given normalized_shape={list(normalized_shape)}, expected input with sizes [*,"
            f" {', '.join(map(str, normalized_shape))}], got {list(input.sizes)}"
        )
    dims = tuple(range(len(input.sizes) - rows, len(input.sizes)))
    wide = contiguous(_wide(input), suggested_format(input.sizes, input.strides))
    epsilon = finfo(wide.dtype).eps if eps is None else eps
    out = wide * rsqrt(mean(wide * wide, dims, True) + epsilon)
    return to(out if weight is None else out * weight, input.dtype)


@composite()
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    """The channels (dimension 1) of each sample in `num_groups` groups, each normalised as a whole (Wu and He 2018).

    RuntimeError if the groups don't divide the channels. `cudnn_enabled` is PyTorch's, and unused.
    """
    if len(input.sizes) < 2:
        raise RuntimeError(f"group_norm: Expected at least 2 dimensions for input, got sizes {list(input.sizes)}")
    samples, channels = input.sizes[:2]
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape"
            f" {list(input.sizes)} and num_groups={num_groups}"
        )
    _check_dtypes("group_norm", input, weight, bias)
    grouped = reshape(_wide(input), (samples, num_groups, numel(input.sizes[1:]) // num_groups))
    out = reshape(native_layer_norm(grouped, grouped.sizes[2:], None, None, eps)[0], tuple(input.sizes))
    scaled = to(scaled_channels(out, _wide(weight), _wide(bias)), input.dtype)
    return contiguous(scaled, suggested_format(input.sizes, input.strides))


def scaled_channels(x: Any, weight: Any, bias: Any) -> Any:
    """Each channel (dimension 1) times its weight, plus its bias, if there are such."""
    channel = (-1, *[1] * (len(x.sizes) - 2))
    if weight is not None:
        x = x * reshape(weight, channel)
    return x if bias is None else x + reshape(bias, channel)


# ---------------------------------------------------------------------------------------------------- channels


@kernel_op("normalization", torch=False)
def native_batch_norm(input: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """(out, mean, variance): each channel (dimension 1) shifted to mean 0 and scaled to variance 1, then by weight and
    bias. The variance is the biased one; both statistics have size 1 in all other dimensions."""
    mean, out, variance = _centred(input, tuple(d for d in range(input.ndim) if d != 1))
    scale = 1 / np.sqrt(variance + variance.dtype.type(eps))
    channel = (-1, *[1] * (input.ndim - 2))
    out *= scale if weight is None else scale * weight.reshape(channel)
    if bias is not None:
        out += bias.reshape(channel)
    mean, variance = (_rounded(x, *_given(input, weight, bias)) for x in (mean, variance))
    return out.astype(input.dtype, copy=False), mean, variance


@native_batch_norm.shape_rule
def _batch_norm_rule(
    input: TensorBase, weight: TensorBase | None, bias: TensorBase | None, eps: float
) -> tuple[Any, Any, Any]:
    _check_floating("batch_norm", input)
    channels = input.sizes[1]
    for name, parameter in (("weight", weight), ("bias", bias)):
        check_channels("batch_norm", name, parameter, channels)
    statistics = tuple(n if d == 1 else 1 for d, n in enumerate(input.sizes))
    widest = reduce(promote_types, (x.dtype for x in _given(input, weight, bias)))
    strides = strides_in(suggested_format(input.sizes, input.strides), input.sizes)
    return (
        empty_fake(input.sizes, strides, input.dtype),
        empty_fake(statistics, None, widest),
        empty_fake(statistics, None, widest),
    )


def check_channels(op: str, name: str, parameter: Any, channels: int) -> None:
    """RuntimeError unless there is one number for each channel."""
    if parameter is not None and numel(parameter.sizes) != channels:
        raise RuntimeError(f"{op}: {name} should contain {channels} elements not {numel(parameter.sizes)}")


@composite()
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """Each channel (dimension 1) shifted to mean 0 and scaled to variance 1 (Ioffe and Szegedy 2015).

    In training by the statistics of the batch, towards which the running ones are moved, in place; else by the running
    ones. `cudnn_enabled` is PyTorch's, and unused.
    """
    _check_dtypes("batch_norm", input, weight, bias, running_mean, running_var)
    for name, parameter in (("running_mean", running_mean), ("running_var", running_var)):
        check_channels("batch_norm", name, parameter, input.sizes[1])
        if parameter is not None and parameter.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function 'native_batch_norm' is not differentiable with respect to argument '{name}'. This input"
                " cannot have requires_grad True."
            )
    if training:
        return _by_the_batch(input, weight, bias, running_mean, running_var, momentum, eps)
    if running_mean is None or running_var is None:
        raise RuntimeError("batch_norm: expected running_mean and running_var to be defined when training=False")
    check_channels("batch_norm", "weight", weight, input.sizes[1])
    check_channels("batch_norm", "bias", bias, input.sizes[1])
    wide = contiguous(_wide(input), suggested_format(input.sizes, input.strides))
    return to(scaled_channels(wide, *scale_and_shift(weight, bias, running_mean, running_var, eps)), input.dtype)


def scale_and_shift(weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float) -> tuple[Any, Any]:
    """What batch norm by the running statistics multiplies each channel by, and what it then adds."""
    scale = rsqrt(_wide(running_var) + eps)
    if weight is not None:
        scale = scale * weight
    shift = -_wide(running_mean) * scale
    return scale, shift if bias is None else bias + shift


def _by_the_batch(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float, eps: float
) -> Any:
    out, centre, variance = native_batch_norm(input, weight, bias, eps)
    count = numel(input.sizes) // max(input.sizes[1], 1)
    move_running(running_mean, reshape(centre.detach(), (-1,)), count, momentum)
    move_running(running_var, _unbiased(reshape(variance.detach(), (-1,)), count), count, momentum)
    return out


def _unbiased(variance: Any, count: int) -> Any:
    """The variance of a population, estimated from that of a sample of `count` numbers."""
    if isinstance(count, SymInt):  # the quotient of two unknown sizes is no size: it is taken element by element
        return variance * count / max(count - 1, 1)
    return variance * (count / max(count - 1, 1))


def move_running(running: Any, batch: Any, count: int, momentum: float) -> None:
    """Moves a running statistic, if there is one, towards that of a batch of `count` numbers, in place."""
    if running is not None and count:
        with no_grad(), captured_may_change():
            running.copy_(running * (1 - momentum) + batch * momentum)


@composite()
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """Each channel of each sample normalised by itself (Ulyanov et al. 2016); the running statistics are averages over
    the samples. By the running ones unless `use_input_stats`. `cudnn_enabled` is PyTorch's, and unused."""
    if not use_input_stats:
        return batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    _check_dtypes("instance_norm", input, weight, bias, running_mean, running_var)
    samples, channels = input.sizes[:2]
    apart = reshape(_wide(input), (1, samples * channels, *input.sizes[2:]))
    out, centre, variance = native_batch_norm(apart, None, None, eps)
    count = numel(input.sizes[2:])
    unbiased = _unbiased(variance, count)
    move_running(running_mean, _over_samples(centre, samples, channels), samples * count, momentum)
    move_running(running_var, _over_samples(unbiased, samples, channels), samples * count, momentum)
    return to(scaled_channels(reshape(out, tuple(input.sizes)), _wide(weight), _wide(bias)), input.dtype)


def _over_samples(statistic: Any, samples: int, channels: int) -> Any:
    return sum(reshape(statistic.detach(), (samples, channels)), 0) / samples
