"""The distribution of 1 / x for a gamma variable x.

>>> InverseGamma(3.0, 4.0).mean
tensor(2.)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.gamma import Gamma
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class InverseGamma(Distribution):
    """Positive numbers of density proportional to x^(-concentration - 1) e^(-rate / x)."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    parameter_event_dims = {"concentration": 0, "rate": 0}
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return ops.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        return ops.where(a > 2, self.rate**2 / ((a - 1) ** 2 * (a - 2)), math.inf)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return 1 / Gamma(self.concentration, self.rate, validate_args=False).rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        inverse = Gamma(self.concentration, self.rate, validate_args=False).log_prob(1 / value)
        return inverse - 2 * value.log()

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + ops.lgamma(a) - (1 + a) * ops.digamma(a)
