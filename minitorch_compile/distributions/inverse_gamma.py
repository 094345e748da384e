"""The distribution of 1 / x for a gamma variable x.

>>> InverseGamma(3.0, 4.0).mean
tensor(2.)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.gamma import Gamma
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import PowerTransform
from minitorch_compile.tensor import Tensor, ops


class InverseGamma(TransformedDistribution):
    """Positive numbers of density proportional to x^(-concentration - 1) e^(-rate / x)."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-ops.ones_like(base.rate)), validate_args)

    @property
    def concentration(self) -> Any:
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        return self.base_dist.rate

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

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        inverse = self.base_dist.log_prob(1 / value)
        return inverse - 2 * value.log()

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + ops.lgamma(a) - (1 + a) * ops.digamma(a)
