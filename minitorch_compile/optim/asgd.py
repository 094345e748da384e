"""Averaged stochastic gradient descent.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = ASGD([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.8000])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import ASGDState
from minitorch_compile.optim.in_place_rules import asgd as asgd
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class ASGD(RuleOptimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the average is the state "ax"."""

    rule = functional.asgd
    state_class = ASGDState
    options = ("lr", "lambd", "alpha", "t0", "weight_decay", "maximize")
    counters = ("step", "eta", "mu")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {
            "step": self.counter(p, group),
            "eta": self.counter(p, group, group["lr"]),
            "mu": self.counter(p, group, 1.0),
            "ax": zeros_like(p),
        }
