"""The Poisson distribution: how often something happens in a unit of time.

>>> from minitorch_compile.tensor import tensor
>>> Poisson(2.0).log_prob(tensor(0.0)), Poisson(2.0).variance
(tensor(-2.), tensor(2.))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, no_grad, ops


class Poisson(Distribution):
    """Counts of mean `rate`."""

    arg_constraints = {"rate": constraints.nonnegative}
    parameter_event_dims = {"rate": 0}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        with no_grad():
            return ops.poisson(self.rate.expand(tuple(self._extended_shape(sample_shape))))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return ops.xlogy(value, rate) - rate - ops.lgamma(value + 1)
