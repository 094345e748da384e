"""Rules that follow the gradient, or its sign: SGD, ASGD, Rprop, Lion.

>>> from minitorch_compile import tensor
>>> (p,), (state,) = lion([tensor([1.0])], [tensor([0.5])], [LionState(tensor([0.0]))], lr=0.1)
>>> p, state.exp_avg
(tensor([0.9000]), tensor([0.0050]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minitorch_compile.optim.functional.update_rule import for_each_parameter, objective
from minitorch_compile.tensor import Tensor, ops


class SGDState(NamedTuple):
    """The running sum of gradients; None before the first step, and without momentum."""

    momentum_buffer: Tensor | None = None


@for_each_parameter
def sgd(
    p: Tensor,
    g: Tensor,
    state: Tensor | None,
    *,
    lr: Any,
    momentum: float = 0,
    dampening: float = 0,
    weight_decay: Any = 0,
    nesterov: bool = False,
    maximize: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Stochastic gradient descent. The state is the momentum buffer; a first buffer, None before, is the gradient."""
    g = objective(p, g, weight_decay, maximize)
    if momentum:
        state = g if state is None else state * momentum + g * (1 - dampening)
        g = g + state * momentum if nesterov else state
    return p - g * lr, state


class ASGDState(NamedTuple):
    """The step count, this step's rate `eta`, the weight `mu` of the newest parameter in the average `ax`."""

    step: Any
    eta: Any
    mu: Any
    ax: Tensor


@for_each_parameter
def asgd(
    p: Tensor,
    g: Tensor,
    state: ASGDState,
    *,
    lr: Any = 1e-2,
    lambd: float = 1e-4,
    alpha: float = 0.75,
    t0: float = 1e6,
    weight_decay: float = 0,
    maximize: bool = False,
) -> tuple[Tensor, ASGDState]:
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992): from step `t0` on, `ax` is the mean of the
    parameters."""
    step, eta, mu, ax = state
    step = step + 1
    g = objective(p, g, weight_decay, maximize)
    p = p * (1 - lambd * eta) - g * eta
    ax = ax + (p - ax) * mu
    eta = lr / (1 + lambd * lr * step) ** alpha
    mu = 1 / ops.clamp(step - t0, min=1) if isinstance(step, Tensor) else 1 / max(1, step - t0)
    return p, ASGDState(step, eta, mu, ax)


class RpropState(NamedTuple):
    """The step count, the previous gradient, and a step size for each element."""

    step: Any
    prev: Tensor
    step_size: Tensor


@for_each_parameter
def rprop(
    p: Tensor,
    g: Tensor,
    state: RpropState,
    *,
    etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50),
    maximize: bool = False,
) -> tuple[Tensor, RpropState]:
    """Resilient backpropagation (Riedmiller and Braun 1993): only the gradient's sign counts. Where it stayed the same
    the step grows, where it turned the step shrinks and this time isn't taken."""
    g = objective(p, g, 0, maximize)
    turn = ops.sign(g * state.prev)
    step_size = state.step_size
    step_size = ops.where(turn > 0, step_size * etas[1], ops.where(turn < 0, step_size * etas[0], step_size))
    step_size = ops.clamp(step_size, *step_sizes)
    g = ops.where(turn < 0, 0.0, g)
    return p - ops.sign(g) * step_size, RpropState(state.step + 1, g, step_size)


class LionState(NamedTuple):
    """The running mean of gradients."""

    exp_avg: Tensor


@for_each_parameter
def lion(
    p: Tensor,
    g: Tensor,
    state: LionState,
    *,
    lr: Any = 1e-4,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0,
    maximize: bool = False,
) -> tuple[Tensor, LionState]:
    """Lion (Chen et al. 2023): the sign of a mean of gradients; the mean that is kept looks further back."""
    g = objective(p, g, 0, maximize)
    direction = ops.sign(state.exp_avg * betas[0] + g * (1 - betas[0]))
    if weight_decay:
        p = p * (1 - lr * weight_decay)
    return p - direction * lr, LionState(state.exp_avg * betas[1] + g * (1 - betas[1]))
