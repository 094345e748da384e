"""Filling a tensor, in place, with values to start training from.

>>> from minitorch_compile import empty
>>> constant_(empty(2), 3.0)
tensor([3., 3.])
>>> calculate_gain("tanh")
1.6666666666666667
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor import no_grad, ops
from minitorch_compile.tensor.strides import numel

# ---------------------------------------------------------------------------------------------------- constants


@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """One value everywhere."""
    return tensor.fill_(val)


@no_grad()
def zeros_(tensor: Any) -> Any:
    """0 everywhere."""
    return tensor.fill_(0)


@no_grad()
def ones_(tensor: Any) -> Any:
    """1 everywhere."""
    return tensor.fill_(1)


@no_grad()
def eye_(tensor: Any) -> Any:
    """The identity matrix. ValueError unless the tensor is 2-dimensional."""
    if len(tensor.sizes) != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, got sizes {list(tensor.sizes)}")
    return tensor.copy_(ops.eye(*tensor.sizes, dtype=tensor.dtype))


# ---------------------------------------------------------------------------------------------------- random


@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Uniform between a and b."""
    return tensor.uniform_(a, b)


@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Normal with the given mean and standard deviation."""
    return tensor.normal_(mean, std)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much a nonlinearity shrinks its input, to be made up for. ValueError for an unknown name."""
    gains = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    gains |= {f"conv{n}{kind}": 1.0 for n in "123" for kind in ("d", "_transpose" + "d")}
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; choose one of {', '.join([*gains, 'leaky_relu'])}")
    return gains[nonlinearity]


def _fans(tensor: Any) -> tuple[int, int]:
    """How many inputs each output sums, and how many outputs each input goes to."""
    if len(tensor.sizes) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = numel(tensor.sizes[2:])
    return tensor.sizes[1] * window, tensor.sizes[0] * window


def _fan(tensor: Any, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _fans(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0) -> Any:
    """Uniform, keeping the variance the same forwards and backwards (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Any, gain: float = 1.0) -> Any:
    """Normal, keeping the variance the same forwards and backwards (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))))


def kaiming_uniform_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Uniform, keeping the variance through rectifiers (He et al. 2015). Nothing to do for a tensor without
    elements."""
    if 0 in tensor.sizes:
        return tensor
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Normal, keeping the variance through rectifiers (He et al. 2015). Nothing to do for a tensor without elements."""
    if 0 in tensor.sizes:
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))


@no_grad()
def trunc_normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Any:
    """Normal, with values outside [a, b] drawn again."""
    tensor.normal_(mean, std)
    outside = ops.logical_or(tensor < a, tensor > b)
    while outside.any():
        tensor.copy_(ops.where(outside, ops.randn_like(tensor) * std + mean, tensor))
        outside = ops.logical_or(tensor < a, tensor > b)
    return tensor
