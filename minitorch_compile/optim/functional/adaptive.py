"""Rules that divide by the root of a mean of squares: Adagrad, RMSprop, Adadelta.

>>> from minitorch_compile import tensor
>>> (p,), _ = adagrad([tensor([1.0])], [tensor([0.5])], [AdagradState(0.0, tensor([0.0]))], lr=0.1)
>>> p
tensor([0.9000])
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minitorch_compile.optim.functional.update_rule import for_each_parameter, mean_towards, objective
from minitorch_compile.tensor import Tensor, ops


class AdagradState(NamedTuple):
    """The step count and the sum of squared gradients."""

    step: Any
    sum: Tensor


@for_each_parameter
def adagrad(
    p: Tensor,
    g: Tensor,
    state: AdagradState,
    *,
    lr: Any = 1e-2,
    lr_decay: float = 0,
    weight_decay: float = 0,
    eps: float = 1e-10,
    maximize: bool = False,
) -> tuple[Tensor, AdagradState]:
    """Adagrad (Duchi, Hazan and Singer 2011)."""
    g = objective(p, g, weight_decay, maximize)
    total = state.sum + g * g
    rate = lr / (1 + state.step * lr_decay)
    return p - g / (ops.sqrt(total) + eps) * rate, AdagradState(state.step + 1, total)


class RMSpropState(NamedTuple):
    """The step count and running means: of squares, and, None unless asked for, of steps and of gradients."""

    step: Any
    square_avg: Tensor
    momentum_buffer: Tensor | None = None
    grad_avg: Tensor | None = None


@for_each_parameter
def rmsprop(
    p: Tensor,
    g: Tensor,
    state: RMSpropState,
    *,
    lr: Any = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0,
    momentum: float = 0,
    maximize: bool = False,
) -> tuple[Tensor, RMSpropState]:
    """RMSprop (Hinton 2012); with a mean of gradients in the state it is centered, as in Graves 2013."""
    _, square_avg, buffer, mean = state
    g = objective(p, g, weight_decay, maximize)
    square_avg = square_avg * alpha + g * g * (1 - alpha)
    spread = square_avg
    if mean is not None:
        mean = mean_towards(mean, g, 1 - alpha)
        spread = square_avg - mean * mean
    direction = g / (ops.sqrt(spread) + eps)
    if buffer is not None:
        direction = buffer = buffer * momentum + direction
    return p - direction * lr, RMSpropState(state.step + 1, square_avg, buffer, mean)


class AdadeltaState(NamedTuple):
    """The step count and running means of the squares of gradients and of steps."""

    step: Any
    square_avg: Tensor
    acc_delta: Tensor


@for_each_parameter
def adadelta(
    p: Tensor,
    g: Tensor,
    state: AdadeltaState,
    *,
    lr: Any = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0,
    maximize: bool = False,
) -> tuple[Tensor, AdadeltaState]:
    """Adadelta (Zeiler 2012): the steps have the parameters' units, so there is no rate to choose."""
    g = objective(p, g, weight_decay, maximize)
    square_avg = state.square_avg * rho + g * g * (1 - rho)
    delta = ops.sqrt(state.acc_delta + eps) / ops.sqrt(square_avg + eps) * g
    acc_delta = state.acc_delta * rho + delta * delta * (1 - rho)
    return p - delta * lr, AdadeltaState(state.step + 1, square_avg, acc_delta)
