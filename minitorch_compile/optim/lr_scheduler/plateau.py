"""ReduceLROnPlateau: a smaller rate once a number stops getting better.

>>> from minitorch_compile import nn, ones, optim
>>> opt = optim.SGD([nn.Parameter(ones(1))], lr=1.0)
>>> schedule = ReduceLROnPlateau(opt, patience=1)
>>> for loss in (3.0, 2.0, 2.0, 2.0):
...     schedule.step(loss)
>>> schedule.get_last_lr()
[0.1]
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.optim.lr_scheduler.scheduler import LRScheduler, for_each_group, set_option
from minitorch_compile.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rates by `factor` when `metrics` was no better than the best for more than `patience` epochs.

    Better means lower by `threshold`, or with mode "max" higher; as a fraction ("rel") or absolutely ("abs"). After
    that `cooldown` epochs don't count. No rate goes below its `min_lr`, nor changes by less than `eps`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.optimizer = optimizer
        self.min_lrs = for_each_group(min_lr, "min_lr", optimizer)
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self.current
        self._reset()

    def _reset(self) -> None:
        """Forgets what was best."""
        self.best = math.inf if self.mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes the number of this epoch: a float, or a tensor of one element."""
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.current

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)

    def is_better(self, a: float, best: float) -> bool:
        """Whether `a` beats the best so far by more than the threshold."""
        margin = abs(best) * self.threshold if self.threshold_mode == "rel" and math.isfinite(best) else 0.0
        if self.threshold_mode == "abs":
            margin = self.threshold
        elif best < 0:
            margin = -margin  # PyTorch multiplies by 1 -+ threshold, whatever the sign
        return a < best - margin if self.mode == "min" else a > best + margin
