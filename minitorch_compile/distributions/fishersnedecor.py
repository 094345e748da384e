"""The F distribution: the ratio of two variances.

>>> FisherSnedecor(3.0, 4.0).mean
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
from minitorch_compile.tensor.numerics.numeric_limits import finfo


class FisherSnedecor(Distribution):
    """(x1 / df1) / (x2 / df2) for x1 of Chi2(df1) and x2 of Chi2(df2)."""

    has_rsample = True
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    parameter_event_dims = {"df1": 0, "df2": 0}
    support = constraints.positive

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return ops.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Any:
        return ops.where(self.df1 > 2, (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self) -> Any:
        a, b = self.df1, self.df2
        return ops.where(b > 4, 2 * b**2 * (a + b - 2) / (a * (b - 2) ** 2 * (b - 4)), math.nan)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        above = Gamma(self.df1 / 2, self.df1, validate_args=False).rsample(sample_shape)
        below = Gamma(self.df2 / 2, self.df2, validate_args=False).rsample(sample_shape)
        return above / below.clamp(min=finfo(below.dtype).tiny)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        constant = ops.lgamma(a + b) - ops.lgamma(a) - ops.lgamma(b)
        return constant + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
