"""RMSprop, Adadelta and NAdam for all parameters of a group in one native call (`fused.py`).

>>> from minitorch_compile import nn, tensor
>>> from minitorch_compile.optim.functional import RMSpropState
>>> w, square = nn.Parameter(tensor([1.0])), tensor([0.0])
>>> fused_rmsprop([w], [tensor([2.0])], [RMSpropState(0, square)], lr=0.01)[0].step, w.data
(1, tensor([0.9000]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.optim.fused import counted, run
from minitorch_compile.tensor import Tensor

Tensors = Sequence[Tensor]


def fused_rmsprop(
    params: Tensors,
    grads: Tensors,
    states: Sequence[Any],
    *,
    lr: Any = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0,
    momentum: float = 0,
    maximize: bool = False,
) -> list[Any]:
    """Steps parameters and states in place, as functional.rmsprop would without means of gradients."""
    from minitorch_compile.optim import fused_kernels

    numbers = [-1.0 if maximize else 1.0, weight_decay, alpha, 1 - alpha, eps, float(lr)]
    if momentum:
        rows = [(p, g, s.square_avg, s.momentum_buffer) for p, g, s in zip(params, grads, states, strict=True)]
        run(fused_kernels.rmsprop_momentum_step, rows, [[*numbers, momentum]] * len(rows))
    else:
        plain = [(p, g, s.square_avg) for p, g, s in zip(params, grads, states, strict=True)]
        run(fused_kernels.rmsprop_step, plain, [numbers] * len(plain))
    return counted(states)


def fused_adadelta(
    params: Tensors,
    grads: Tensors,
    states: Sequence[Any],
    *,
    lr: Any = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: float = 0,
    maximize: bool = False,
) -> list[Any]:
    """Steps parameters and states in place, as functional.adadelta would."""
    from minitorch_compile.optim import fused_kernels

    numbers = [-1.0 if maximize else 1.0, weight_decay, rho, 1 - rho, eps, float(lr)]
    rows = [(p, g, s.square_avg, s.acc_delta) for p, g, s in zip(params, grads, states, strict=True)]
    run(fused_kernels.adadelta_step, rows, [numbers] * len(rows))
    return counted(states)


def fused_nadam(
    params: Tensors,
    grads: Tensors,
    states: Sequence[Any],
    *,
    lr: Any = 2e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    momentum_decay: float = 4e-3,
    decoupled: bool = False,
    maximize: bool = False,
) -> list[Any]:
    """Steps parameters and running means in place, as functional.nadam would."""
    from minitorch_compile.optim import fused_kernels

    lr, (beta1, beta2), new_states, numbers = float(lr), betas, [], []
    decay, shrink = (0.0, 1 - lr * weight_decay) if decoupled else (weight_decay, 1.0)
    for state in states:
        step = state.step + 1
        mu, next_mu = (beta1 * (1 - 0.5 * 0.96 ** (at * momentum_decay)) for at in (step, step + 1))
        product = state.mu_product * mu
        weights = [lr * (1 - mu) / (1 - product), lr * next_mu / (1 - product * next_mu)]
        decays = [-1.0 if maximize else 1.0, decay, shrink, 1 - beta1, beta2, 1 - beta2]
        numbers.append([*decays, eps, 1 - beta2**step, *weights])
        new_states.append(state._replace(step=step, mu_product=product))
    rows = [(p, g, s.exp_avg, s.exp_avg_sq) for p, g, s in zip(params, grads, states, strict=True)]
    run(fused_kernels.nadam_step, rows, numbers)
    return new_states
