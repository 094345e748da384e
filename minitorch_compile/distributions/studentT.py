"""Student's t distribution: of a mean, divided by its estimated error.

>>> from minitorch_compile.tensor import tensor
>>> d = StudentT(3.0)
>>> d.variance, d.log_prob(tensor(0.0))
(tensor(3.), tensor(-1.0009))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.gamma import Chi2
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class StudentT(Distribution):
    """loc + scale z / sqrt(w / df) for a normal z and a w of Chi2(df)."""

    has_rsample = True
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    parameter_event_dims = {"df": 0, "loc": 0, "scale": 0}
    support = constraints.real

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return ops.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        finite = self.scale**2 * self.df / (self.df - 2)
        return ops.where(
            self.df > 2,
            finite,
            ops.where(self.df > 1, math.inf, ops.full((), math.nan, self.df.dtype, device=self.df.device)),
        )

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        shape = tuple(self._extended_shape(sample_shape))
        z = ops.randn(shape, dtype=self.df.dtype, device=self.df.device)
        w = Chi2(self.df, validate_args=False).rsample(sample_shape)
        return self.loc + self.scale * z * ops.rsqrt(w / self.df)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        constant = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        constant = constant + ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1) * (y**2 / df).log1p() - constant

    def entropy(self) -> Any:
        df = self.df
        beta = ops.lgamma(0.5 * df) + math.lgamma(0.5) - ops.lgamma(0.5 * (1 + df))
        spread = 0.5 * (df + 1) * (ops.digamma(0.5 * (df + 1)) - ops.digamma(0.5 * df))
        return self.scale.log() + spread + 0.5 * df.log() + beta
