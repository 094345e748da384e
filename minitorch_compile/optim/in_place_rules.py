"""PyTorch's functions for a step of an optimizer, as torch.optim.sgd.sgd: parameters and states are written in place.

Each is a rule of `functional` with its results written where the arguments lie. Options that say how PyTorch computes
(`foreach`, `fused`, `capturable`, `has_complex`, `has_sparse_grad`) change nothing, and `grad_scale` and `found_inf`
must be None, as there for all but fused steps. What requires grad is stepped under no_grad.

>>> from minitorch_compile import tensor
>>> w, buffers = tensor([1.0]), [None]
>>> options = {"weight_decay": 0, "momentum": 0.9, "dampening": 0, "nesterov": False, "maximize": False}
>>> sgd([w], [tensor([2.0])], buffers, lr=0.1, **options)
>>> w, buffers
(tensor([0.8000]), [tensor([2.])])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.optim import functional as rules
from minitorch_compile.optim.functional.update_rule import UpdateRule
from minitorch_compile.optim.overwrite import overwrite
from minitorch_compile.tensor import Tensor

Tensors = Sequence[Tensor]
COUNTERS = ("step", "eta", "mu", "mu_product")  # 0-d tensors, which are numbers to the rules


def write(rule: UpdateRule, params: Tensors, grads: Tensors, states: list[Any], **options: Any) -> None:
    """What the rule makes of parameters and states, written into them. RuntimeError for counts that are no tensors."""
    if not all(isinstance(state.step, Tensor) for state in states):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    new_params, new_states = rule(params, grads, [_with_numbers(state) for state in states], **options)
    for p, new in zip(params, new_params, strict=True):
        overwrite(p, new)
    for before, after in zip(states, new_states, strict=True):
        for target, value in zip(before, after, strict=True):
            if target is not None:
                overwrite(target, value)


def _with_numbers(state: Any) -> Any:
    return state._replace(**{name: float(getattr(state, name)) for name in COUNTERS if name in state._fields})


def _not_scaled(grad_scale: Any, found_inf: Any) -> None:
    """AssertionError, as in PyTorch, for what only its fused steps take."""
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")


def _filled(some: Sequence[Any], params: Tensors) -> Sequence[Any]:
    """A list of states that may be empty, where nothing is remembered."""
    return some or [None] * len(params)


def sgd(
    params: Tensors,
    d_p_list: Tensors,
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step of SGD. In `momentum_buffer_list` None stands for no buffer yet; a first one is put there."""
    _not_scaled(grad_scale, found_inf)
    options = {"momentum": momentum, "dampening": dampening, "nesterov": nesterov}
    new_params, buffers = rules.sgd(
        params, d_p_list, momentum_buffer_list, lr=lr, weight_decay=weight_decay, maximize=maximize, **options
    )
    for p, new in zip(params, new_params, strict=True):
        overwrite(p, new)
    for i, (before, after) in enumerate(zip(momentum_buffer_list, buffers, strict=True)):
        if before is not None and after is not None:
            overwrite(before, after)
        elif after is not None:  # the gradient itself, which somebody else may overwrite
            momentum_buffer_list[i] = after.clone()


def adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of Adam."""
    _not_scaled(grad_scale, found_inf)
    states = [
        rules.AdamState(*state)
        for state in zip(
            state_steps, exp_avgs, exp_avg_sqs, _filled(max_exp_avg_sqs if amsgrad else (), params), strict=True
        )
    ]
    write(
        rules.adam,
        params,
        grads,
        states,
        lr=lr,
        betas=(beta1, beta2),
        eps=eps,
        weight_decay=weight_decay,
        decoupled=decoupled_weight_decay,
        maximize=maximize,
    )


def adamw(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    has_complex: bool = False,
    *,
    amsgrad: bool,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of AdamW: adam with decoupled weight decay."""
    options = {"beta1": beta1, "beta2": beta2, "lr": lr, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
    adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale=grad_scale, found_inf=found_inf,
        decoupled_weight_decay=True, amsgrad=amsgrad, **options,
    )  # fmt: skip


def adamax(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_infs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
) -> None:
    """One step of Adamax."""
    states = [rules.AdamaxState(*state) for state in zip(state_steps, exp_avgs, exp_infs, strict=True)]
    write(
        rules.adamax,
        params,
        grads,
        states,
        lr=lr,
        betas=(beta1, beta2),
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
    )


def nadam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    mu_products: Tensors,
    state_steps: Tensors,
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """One step of NAdam."""
    states = [rules.NAdamState(*state) for state in zip(state_steps, mu_products, exp_avgs, exp_avg_sqs, strict=True)]
    write(
        rules.nadam,
        params,
        grads,
        states,
        lr=lr,
        betas=(beta1, beta2),
        eps=eps,
        weight_decay=weight_decay,
        momentum_decay=momentum_decay,
        decoupled=decoupled_weight_decay,
        maximize=maximize,
    )


def radam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    state_steps: Tensors,
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
) -> None:
    """One step of RAdam."""
    states = [rules.RAdamState(*state) for state in zip(state_steps, exp_avgs, exp_avg_sqs, strict=True)]
    write(
        rules.radam,
        params,
        grads,
        states,
        lr=lr,
        betas=(beta1, beta2),
        eps=eps,
        weight_decay=weight_decay,
        decoupled=decoupled_weight_decay,
        maximize=maximize,
    )


def adagrad(
    params: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of Adagrad."""
    _not_scaled(grad_scale, found_inf)
    states = [rules.AdagradState(*state) for state in zip(state_steps, state_sums, strict=True)]
    write(
        rules.adagrad,
        params,
        grads,
        states,
        lr=lr,
        lr_decay=lr_decay,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
    )


def adadelta(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    acc_deltas: Tensors,
    state_steps: Tensors,
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of Adadelta."""
    states = [rules.AdadeltaState(*state) for state in zip(state_steps, square_avgs, acc_deltas, strict=True)]
    write(rules.adadelta, params, grads, states, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize)


def rmsprop(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    grad_avgs: Tensors,
    momentum_buffer_list: list[Tensor | None],
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """One step of RMSprop."""
    states = [
        rules.RMSpropState(*state)
        for state in zip(
            state_steps,
            square_avgs,
            _filled(momentum_buffer_list if momentum > 0 else (), params),
            _filled(grad_avgs if centered else (), params),
            strict=True,
        )
    ]
    write(
        rules.rmsprop,
        params,
        grads,
        states,
        lr=lr,
        alpha=alpha,
        eps=eps,
        weight_decay=weight_decay,
        momentum=momentum,
        maximize=maximize,
    )


def asgd(
    params: Tensors,
    grads: Tensors,
    axs: Tensors,
    mus: Tensors,
    etas: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: Any,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """One step of ASGD."""
    states = [rules.ASGDState(*state) for state in zip(state_steps, etas, mus, axs, strict=True)]
    write(
        rules.asgd,
        params,
        grads,
        states,
        lr=lr,
        lambd=lambd,
        alpha=alpha,
        t0=t0,
        weight_decay=weight_decay,
        maximize=maximize,
    )


def rprop(
    params: Tensors,
    grads: Tensors,
    prevs: Tensors,
    step_sizes: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """One step of Rprop."""
    states = [rules.RpropState(*state) for state in zip(state_steps, prevs, step_sizes, strict=True)]
    write(
        rules.rprop,
        params,
        grads,
        states,
        etas=(etaminus, etaplus),
        step_sizes=(step_size_min, step_size_max),
        maximize=maximize,
    )
