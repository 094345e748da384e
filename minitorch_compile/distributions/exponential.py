"""The exponential distribution.

>>> from minitorch_compile.tensor import tensor
>>> d = Exponential(2.0)
>>> d.mean, d.log_prob(tensor(0.0)).exp(), d.cdf(tensor(0.5))
(tensor(0.5000), tensor(2.), tensor(0.6321))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class Exponential(Distribution):
    """Waiting times for something that happens `rate` times in a unit of time."""

    has_rsample = True
    arg_constraints = {"rate": constraints.positive}
    parameter_event_dims = {"rate": 0}
    support = constraints.nonnegative

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        return self.rate**-2

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        drawn = ops.empty(
            tuple(self._extended_shape(sample_shape)), dtype=self.rate.dtype, device=self.rate.device
        ).exponential_()
        return drawn / self.rate

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Any:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        return 1 - self.rate.log()
