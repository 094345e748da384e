"""The absolute value of a normal number around 0.

>>> HalfNormal(1.0).mean, HalfNormal(1.0).variance
(tensor(0.7979), tensor(0.3634))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.normal import Normal
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class HalfNormal(Distribution):
    """|x| for a normal x of mean 0 and standard deviation `scale`."""

    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    parameter_event_dims = {"scale": 0}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def _normal(self) -> Normal:
        return Normal(0.0, self.scale, validate_args=False)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self._normal.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return ops.where(value >= 0, self._normal.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return 2 * self._normal.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Any:
        return self._normal.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self._normal.entropy() - math.log(2)
