"""The absolute value of a Cauchy number around 0.

>>> from minitorch_compile.tensor import tensor
>>> HalfCauchy(1.0).cdf(tensor(1.0))
tensor(0.5000)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.cauchy import Cauchy
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class HalfCauchy(Distribution):
    """|x| for a Cauchy x around 0."""

    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    parameter_event_dims = {"scale": 0}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def _cauchy(self) -> Cauchy:
        return Cauchy(0.0, self.scale, validate_args=False)

    @property
    def mean(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.inf, self.scale.dtype)

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.inf, self.scale.dtype)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self._cauchy.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return ops.where(value >= 0, self._cauchy.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return 2 * self._cauchy.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Any:
        return self._cauchy.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self._cauchy.entropy() - math.log(2)
