"""Steps for parameters whose gradient is sparse: only what the gradient speaks of is touched.

>>> from minitorch_compile import nn, ones, optim, tensor
>>> table = nn.Embedding.from_pretrained(ones(3, 2), freeze=False, sparse=True)
>>> optimizer = optim.SGD(table.parameters(), lr=0.5)
>>> table(tensor([1])).sum().backward(); optimizer.step(); table.weight.data
tensor([[1.0000, 1.0000],
        [0.5000, 0.5000],
        [1.0000, 1.0000]])

An optimizer that can do it has a row in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor import Tensor, ops, tensor

Group = dict[str, Any]
Step = Callable[[dict[str, Any], Group, Any, Any], None]  # (state, group, parameter, gradient)

HINTS = {"Adam": ", please consider SparseAdam instead"}


def step_sparse(optimizer: Any, group: Group, params: list[Tensor]) -> list[Tensor]:
    """Steps those of the parameters whose gradient is sparse; gives the others. RuntimeError for an optimizer that
    needs all of a gradient."""
    name = next((c.__name__ for c in type(optimizer).__mro__ if c.__name__ in STEPS), "")
    for p in params:
        grad: Any = p.grad
        if grad.is_sparse_layout:
            if not name:
                classes = [c.__name__ for c in type(optimizer).__mro__]
                name = next((c for c in classes if c in HINTS), classes[0])
                raise RuntimeError(f"{name} does not support sparse gradients{HINTS.get(name, '')}")
            STEPS[name](optimizer.state[p], group, p, -grad if group.get("maximize") else grad)
    return [p for p in params if not p.grad.is_sparse_layout]


def _sgd(state: dict[str, Any], group: Group, p: Any, grad: Any) -> None:
    if group["weight_decay"]:
        grad = ops.add(grad, p, group["weight_decay"])  # refused: the sum would not be sparse
    if group["momentum"]:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = grad.clone()
        else:
            buffer.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
        grad = ops.add(grad, buffer, group["momentum"]) if group["nesterov"] else buffer
    p.add_(grad, alpha=-float(group["lr"]))


def _adagrad(state: dict[str, Any], group: Group, p: Any, grad: Any) -> None:
    if group["weight_decay"]:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    state.setdefault("step", tensor(0.0))
    if "sum" not in state:
        state["sum"] = ops.full_like(p, float(group["initial_accumulator_value"]))
    state["step"] += 1
    rate = float(group["lr"]) / (1 + (float(state["step"]) - 1) * group["lr_decay"])
    grad = grad.coalesce()
    state["sum"].add_(grad.pow(2))
    spread = state["sum"].sparse_mask(grad)._values().sqrt() + group["eps"]
    p.add_(grad.like(grad._values() / spread), alpha=-rate)


def sparse_adam(state: dict[str, Any], group: Group, p: Any, grad: Any) -> None:
    """Adam whose averages stay as they are where the gradient has no entry."""
    if not state:
        state.update(step=0, exp_avg=ops.zeros_like(p), exp_avg_sq=ops.zeros_like(p))
    state["step"] += 1
    beta1, beta2 = group["betas"]
    grad = grad.coalesce()
    values = grad._values()
    if not values.numel():
        return
    moved = []
    for name, value, beta in (("exp_avg", values, beta1), ("exp_avg_sq", values * values, beta2)):
        before = state[name].sparse_mask(grad)._values()
        change = (value - before) * (1 - beta)
        state[name].add_(grad.like(change))
        moved.append(before + change)
    mean, square = moved
    corrected = (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
    p.add_(grad.like(mean / (square.sqrt() + group["eps"])), alpha=-float(group["lr"]) * corrected)


STEPS: dict[str, Step] = {"SGD": _sgd, "Adagrad": _adagrad, "SparseAdam": sparse_adam}
