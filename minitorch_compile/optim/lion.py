"""Lion.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = Lion([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.9000])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim.functional import LionState, lion
from minitorch_compile.optim.optimizer import Group
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class Lion(RuleOptimizer):
    """Lion (Chen et al. 2023). PyTorch has none: the defaults are the paper's, the names those of other optimizers."""

    rule = lion
    state_class = LionState
    options = ("lr", "betas", "weight_decay", "maximize")
    counters = ()

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {"exp_avg": zeros_like(p)}
