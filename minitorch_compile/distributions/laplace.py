"""The Laplace distribution.

>>> from minitorch_compile.tensor import tensor
>>> d = Laplace(0.0, 1.0)
>>> d.log_prob(tensor(1.0)), d.cdf(tensor(0.0)), d.variance
(tensor(-1.6931), tensor(0.5000), tensor(2.))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo


class Laplace(Distribution):
    """Numbers whose distance from `loc` is exponential with mean `scale`."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    parameter_event_dims = {"loc": 0, "scale": 0}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return math.sqrt(2) * self.scale

    @property
    def variance(self) -> Any:
        return 2 * self.scale**2

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        eps = finfo(self.loc.dtype).eps
        centred = ops.rand(tuple(self._extended_shape(sample_shape)), dtype=self.loc.dtype, device=self.loc.device) * (
            2 - eps
        ) - (1 - eps)
        return self.loc - self.scale * centred.sign() * (-centred.abs()).log1p()

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        offset = value - self.loc
        return 0.5 - 0.5 * offset.sign() * (-offset.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()
