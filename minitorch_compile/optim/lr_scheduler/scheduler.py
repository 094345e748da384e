"""The base class of schedules.

>>> from minitorch_compile import nn, ones, optim
>>> class Halving(LRScheduler):
...     def get_lr(self):
...         return [group["lr"] / 2 if self.last_epoch else group["lr"] for group in self.optimizer.param_groups]
>>> schedule = Halving(optim.SGD([nn.Parameter(ones(1))], lr=1.0))
>>> schedule.step(); schedule.step(); schedule.get_last_lr()
[0.25]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.optim.optimizer import Group, Optimizer
from minitorch_compile.tensor import Tensor


class LRScheduler:
    """`step()` moves one epoch on. A subclass defines `get_lr()`: the rates of epoch `last_epoch`, one for each group,
    usually worked out from those of the epoch before, so that schedules can be combined.

    Where the rates are a formula of the epoch alone, `_get_closed_form_lr()` gives them too; `step(epoch)` jumps there.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"].clone() if isinstance(group["lr"], Tensor) else group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self.step()

    def get_lr(self) -> list[Any]:
        """The rates of the epoch, one for each group."""
        raise NotImplementedError(f"{type(self).__name__}: define get_lr()")

    def get_last_lr(self) -> list[Any]:
        """The rates in use, one for each group."""
        return list(self._last_lr)

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch: call it after the optimizer's steps."""
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        self._set(rates)

    def _set(self, rates: Sequence[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            set_option(group, "lr", rate)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What to save: everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict gave."""
        self.__dict__.update(state_dict)

    @property
    def current(self) -> list[Any]:
        """The rates in the groups now."""
        return [group["lr"] for group in self.optimizer.param_groups]


def set_option(group: Group, name: str, value: Any) -> None:
    """Sets an option of a group; a tensor stays the tensor that it is."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def for_each_group(value: Any, name: str, optimizer: Optimizer) -> list[Any]:
    """One value for all groups, or a list with one for each. ValueError for a list of another length."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: expected {groups}, got {len(value)}"
        )
    return list(value)
