"""The update rules as functions of tensors: no optimizer object, no module, nothing changed in place.

Each takes the parameters, their gradients and the state as lists, and returns the new parameters and the new state. The
optimizers store the results; a compiled training step can call the same functions.

>>> from minitorch_compile import tensor
>>> params, momenta = sgd([tensor([1.0])], [tensor([0.5])], [None], lr=0.1)
>>> params
[tensor([0.9500])]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.tensor import Tensor, ops

Tensors = Sequence[Tensor]


def sgd(
    params: Tensors,
    grads: Tensors,
    momentum_buffers: Sequence[Tensor | None],
    *,
    lr: Any,
    momentum: float = 0,
    dampening: float = 0,
    weight_decay: float = 0,
    nesterov: bool = False,
    maximize: bool = False,
) -> tuple[list[Tensor], list[Tensor | None]]:
    """Stochastic gradient descent; (new params, new momentum buffers). A first buffer, None before, is the gradient."""
    new_params, new_buffers = [], []
    for p, g, buffer in zip(params, grads, momentum_buffers, strict=True):
        g = _objective(p, g, weight_decay, maximize)
        if momentum:
            buffer = g if buffer is None else buffer * momentum + g * (1 - dampening)
            g = g + buffer * momentum if nesterov else buffer
        new_params.append(p - g * lr)
        new_buffers.append(buffer)
    return new_params, new_buffers


class AdamState(NamedTuple):
    """What Adam remembers of one parameter: how many steps, and running means of the gradient and of its square.

    `max_exp_avg_sq` is the largest of the latter so far, for AMSGrad; None otherwise.
    """

    step: Any
    exp_avg: Tensor
    exp_avg_sq: Tensor
    max_exp_avg_sq: Tensor | None = None


def adam(
    params: Tensors,
    grads: Tensors,
    states: Sequence[AdamState],
    *,
    lr: Any,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    decoupled: bool = False,
    maximize: bool = False,
) -> tuple[list[Tensor], list[AdamState]]:
    """Adam (Kingma and Ba 2015), AMSGrad where a state has a maximum; (new params, new states).

    `weight_decay` is added to the gradient, or, `decoupled`, shrinks the parameter itself: AdamW.
    """
    new_params, new_states = [], []
    for p, g, state in zip(params, grads, states, strict=True):
        g = _objective(p, g, 0 if decoupled else weight_decay, maximize)
        if decoupled and weight_decay:
            p = p * (1 - lr * weight_decay)
        new = _moments(g, state, betas)
        new_params.append(p - _adam_direction(new, betas, eps) * lr)
        new_states.append(new)
    return new_params, new_states


def adamw(
    params: Tensors, grads: Tensors, states: Sequence[AdamState], **options: Any
) -> tuple[list[Tensor], list[AdamState]]:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019); takes what `adam` takes."""
    return adam(params, grads, states, decoupled=True, **options)


def _objective(p: Tensor, g: Tensor, weight_decay: float, maximize: bool) -> Tensor:
    """The gradient of what is minimised: turned around to maximise, and with the weight penalty's part."""
    g = -g if maximize else g
    return g + p * weight_decay if weight_decay else g


def _moments(g: Tensor, state: AdamState, betas: tuple[float, float]) -> AdamState:
    beta1, beta2 = betas
    exp_avg = state.exp_avg * beta1 + g * (1 - beta1)
    exp_avg_sq = state.exp_avg_sq * beta2 + g * g * (1 - beta2)
    largest = state.max_exp_avg_sq
    return AdamState(state.step + 1, exp_avg, exp_avg_sq, None if largest is None else ops.maximum(largest, exp_avg_sq))


def _adam_direction(state: AdamState, betas: tuple[float, float], eps: float) -> Tensor:
    """The mean gradient over the root mean square, both freed of the bias that starting from zero gives them."""
    beta1, beta2 = betas
    square = state.exp_avg_sq if state.max_exp_avg_sq is None else state.max_exp_avg_sq
    root = ops.sqrt(square) / (1 - beta2**state.step) ** 0.5
    return state.exp_avg / (1 - beta1**state.step) / (root + eps)
