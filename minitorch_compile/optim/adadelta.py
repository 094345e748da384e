"""Adadelta.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = Adadelta([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); w.data
tensor([0.9997])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import AdadeltaState
from minitorch_compile.optim.fused_adaptive import fused_adadelta
from minitorch_compile.optim.in_place_rules import adadelta as adadelta
from minitorch_compile.optim.optimizer import Group, check_option
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.ops import zeros_like


class Adadelta(RuleOptimizer):
    """Adadelta (Zeiler 2012): steps as large as the last ones were, over the size of the gradients.

    `params`: the tensors to train, or groups of them. `lr`: a factor of each step. `rho`: how much of the averages of
    squares is kept. `eps` is added to them. `weight_decay` times the parameter is added to the gradient; `maximize`
    goes up instead of down. `foreach`, `capturable` and `differentiable` change how it is computed in PyTorch, not
    what.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> (w**2).sum().backward()
    >>> torch.optim.Adadelta([w]).step()
    >>> bool(w < 1)
    True
    """

    rule = functional.adadelta
    native = fused_adadelta
    state_class = AdadeltaState
    options = ("lr", "rho", "eps", "weight_decay", "maximize")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        check_option("rho value", rho, 0 <= rho <= 1)
        super().__init__(params, defaults)

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        return {"step": self.counter(p, group), "square_avg": zeros_like(p), "acc_delta": zeros_like(p)}
