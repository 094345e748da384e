"""Resilient backpropagation.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = Rprop([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.9000])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import RpropState
from minitorch_compile.optim.in_place_rules import rprop as rprop
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer, filled_like
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class Rprop(RuleOptimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993), for gradients of the whole data."""

    rule = functional.rprop
    state_class = RpropState
    options = ("etas", "step_sizes", "maximize")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {"step": self.counter(p, group), "prev": zeros_like(p), "step_size": filled_like(p, float(group["lr"]))}
