"""Schedules that multiply the rate by a factor now and then, or by a function of the epoch.

>>> from minitorch_compile import nn, ones, optim
>>> opt = optim.SGD([nn.Parameter(ones(1))], lr=1.0)
>>> schedule = LinearLR(opt, start_factor=0.5, total_iters=2)
>>> [(schedule.get_last_lr()[0], schedule.step())[0] for _ in range(4)]
[0.5, 0.75, 1.0, 1.0]
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minitorch_compile.optim.lr_scheduler.scheduler import LRScheduler
from minitorch_compile.optim.optimizer import Optimizer

Factor = Callable[[int], float]


class _OfFunctions(LRScheduler):
    """Base class of those given by one function of the epoch, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas: list[Any] = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """What to save. A function isn't, only the attributes of an object that is called like one."""
        state = {key: value for key, value in super().state_dict().items() if key != "lr_lambdas"}
        state["lr_lambdas"] = [dict(f.__dict__) if is_object(f) else None for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        functions = self.lr_lambdas
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for f, saved in zip(functions, state_dict.get("lr_lambdas", ()), strict=False):
            if saved is not None:
                f.__dict__.update(saved)


def is_object(function: Any) -> bool:
    """Whether this is an object with attributes of its own, rather than a function."""
    return not hasattr(function, "__code__") and hasattr(function, "__dict__")


class LambdaLR(_OfFunctions):
    """The initial rate times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(_OfFunctions):
    """The last rate times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        if self.last_epoch <= 0:
            return self.current
        return [lr * f(self.last_epoch) for lr, f in zip(self.current, self.lr_lambdas, strict=True)]


class StepLR(LRScheduler):
    """The learning rate of each group of an `optimizer`, multiplied by `gamma` every `step_size` epochs; `last_epoch`
    is where to go on.

    >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self.current
        return [lr * self.gamma for lr in self.current]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiplied by `gamma` at each of the `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self.current]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Multiplied by `factor` for the first `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self.current]
        return [lr * (1.0 / self.factor) if self.last_epoch == self.total_iters else lr for lr in self.current]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * (1.0 if self.last_epoch >= self.total_iters else self.factor) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self.current]
        if self.last_epoch > self.total_iters:
            return self.current
        change = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * change
        return [lr * (1.0 + change / before) for lr in self.current]

    def _get_closed_form_lr(self) -> list[Any]:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * done) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiplied by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return [lr * self.gamma if self.last_epoch else lr for lr in self.current]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Times (1 - epoch / total_iters) to the power of `power`, down to 0."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return self.current
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return [lr * (left / before) ** self.power for lr in self.current]

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]
