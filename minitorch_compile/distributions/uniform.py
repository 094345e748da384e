"""The uniform distribution on an interval.

>>> from minitorch_compile.tensor import tensor
>>> d = Uniform(0.0, 4.0)
>>> d.mean, d.cdf(tensor(1.0)), d.log_prob(tensor(1.0)).exp()
(tensor(2.), tensor(0.2500), tensor(0.2500))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class Uniform(Distribution):
    """Numbers in [`low`, `high`), each a number or a tensor. `validate_args`: whether arguments are checked.

    >>> torch.distributions.Uniform(0.0, 2.0).log_prob(torch.tensor(1.0))
    tensor(-0.6931)
    """

    has_rsample = True
    arg_constraints = {
        "low": constraints.dependent(is_discrete=False, event_dim=0),
        "high": constraints.dependent(is_discrete=False, event_dim=0),
    }
    parameter_event_dims = {"low": 0, "high": 0}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError(f"Uniform is not defined when low >= high, got low={low} and high={high}")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.nan, self.high.dtype, device=self.high.device)

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        fractions = ops.rand(tuple(self._extended_shape(sample_shape)), dtype=self.low.dtype, device=self.low.device)
        return self.low + fractions * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        inside = (value >= self.low) & (value < self.high)
        return ops.to(inside, self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()
