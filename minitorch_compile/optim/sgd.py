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

from minitorch_compile.optim.functional import sgd
from minitorch_compile.optim.optimizer import Group, Optimizer, check_option, store
from minitorch_compile.tensor import Tensor


class SGD(Optimizer):
    """w -= lr * g, with momentum, Nesterov's momentum, dampening and weight decay as in PyTorch."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_option("learning rate", lr, lr >= 0)
        check_option("momentum value", momentum, momentum >= 0)
        check_option("weight_decay value", weight_decay, weight_decay >= 0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options = {
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, {"lr": lr, **options})

    def update(self, group: Group, params: list[Tensor]) -> None:
        options = {key: group[key] for key in ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")}
        buffers = [self.state[p].get("momentum_buffer") if group["momentum"] else None for p in params]
        new_params, new_buffers = sgd(params, [p.grad for p in params], buffers, **options)
        store(params, new_params)
        for p, buffer in zip(params, new_buffers, strict=True):
            if buffer is not None:
                # The first buffer may be the gradient itself, which zero_grad would overwrite.
                self.state[p]["momentum_buffer"] = buffer.clone() if buffer is p.grad else buffer
