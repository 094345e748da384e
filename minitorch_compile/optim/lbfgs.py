"""L-BFGS: a step from the last few gradients that knows about curvature. For smooth losses of the whole data.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([3.0, -2.0]))
>>> opt = LBFGS([w], line_search_fn="strong_wolfe")
>>> def closure():
...     opt.zero_grad()
...     loss = ((w - tensor([1.0, 2.0])) ** 2 * tensor([1.0, 10.0])).sum()
...     loss.backward()
...     return loss
>>> first = opt.step(closure)
>>> first.item(), [round(x, 3) for x in w.tolist()]
(164.0, [1.0, 2.0])

The inverse Hessian is never formed: its product with the gradient comes from the pairs (change of gradient, step) of
the last `history_size` iterations (Nocedal 1980).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from minitorch_compile.optim.line_search import strong_wolfe
from minitorch_compile.optim.optimizer import Optimizer, check_option
from minitorch_compile.tensor import Tensor, enable_grad, no_grad, ops


class LBFGS(Optimizer):
    """L-BFGS with PyTorch's options. One `step` makes up to `max_iter` iterations and needs a closure that computes the
    loss and its gradients anew. All parameters are one group; the state is kept with the first of them.

    `params`: the tensors to train. `max_eval`: how often the closure is called at most. `tolerance_grad`,
    `tolerance_change`: gradients and steps that are small enough. `history_size`: how many steps are remembered.
    `line_search_fn`: None takes steps of `lr`, "strong_wolfe" searches for a good length.

    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.LBFGS([w])
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> torch.allclose(w, torch.tensor([3.0]))
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_option("learning rate", lr, lr >= 0)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")

    def step(self, closure: Callable[[], Any]) -> Any:
        """Iterates; returns the loss before the first iteration. TypeError without a closure."""
        with no_grad():
            return _Run(self.param_groups[0], self.state[self.param_groups[0]["params"][0]], closure).run()


class _Run:
    """One call of step."""

    def __init__(self, group: dict[str, Any], state: dict[str, Any], closure: Callable[[], Any]) -> None:
        self.group = group
        self.params = group["params"]
        self.state = state
        self.closure = closure
        self.evaluations = 0
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

    def evaluate(self) -> tuple[Any, Tensor]:
        """The loss and the gradient of all parameters, one after another."""
        with enable_grad():
            loss = self.closure()
        self.evaluations += 1
        self.state["func_evals"] += 1
        gradients = [ops.zeros_like(p) if p.grad is None else p.grad for p in self.params]
        return loss, ops.cat([ops.reshape(_real(g), (-1,)) for g in gradients])

    def run(self) -> Any:
        state, group = self.state, self.group
        first_loss, gradient = self.evaluate()
        loss = float(first_loss)
        if self.is_flat(gradient):
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            self.choose_direction(gradient)
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            d = state["d"]
            slope = float((gradient * d).sum())
            first = min(1.0, 1.0 / float(gradient.abs().sum())) if state["n_iter"] == 1 else 1
            state["t"] = first * group["lr"]
            if slope > -group["tolerance_change"]:
                break
            loss, gradient = self.move(loss, gradient, slope, is_last=iteration == group["max_iter"])
            if (
                self.evaluations >= group["max_eval"]
                or self.is_flat(gradient)
                or float((d * state["t"]).abs().max()) <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first_loss

    def is_flat(self, gradient: Tensor) -> bool:
        return float(gradient.abs().max()) <= self.group["tolerance_grad"]

    def choose_direction(self, gradient: Tensor) -> None:
        """Sets state["d"], after the last step was added to the history if it shows a positive curvature."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(d=-gradient, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = (y * s).sum()
        if float(curvature) > 1e-10:
            history = state["old_dirs"], state["old_stps"], state["ro"]
            if len(state["old_dirs"]) == self.group["history_size"]:
                for values in history:
                    values.pop(0)
            for values, value in zip(history, (y, s, 1.0 / curvature), strict=True):
                values.append(value)
            state["H_diag"] = curvature / (y * y).sum()
        state["d"] = self.times_inverse_hessian(-gradient)

    def times_inverse_hessian(self, q: Tensor) -> Tensor:
        """The two loops: back through the history, then forth."""
        pairs = list(zip(self.state["old_dirs"], self.state["old_stps"], self.state["ro"], strict=True))
        weights = []
        for y, s, ro in reversed(pairs):
            weights.append((s * q).sum() * ro)
            q = q - y * weights[-1]
        r = q * self.state["H_diag"]
        for (y, s, ro), weight in zip(pairs, reversed(weights), strict=True):
            r = r + s * (weight - (y * r).sum() * ro)
        return r

    def move(self, loss: float, gradient: Tensor, slope: float, is_last: bool) -> tuple[float, Tensor]:
        """Steps along the direction; the loss and the gradient there (as before if nobody will look at them)."""
        state = self.state
        if self.group["line_search_fn"] is None:
            self.add(state["d"], state["t"])
            if is_last:
                return loss, gradient
            new_loss, gradient = self.evaluate()
            return float(new_loss), gradient
        before = [p.clone() for p in self.params]

        def objective(t: float) -> tuple[float, Tensor]:
            self.add(state["d"], t)
            value, gradient = self.evaluate()
            for p, old in zip(self.params, before, strict=True):
                p.copy_(old)
            return float(value), gradient

        point, _ = strong_wolfe(
            objective,
            state["t"],
            state["d"],
            loss,
            gradient,
            slope=slope,
            most_iterations=self.group["max_eval"] - self.evaluations,
        )
        state["t"] = point.t
        self.add(state["d"], point.t)
        return point.value, point.gradient

    def add(self, direction: Tensor, t: Any) -> None:
        """Moves the parameters by t times the direction."""
        start = 0
        for p in self.params:
            sizes = (*p.shape, 2) if p.is_complex() else p.shape
            part = direction[start : start + math.prod(sizes)].reshape(sizes)
            p.add_((ops.view_as_complex(part) if p.is_complex() else part) * t)
            start += math.prod(sizes)


def _real(x: Tensor) -> Tensor:
    """A tensor, or the two parts of a complex one: they are numbers to be chosen like any other."""
    return ops.view_as_real(x) if x.is_complex() else x
