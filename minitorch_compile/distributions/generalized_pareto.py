"""The generalized Pareto distribution: what exceeds a high threshold.

>>> GeneralizedPareto(0.0, 1.0, 0.25).mean
tensor(1.3333)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Size, Tensor, ops


class GeneralizedPareto(Distribution):
    """loc + scale ((1 - u)^-c - 1) / c for u uniform in [0, 1) and c = `concentration`; exponential if c is 0."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    parameter_event_dims = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        loc, scale, concentration = (x.expand(batch) for x in (self.loc, self.scale, self.concentration))
        return vars(GeneralizedPareto(loc, scale, concentration, validate_args=False))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From loc on; if the concentration is negative, up to loc - scale / concentration."""
        end = self.loc - self.scale / self._not_zero()
        return constraints.interval(self.loc, ops.where(self.concentration < 0, end, math.inf))

    def _not_zero(self) -> Any:
        return ops.where(self._is_zero(), 1.0, self.concentration)

    def _is_zero(self) -> Any:
        return ops.isclose(self.concentration, ops.zeros_like(self.concentration))

    @property
    def mean(self) -> Any:
        c = self.concentration
        return ops.where(c < 1, self.loc + self.scale / (1 - ops.where(c < 1, c, 0.0)), math.inf)

    @property
    def variance(self) -> Any:
        c = self.concentration
        safe = ops.where(c < 0.5, c, 0.0)
        return ops.where(c < 0.5, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.inf)

    @property
    def mode(self) -> Any:
        return self.loc

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        uniform = ops.rand(tuple(self._extended_shape(sample_shape)), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(uniform)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        y, c = self._standardized(value), self._not_zero()
        curved = -(1 + 1 / c) * (c * y).log1p()
        return ops.where(self._is_zero(), -y, curved) - self.scale.log()

    def _standardized(self, value: Tensor) -> Any:
        return (value - self.loc) / self.scale

    def log_survival_function(self, value: Tensor) -> Any:
        """log P(draw > value)."""
        self._validate_sample(value)
        y, c = self._standardized(value), self._not_zero()
        return ops.where(self._is_zero(), -y, -(c * y).log1p() / c)

    def log_cdf(self, value: Tensor) -> Any:
        """log P(draw <= value)."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Any:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Any:
        c, left = self._not_zero(), (-value).log1p()
        return self.loc + self.scale * ops.where(self._is_zero(), -left, (-c * left).expm1() / c)

    def entropy(self) -> Any:
        return self.scale.log() + self.concentration + 1
