"""RMSprop.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = RMSprop([w], lr=0.01)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.9000])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import RMSpropState
from minitorch_compile.optim.fused_adaptive import fused_rmsprop
from minitorch_compile.optim.in_place_rules import rmsprop as rmsprop
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class RMSprop(RuleOptimizer):
    """RMSprop (Hinton 2012), with momentum and centered (Graves 2013) if asked for."""

    rule = functional.rmsprop
    native = fused_rmsprop
    state_class = RMSpropState
    options = ("lr", "alpha", "eps", "weight_decay", "momentum", "maximize")
    asked_for: ClassVar[dict[str, str]] = {"momentum": "momentum_buffer", "centered": "grad_avg"}

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        state = {"step": self.counter(p, group), "square_avg": zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)
        return state

    def has_native(self, group: Group) -> bool:
        return not group["centered"]
