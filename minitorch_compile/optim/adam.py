"""Adam and AdamW.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = AdamW([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.8990])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim.functional import AdamState, adam
from minitorch_compile.optim.optimizer import Group, Optimizer, check_option, store
from minitorch_compile.tensor import Tensor, tensor
from minitorch_compile.tensor.ops import zeros_like


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015); AMSGrad if asked for.

    The step count is a tensor in the state, as in PyTorch, but is used as a number; with `capturable` it is used as a
    tensor, so that a compiled step is the same program every time.
    """

    decoupled = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        capturable: bool = False,
    ) -> None:
        check_option("learning rate", lr, lr >= 0)
        check_option("epsilon value", eps, eps >= 0)
        check_option("beta parameter at index 0", betas[0], 0 <= betas[0] < 1)
        check_option("beta parameter at index 1", betas[1], 0 <= betas[1] < 1)
        check_option("weight_decay value", weight_decay, weight_decay >= 0)
        options = {
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "capturable": capturable,
        }
        super().__init__(params, {"lr": lr, **options})

    def update(self, group: Group, params: list[Tensor]) -> None:
        options = {key: group[key] for key in ("lr", "betas", "eps", "weight_decay", "maximize")}
        states = [self._state_of(p, group) for p in params]
        new_params, new_states = adam(params, [p.grad for p in params], states, decoupled=self.decoupled, **options)
        store(params, new_params)
        for p, new in zip(params, new_states, strict=True):
            state = self.state[p]
            state["step"] += 1
            state["exp_avg"], state["exp_avg_sq"] = new.exp_avg, new.exp_avg_sq
            if new.max_exp_avg_sq is not None:
                state["max_exp_avg_sq"] = new.max_exp_avg_sq

    def _state_of(self, p: Tensor, group: Group) -> AdamState:
        state = self.state[p]
        if not state:
            state.update(step=tensor(0.0), exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(p)
        step = state["step"] if group["capturable"] else float(state["step"])
        return AdamState(step, state["exp_avg"], state["exp_avg_sq"], state.get("max_exp_avg_sq"))


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, capturable=capturable)
