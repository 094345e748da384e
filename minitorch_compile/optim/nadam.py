"""NAdam.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = NAdam([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.8944])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import NAdamState
from minitorch_compile.optim.fused_adaptive import fused_nadam
from minitorch_compile.optim.in_place_rules import nadam as nadam
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class NAdam(RuleOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016)."""

    rule = functional.nadam
    native = fused_nadam
    state_class = NAdamState
    options = (
        "lr",
        "betas",
        "eps",
        "weight_decay",
        "momentum_decay",
        ("decoupled_weight_decay", "decoupled"),
        "maximize",
    )
    counters = ("step", "mu_product")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {
            "step": self.counter(p, group),
            "mu_product": self.counter(p, group, 1.0),
            "exp_avg": zeros_like(p),
            "exp_avg_sq": zeros_like(p),
        }
