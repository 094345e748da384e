"""The Gumbel distribution: of the largest of many.

>>> from minitorch_compile.tensor import tensor
>>> d = Gumbel(0.0, 1.0)
>>> d.log_prob(tensor(0.0)), d.mean
(tensor(-1.), tensor(0.5772))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo

EULER = 0.57721566490153286060


class Gumbel(Distribution):
    """loc - scale log(-log u) for uniform u."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    parameter_event_dims = {"loc": 0, "scale": 0}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev**2

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        limits, shape = finfo(self.loc.dtype), tuple(self._extended_shape(sample_shape))
        return self.icdf(ops.empty(shape, dtype=self.loc.dtype).uniform_(limits.tiny, 1 - limits.eps))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Any:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)
