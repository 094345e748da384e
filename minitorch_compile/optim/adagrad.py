"""Adagrad.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = Adagrad([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.9000])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import AdagradState
from minitorch_compile.optim.fused import fused_adagrad
from minitorch_compile.optim.in_place_rules import adagrad as adagrad
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer, filled_like
from minitorch_compile.tensor import Tensor, no_grad


class Adagrad(RuleOptimizer):
    """Adagrad (Duchi, Hazan and Singer 2011). The state is made at once, as in PyTorch."""

    rule = functional.adagrad
    native = fused_adagrad
    state_class = AdagradState
    options = ("lr", "lr_decay", "weight_decay", "eps", "maximize")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {"step": self.counter(p, group), "sum": filled_like(p, group["initial_accumulator_value"])}

    def add_param_group(self, param_group: Group) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        with no_grad():
            for p in group["params"]:
                self.state[p].update(self.initial_state(p, group))

    def steps_differ(self, group: Group) -> bool:
        return bool(group["lr_decay"])
