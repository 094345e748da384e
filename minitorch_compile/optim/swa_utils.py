"""Averages of a model's parameters over training: stochastic weight averaging and exponential moving averages.

>>> from minitorch_compile import nn, tensor
>>> model = nn.Linear(1, 1)
>>> average = AveragedModel(model)
>>> for value in (1.0, 3.0):
...     _ = model.weight.data.fill_(value)
...     average.update_parameters(model)
>>> average.module.weight.item(), average.n_averaged.item()
(2.0, 2)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from minitorch_compile import nn
from minitorch_compile.optim.fused import move_towards
from minitorch_compile.optim.lr_scheduler.scheduler import LRScheduler, for_each_group
from minitorch_compile.optim.optimizer import Optimizer
from minitorch_compile.tensor import Tensor, int64, no_grad, tensor

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """For AveragedModel's multi_avg_fn: the exponential moving average, of all parameters together."""
    get_ema_avg_fn(decay)  # ValueError

    @no_grad()
    def update(averages: Sequence[Tensor], current: Sequence[Tensor], _: Any) -> None:
        move_towards(averages, current, 1 - decay)

    return update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """For AveragedModel's avg_fn: decay * average + (1 - decay) * new. ValueError for a decay outside [0, 1]."""
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def update(average: Tensor, current: Tensor, count: Any) -> Any:
        return average * decay + current * (1 - decay)

    return update


def get_swa_avg_fn() -> Average:
    """For AveragedModel's avg_fn: the mean of all so far."""

    @no_grad()
    def update(average: Tensor, current: Tensor, count: Any) -> Any:
        return average + (current - average) / (count + 1)

    return update


def get_swa_multi_avg_fn() -> Averages:
    """For AveragedModel's multi_avg_fn: the mean of all so far, of all parameters together.

    >>> average = tensor([2.0])
    >>> get_swa_multi_avg_fn()([average], [tensor([5.0])], 2)
    >>> average
    tensor([3.])
    """

    @no_grad()
    def update(averages: Sequence[Tensor], current: Sequence[Tensor], count: Any) -> None:
        move_towards(averages, current, 1 / (int(count) + 1))

    return update


class AveragedModel(nn.Module):
    """A copy of a model whose parameters are averages; call `update_parameters(model)` every now and then.

    The default is the mean; `avg_fn(average, new, count)` gives another average, or `multi_avg_fn` writes all of them.
    With `use_buffers` buffers are averaged too, otherwise copied.
    """

    def __init__(
        self,
        model: nn.Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's output."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: nn.Module) -> None:
        """Takes the parameters of `model` into the averages; the first time they are copied."""
        own, current = self._averaged(self.module), self._averaged(model)
        count = int(self.n_averaged)
        with no_grad():
            if count == 0:
                for average, new in zip(own, current, strict=True):
                    average.copy_(new)
            elif self.avg_fn is None:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(own, current, self.n_averaged)
            else:
                for average, new in zip(own, current, strict=True):
                    average.copy_(self.avg_fn(average, new, self.n_averaged))
            if not self.use_buffers:
                for buffer, new in zip(self.module.buffers(), model.buffers(), strict=True):
                    buffer.copy_(new)
            self.n_averaged.add_(1)

    def _averaged(self, model: nn.Module) -> list[Tensor]:
        parameters = (p.detach() for p in model.parameters())
        return list(itertools.chain(parameters, model.buffers() if self.use_buffers else ()))


def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Computes the running statistics of all batch norms anew, in one pass over the data. An item of the loader may be
    a tuple, whose first part is the input."""
    norms = [module for module in model.modules() if hasattr(module, "running_mean") and hasattr(module, "momentum")]
    norms = [module for module in norms if module.running_mean is not None]
    if not norms:
        return
    momenta = [module.momentum for module in norms]
    was_training = model.training
    model.train()
    for module in norms:
        module.reset_running_stats()
        module.momentum = None  # a plain mean over all batches
    with no_grad():
        for item in loader:
            input = item[0] if isinstance(item, (list, tuple)) else item
            model(input if device is None else input.to(device))
    for module, momentum in zip(norms, momenta, strict=True):
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from the rate in use to `swa_lr` in `anneal_epochs` epochs, along a cosine or a line, and stays."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, for_each_group(swa_lr, "swa_lr", optimizer), strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self._anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        before, now = self._done(self.last_epoch - 1), self._done(self.last_epoch)
        rates = []
        for group in self.optimizer.param_groups:
            # Where it came from follows from the rate in use and how far it is on its way.
            start = group["lr"] if before >= 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates

    def _done(self, epoch: int) -> float:
        done = max(0.0, min(1.0, epoch / max(1, self.anneal_epochs)))
        if self.anneal_epochs == 0:
            return 1.0
        return (1 - math.cos(math.pi * done)) / 2 if self._anneal_strategy == "cos" else done
