"""Stochastic gradient descent.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = SGD([w], lr=0.1, momentum=0.9)
>>> for _ in range(2):
...     opt.zero_grad(); (w * 2).sum().backward(); opt.step()
>>> w.data
tensor([0.4200])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim import functional
from minitorch_compile.optim.functional import SGDState
from minitorch_compile.optim.fused import fused_sgd, is_fused
from minitorch_compile.optim.in_place_rules import sgd as sgd
from minitorch_compile.optim.optimizer import Group, store
from minitorch_compile.optim.overwrite import overwrite
from minitorch_compile.optim.rule_optimizer import RuleOptimizer
from minitorch_compile.tensor import Tensor


class SGD(RuleOptimizer):
    """w -= lr * g, with momentum, Nesterov's momentum, dampening and weight decay as in PyTorch.

    `params`: the tensors to train, or groups of them. `lr`: the size of a step. `momentum`: how much of the last step
    goes on; `dampening`: how much of the gradient is left out of it; `nesterov`: the gradient is taken as if one had
    gone on already. `weight_decay` times the parameter is added to the gradient. `maximize` goes up instead of down.
    `foreach`, `fused` and `differentiable` change how it is computed in PyTorch, not what. ValueError for negative
    numbers.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> (w**2).sum().backward()
    >>> torch.optim.SGD([w], lr=0.1).step()
    >>> w.data
    tensor([0.8000])
    """

    rule = functional.sgd
    state_class = SGDState
    options = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
    counters = ()

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)

    def update(self, group: Group, params: list[Tensor]) -> None:
        buffers = [self.state[p].get("momentum_buffer") if group["momentum"] else None for p in params]
        if is_fused(group, params):
            new_buffers = fused_sgd(params, [p.grad for p in params], buffers, **self.rule_options(group))
        else:
            new_params, new_buffers = functional.sgd(
                params, [p.grad for p in params], buffers, **self.rule_options(group)
            )
            store(params, new_params)
        if group["momentum"]:
            for p, before, buffer in zip(params, buffers, new_buffers, strict=True):
                if before is None:
                    # The first buffer may be the gradient itself, which zero_grad would overwrite.
                    self.state[p]["momentum_buffer"] = buffer.clone() if buffer is p.grad else buffer
                elif buffer is not None and before is not buffer:
                    overwrite(before, buffer)
