"""Schedules that go up and down within a training run: CyclicLR and OneCycleLR (Smith 2017, 2018).

>>> from minitorch_compile import nn, ones, optim
>>> opt = optim.SGD([nn.Parameter(ones(1))], lr=1.0)
>>> schedule = CyclicLR(opt, base_lr=0.1, max_lr=0.5, step_size_up=2, cycle_momentum=False)
>>> [(round(schedule.get_last_lr()[0], 3), schedule.step())[0] for _ in range(5)]
[0.1, 0.3, 0.5, 0.3, 0.1]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.optim.lr_scheduler.factors import is_object
from minitorch_compile.optim.lr_scheduler.scheduler import LRScheduler, for_each_group, set_option
from minitorch_compile.optim.optimizer import Group, Optimizer

MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    """Straight up from `base_lr` to `max_lr` in `step_size_up` steps and down in `step_size_down`, again and again.

    The height of a cycle stays, halves each time ("triangular2"), falls by `gamma` each step ("exp_range"), or is
    scaled by `scale_fn` of the cycle or the iteration. With `cycle_momentum` the momentum goes the other way.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in MODES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, for_each_group(base_lr, "base_lr", optimizer), strict=True):
                set_option(group, "lr", lr)
        self.max_lrs = for_each_group(max_lr, "max_lr", optimizer)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._prepare_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = for_each_group(base_lr, "base_lr", optimizer)

    def _prepare_momentum(self, optimizer: Optimizer, base: Any, most: Any, last_epoch: int) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = for_each_group(base, "base_momentum", optimizer)
        self.max_momentums = for_each_group(most, "max_momentum", optimizer)
        if last_epoch == -1:
            for group, high, low in zip(optimizer.param_groups, self.max_momentums, self.base_momentums, strict=True):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = high, low

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, as a function of the cycle or the iteration."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        """The rates; sets the momenta too."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        position = 1.0 + self.last_epoch / self.total_size - cycle
        height = position / self.step_ratio if position <= self.step_ratio else (position - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                set_momentum(group, high - (high - low) * height, self.use_beta1)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """What to save; of a scale_fn only the attributes of an object that is called like a function."""
        state = {key: value for key, value in super().state_dict().items() if key != "_scale_fn_custom"}
        function = self._scale_fn_custom
        state["_scale_fn_custom"] = dict(function.__dict__) if function is not None and is_object(function) else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        function, saved = self._scale_fn_custom, state_dict.get("_scale_fn_custom")
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if saved is not None and function is not None:
            function.__dict__.update(saved)


class OneCycleLR(LRScheduler):
    """One cycle for a whole run: up to `max_lr`, then down to far below where it began.

    It begins at max_lr / div_factor and ends at that over `final_div_factor`; `pct_start` of the steps go up. The
    length is `total_steps`, or `epochs` times `steps_per_epoch`. `three_phase` comes down as it went up and sinks after
    that.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.total_steps = _length(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self.cycle_momentum = cycle_momentum
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, for_each_group(max_lr, "max_lr", optimizer), strict=True):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._prepare_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _prepare_momentum(self, optimizer: Optimizer, base: Any, most: Any, last_epoch: int) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        lows = for_each_group(base, "base_momentum", optimizer)
        highs = for_each_group(most, "max_momentum", optimizer)
        if last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = high, low

    def get_lr(self) -> list[Any]:
        """The rates; sets the momenta too."""
        now = self.last_epoch
        if now > self.total_steps:
            raise ValueError(f"Tried to step {now} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            if now <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        done = (now - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], done))
            if self.cycle_momentum:
                momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], done)
                set_momentum(group, momentum, self.use_beta1)
        return rates

    def _between(self, start: float, end: float, done: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * done + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)


def _length(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """The number of steps of a run. ValueError if it isn't given, or isn't positive."""
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch


def _phases(total: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and the options of a group that it goes between."""
    up = {"end_step": float(pct_start * total) - 1, "start_lr": "initial_lr", "end_lr": "max_lr"}
    up |= {"start_momentum": "max_momentum", "end_momentum": "base_momentum"}
    last = {"end_step": total - 1, "start_lr": "max_lr", "end_lr": "min_lr"}
    last |= {"start_momentum": "base_momentum", "end_momentum": "max_momentum"}
    if not three_phase:
        return [up, last]
    down = {**last, "end_step": float(2 * pct_start * total) - 2, "end_lr": "initial_lr"}
    last |= {"start_lr": "initial_lr", "start_momentum": "max_momentum"}
    return [up, down, last]


def set_momentum(group: Group, value: float, use_beta1: bool) -> None:
    """Sets the momentum of a group, or the first of its betas."""
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value
