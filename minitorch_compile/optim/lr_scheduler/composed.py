"""Schedules made of schedules: one after another, or all at once.

>>> from minitorch_compile import nn, ones, optim
>>> from minitorch_compile.optim.lr_scheduler import ConstantLR, ExponentialLR
>>> opt = optim.SGD([nn.Parameter(ones(1))], lr=1.0)
>>> schedule = SequentialLR(opt, [ConstantLR(opt, 0.5, 10), ExponentialLR(opt, 0.5)], milestones=[2])
>>> [(schedule.get_last_lr()[0], schedule.step())[0] for _ in range(5)]
[0.5, 0.5, 1.0, 0.5, 0.25]
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from minitorch_compile.optim.lr_scheduler.plateau import ReduceLROnPlateau
from minitorch_compile.optim.lr_scheduler.scheduler import LRScheduler
from minitorch_compile.optim.optimizer import Optimizer


class _Composed(LRScheduler):
    """Base class: saving and loading go through all parts."""

    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """What to save, with the state of each part."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        return {**state, "_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict gave."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for part, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.load_state_dict(saved)


def _check(schedulers: Sequence[LRScheduler], optimizer: Optimizer, name: str) -> None:
    for i, part in enumerate(schedulers):
        if not hasattr(part, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if isinstance(part, ReduceLROnPlateau) and name == "SequentialLR":
            raise ValueError("SequentialLR does not support `ReduceLROnPlateau` scheduler: it needs `metrics`.")
        if part.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got one at index {i}."
            )


class SequentialLR(_Composed):
    """One schedule after another: the next begins at each of the `milestones`, from its own beginning."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        _check(schedulers, optimizer, "SequentialLR")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of"
                f" milestone points, but got {len(schedulers)} schedulers and {len(milestones)} milestones"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each part set the rate when it was made: back to the beginning, and only the first takes its first step.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for part in schedulers:
            part.last_epoch -= 1
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Goes on to the next epoch."""
        self.last_epoch += 1
        which = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[which]
        if which > 0 and self._milestones[which - 1] == self.last_epoch:
            part.step(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_Composed):
    """Several schedules at once, each changing the rate that the one before left."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        _check(schedulers, optimizer, "ChainedScheduler")
        self._schedulers = list(schedulers)
        self.optimizer = optimizer
        self._last_lr = self.current

    def step(self) -> None:  # type: ignore[override]
        """Goes on to the next epoch."""
        for part in self._schedulers:
            part.step()
        self._last_lr = self.current
