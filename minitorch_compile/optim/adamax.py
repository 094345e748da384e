"""Adamax.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = Adamax([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.9000])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import AdamaxState
from minitorch_compile.optim.in_place_rules import adamax as adamax
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class Adamax(RuleOptimizer):
    """Adam with the infinity norm (Kingma and Ba 2015)."""

    rule = functional.adamax
    state_class = AdamaxState
    options = ("lr", "betas", "eps", "weight_decay", "maximize")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {"step": self.counter(p, group), "exp_avg": zeros_like(p), "exp_inf": zeros_like(p)}
