"""Muon.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([[1.0, 0.0], [0.0, 1.0]]))
>>> opt = Muon([w], lr=0.1, weight_decay=0.0)
>>> (w * 2).sum().backward(); opt.step(); opt.state[w]["momentum_buffer"][0]
tensor([0.1000, 0.1000])
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim.optimizer import Group, Optimizer
from minitorch_compile.tensor import Tensor, bfloat16, ops

RATES = ("original", "match_rms_adamw")


class Muon(Optimizer):
    """Momentum, made orthogonal by Newton-Schulz iterations (Jordan et al. 2024), for parameters that are matrices.

    `adjust_lr_fn`: how the rate depends on the sizes: "original", or "match_rms_adamw" for rates that were chosen for
    AdamW. ValueError for parameters of other dimensions.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for what, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0:
                raise ValueError(f"{what} should be >= 0 but is: {value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in RATES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def update(self, group: Group, params: list[Tensor]) -> None:
        for p in params:
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[p]
            if not state:
                state["momentum_buffer"] = ops.zeros_like(p.grad)
            mean = state["momentum_buffer"]
            mean.lerp_(p.grad, 1 - group["momentum"])
            step = p.grad.lerp(mean, group["momentum"]) if group["nesterov"] else mean
            step = orthogonal(step, group["ns_coefficients"], group["ns_steps"], group["eps"])
            p.mul_(1 - group["lr"] * group["weight_decay"])
            p.add_(step.to(p.dtype), alpha=-rate_for(group["lr"], group["adjust_lr_fn"], p.shape))


def orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """About the nearest orthogonal matrix, in bfloat16: each step moves the singular values towards one."""
    first, second, third = coefficients
    turned = matrix.shape[0] > matrix.shape[1]
    x = matrix.to(bfloat16)
    x = x.T if turned else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        products = x @ x.T
        x = ops.addmm(x, ops.addmm(products, products, products, beta=second, alpha=third), x, beta=first)
    return x.T if turned else x


def rate_for(lr: float, adjust: str | None, sizes: Any) -> float:
    """The rate for a matrix of these sizes."""
    rows, columns = sizes
    if adjust == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
