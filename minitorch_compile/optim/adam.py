"""Adam and AdamW.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = AdamW([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.8990])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import AdamState
from minitorch_compile.optim.fused import fused_adam
from minitorch_compile.optim.in_place_rules import adam as adam
from minitorch_compile.optim.in_place_rules import adamw as adamw
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class Adam(RuleOptimizer):
    """Adam (Kingma and Ba 2015); AMSGrad if asked for.

    `params`: the tensors to train, or groups of them. `lr`: the size of a step. `betas`: how much of the averages of
    gradients and of their squares is kept at each step. `eps` is added to the root in the denominator. `weight_decay`
    times the parameter is added to the gradient, or, `decoupled_weight_decay`, taken from the parameter. `amsgrad` uses
    the largest average of squares so far; `maximize` goes up instead of down. `foreach`, `fused` and `differentiable`
    change how it is computed in PyTorch, not what.

    The step count is a tensor in the state, as in PyTorch, but is used as a number; with `capturable`, and in a
    compiled function, it is used as a tensor, so that a step is the same program every time.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.Adam([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w.data
    tensor([0.9000])
    """

    rule = functional.adam
    native = fused_adam
    state_class = AdamState
    options = ("lr", "betas", "eps", "weight_decay", "maximize", ("decoupled_weight_decay", "decoupled"))
    asked_for: ClassVar[dict[str, str]] = {"amsgrad": "max_exp_avg_sq"}

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        state = {"step": self.counter(p, group), "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019): at each step, `lr` * `weight_decay` times the
    parameter is taken from it.

    The other options are Adam's: `params`, `betas`, `eps`, `amsgrad`, `maximize`, and `foreach`, `capturable`,
    `differentiable`, `fused`.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> (w**2).sum().backward()
    >>> torch.optim.AdamW([w], lr=0.1).step()
    >>> w.data
    tensor([0.8990])
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
