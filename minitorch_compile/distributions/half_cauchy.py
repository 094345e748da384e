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
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import AbsTransform
from minitorch_compile.tensor import Tensor, ops


class HalfCauchy(TransformedDistribution):
    """|x| for a Cauchy x around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0.0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.inf, self.scale.dtype, device=self.scale.device)

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.inf, self.scale.dtype, device=self.scale.device)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return ops.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
