"""Learning rates that change as training goes on.

>>> from minitorch_compile import nn, optim, tensor
>>> opt = optim.SGD([nn.Parameter(tensor([1.0]))], lr=1.0)
>>> scheduler = StepLR(opt, step_size=2, gamma=0.1)
>>> rates = []
>>> for epoch in range(4):
...     rates += scheduler.get_last_lr(); opt.step(); scheduler.step()
>>> rates
[1.0, 1.0, 0.1, 0.1]

Every rate here is a formula of the epoch and the initial rate, so a schedule can be resumed anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.optim.optimizer import Optimizer


class LRScheduler:
    """Base class: `step()` moves one epoch on. A subclass defines `rate(initial_lr, group_index)` for `last_epoch`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group["initial_lr"] = group["lr"]
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def rate(self, initial_lr: float, group: int) -> float:
        """The learning rate of a group in epoch `last_epoch`."""
        raise NotImplementedError(f"{type(self).__name__}: define rate(initial_lr, group)")

    def get_lr(self) -> list[float]:
        """The rates of the epoch, one for each group."""
        return [self.rate(initial, i) for i, initial in enumerate(self.base_lrs)]

    def get_last_lr(self) -> list[float]:
        """The rates in use, one for each group."""
        return list(self._last_lr)

    def step(self) -> None:
        """Goes on to the next epoch: call it after the optimizer's steps."""
        self.last_epoch += 1
        self._last_lr = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self._last_lr, strict=True):
            group["lr"] = lr

    def state_dict(self) -> dict[str, Any]:
        """What to save: everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict gave."""
        self.__dict__.update(state_dict)


class StepLR(LRScheduler):
    """Multiplied by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, initial_lr: float, group: int) -> float:
        return initial_lr * self.gamma ** (self.last_epoch // self.step_size)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate down to `eta_min`, in `T_max` epochs (Loshchilov and Hutter 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, initial_lr: float, group: int) -> float:
        return self.eta_min + (initial_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch; one function, or one for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, Sequence) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def rate(self, initial_lr: float, group: int) -> float:
        return initial_lr * self.lr_lambdas[group](self.last_epoch)

    def state_dict(self) -> dict[str, Any]:
        return {key: value for key, value in super().state_dict().items() if key != "lr_lambdas"}
