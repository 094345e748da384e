"""Adafactor.

>>> from minitorch_compile import nn, ones
>>> w = nn.Parameter(ones(4, 3))
>>> opt = Adafactor([w])
>>> (w * 2).sum().backward(); opt.step(); opt.state[w]["row_var"].shape, opt.state[w]["col_var"].shape
(torch.Size([4, 1]), torch.Size([1, 3]))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.optim.optimizer import Group, Optimizer
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo
from minitorch_compile.tensor.ops.construct import tensor


class Adafactor(Optimizer):
    """Adafactor (Shazeer and Stern 2018): of the squares of a matrix's gradients only the means of rows and columns are
    kept.

    `eps`: what a square may be at least (None: the dtype's), and the size of a parameter. `d`: how large a step may be.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        checks = (
            ("Learning rate should be >= 0", lr, lr >= 0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0),
            ("Clipping threshold d should be >= 1", d, d >= 1),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0),
        )
        for what, value, holds in checks:
            if not holds:
                raise ValueError(f"{what} but is: {value}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def steps_differ(self, group: Group) -> bool:
        return True

    def update(self, group: Group, params: list[Tensor]) -> None:
        for p in params:
            if p.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            grad = -p.grad if group["maximize"] else p.grad
            state = self.state[p]
            if not state:
                state.update(_initial_state(grad))
            state["step"].add_(1)
            step, least = state["step"].item(), group["eps"][0]
            least = finfo(p.dtype).eps if least is None else least
            size = max(group["eps"][1], p.norm().item() / p.numel() ** 0.5)
            rate = size * min(float(group["lr"]), 1 / step**0.5)
            p.mul_(1 - float(group["lr"]) * group["weight_decay"])
            squares = _squares(state, grad, step ** group["beta2_decay"], least)
            change = squares.clamp(min=least * least).rsqrt() * grad
            p.add_(change, alpha=-rate / max(1.0, change.norm().item() / (change.numel() ** 0.5 * group["d"])))


def _initial_state(grad: Any) -> dict[str, Any]:
    if grad.dim() < 2:
        return {"step": tensor(0.0), "variance": ops.zeros_like(grad)}
    *batch, rows, columns = grad.shape
    return {
        "step": tensor(0.0),
        "row_var": grad.new_zeros((*batch, rows, 1)),
        "col_var": grad.new_zeros((*batch, 1, columns)),
    }


def _squares(state: dict[str, Any], grad: Any, share: float, least: float) -> Any:
    """The running mean of the squares; of a matrix, the product of its rows' and its columns'."""
    if grad.dim() < 2:
        state["variance"].lerp_(grad * grad, share)
        return state["variance"]
    for name, dim in (("row_var", -1), ("col_var", -2)):
        state[name].lerp_(grad.norm(dim=dim, keepdim=True).square() / grad.shape[dim], share)
    rows = state["row_var"]
    return rows @ state["col_var"] / rows.mean(-2, keepdim=True).clamp(min=least)
