"""Adam and its relatives: running means of the gradient and of its square, freed of the bias of starting from zero.

The step count of a state may be a number, or a tensor: then the rule is the same program at every step, as a compiled
training step needs it.

>>> from minitorch_compile import tensor
>>> zero = tensor([0.0])
>>> (p,), (state,) = adamw([tensor([1.0])], [tensor([2.0])], [AdamState(0, zero, zero)], lr=0.1, weight_decay=0.01)
>>> p, state.step
(tensor([0.8990]), 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.optim.functional.update_rule import for_each_parameter, mean_towards, objective
from minitorch_compile.tensor import Tensor, ops


class AdamState(NamedTuple):
    """What Adam remembers of one parameter: how many steps, and running means of the gradient and of its square.

    `max_exp_avg_sq` is the largest of the latter so far, for AMSGrad; None otherwise.
    """

    step: Any
    exp_avg: Tensor
    exp_avg_sq: Tensor
    max_exp_avg_sq: Tensor | None = None


@for_each_parameter
def adam(
    p: Tensor,
    g: Tensor,
    state: AdamState,
    *,
    lr: Any,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    decoupled: bool = False,
    maximize: bool = False,
) -> tuple[Tensor, AdamState]:
    """Adam (Kingma and Ba 2015), AMSGrad where a state has a maximum.

    `weight_decay` is added to the gradient, or, `decoupled`, shrinks the parameter itself: AdamW.
    """
    p, g = _decayed(p, g, lr, weight_decay, decoupled, maximize)
    step, exp_avg, exp_avg_sq = _moments(g, state, betas)
    largest = None if state.max_exp_avg_sq is None else ops.maximum(state.max_exp_avg_sq, exp_avg_sq)
    root = ops.sqrt(exp_avg_sq if largest is None else largest) / (1 - betas[1] ** step) ** 0.5
    rate = lr / (1 - betas[0] ** step)
    return p - exp_avg / (root + eps) * rate, AdamState(step, exp_avg, exp_avg_sq, largest)


def adamw(
    params: Sequence[Tensor], grads: Sequence[Tensor], states: Sequence[AdamState], **options: Any
) -> tuple[list[Tensor], list[AdamState]]:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019); takes what `adam` takes."""
    return adam(params, grads, states, decoupled=True, **options)


class AdamaxState(NamedTuple):
    """The step count, the running mean of gradients and the decaying maximum of their sizes."""

    step: Any
    exp_avg: Tensor
    exp_inf: Tensor


@for_each_parameter
def adamax(
    p: Tensor,
    g: Tensor,
    state: AdamaxState,
    *,
    lr: Any = 2e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    maximize: bool = False,
) -> tuple[Tensor, AdamaxState]:
    """Adam with the infinity norm (Kingma and Ba 2015, section 7)."""
    g = objective(p, g, weight_decay, maximize)
    step = state.step + 1
    exp_avg = mean_towards(state.exp_avg, g, 1 - betas[0])
    exp_inf = ops.maximum(state.exp_inf * betas[1], ops.abs(g) + eps)
    rate = lr / (1 - betas[0] ** step)
    return p - exp_avg / exp_inf * rate, AdamaxState(step, exp_avg, exp_inf)


class NAdamState(NamedTuple):
    """As Adam's, and the product of all momenta so far."""

    step: Any
    mu_product: Any
    exp_avg: Tensor
    exp_avg_sq: Tensor


@for_each_parameter
def nadam(
    p: Tensor,
    g: Tensor,
    state: NAdamState,
    *,
    lr: Any = 2e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    momentum_decay: float = 4e-3,
    decoupled: bool = False,
    maximize: bool = False,
) -> tuple[Tensor, NAdamState]:
    """Adam with Nesterov's momentum, which grows towards beta1 (Dozat 2016)."""
    p, g = _decayed(p, g, lr, weight_decay, decoupled, maximize)
    step, exp_avg, exp_avg_sq = _moments(g, state, betas)
    mu = betas[0] * (1 - 0.5 * 0.96 ** (step * momentum_decay))
    next_mu = betas[0] * (1 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
    mu_product = state.mu_product * mu
    root = ops.sqrt(exp_avg_sq / (1 - betas[1] ** step)) + eps
    p = p - g / root * (lr * (1 - mu) / (1 - mu_product))
    p = p - exp_avg / root * (lr * next_mu / (1 - mu_product * next_mu))
    return p, NAdamState(step, mu_product, exp_avg, exp_avg_sq)


class RAdamState(NamedTuple):
    """The step count and running means of the gradient and of its square."""

    step: Any
    exp_avg: Tensor
    exp_avg_sq: Tensor


@for_each_parameter
def radam(
    p: Tensor,
    g: Tensor,
    state: RAdamState,
    *,
    lr: Any = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    decoupled: bool = False,
    maximize: bool = False,
) -> tuple[Tensor, RAdamState]:
    """Adam that doesn't divide by the mean square until that is known well enough (Liu et al. 2020)."""
    p, g = _decayed(p, g, lr, weight_decay, decoupled, maximize)
    new = RAdamState(*_moments(g, state, betas))
    step, beta2 = new.step, betas[1]
    correction = 1 - beta2**step
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / correction  # how many gradients the mean square rests on
    adaptive = correction**0.5 / (ops.sqrt(new.exp_avg_sq) + eps)
    direction = new.exp_avg / (1 - betas[0] ** step)
    if isinstance(step, Tensor):
        known = length > 5
        rectified = adaptive * _rectification(ops.where(known, length, longest), longest)
        return p - direction * ops.where(known, rectified, ops.ones_like(rectified)) * lr, new
    if length > 5:
        direction = direction * adaptive * _rectification(length, longest)
    return p - direction * lr, new


def _rectification(length: Any, longest: float) -> Any:
    """How much the variance of the division shrinks once all gradients count."""
    return ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5


def _decayed(
    p: Tensor, g: Tensor, lr: Any, weight_decay: float, decoupled: bool, maximize: bool
) -> tuple[Tensor, Tensor]:
    """The parameter and the gradient with the weight penalty in the one or the other."""
    if decoupled and weight_decay:
        p = p * (1 - lr * weight_decay)
    return p, objective(p, g, 0 if decoupled else weight_decay, maximize)


def _moments(g: Tensor, state: Any, betas: tuple[Any, Any]) -> tuple[Any, Tensor, Tensor]:
    """The step count and both running means after a new gradient."""
    exp_avg = mean_towards(state.exp_avg, g, 1 - betas[0])
    return state.step + 1, exp_avg, state.exp_avg_sq * betas[1] + g * g * (1 - betas[1])
