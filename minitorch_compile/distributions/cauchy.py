"""The Cauchy distribution: no mean, no variance.

>>> from minitorch_compile.tensor import tensor
>>> d = Cauchy(0.0, 1.0)
>>> d.log_prob(tensor(0.0)).exp(), d.cdf(tensor(1.0))
(tensor(0.3183), tensor(0.7500))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class Cauchy(Distribution):
    """Numbers around `loc`, half of them within `scale`."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    parameter_event_dims = {"loc": 0, "scale": 0}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.nan, self.loc.dtype, device=self.loc.device)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.inf, self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        drawn = ops.empty(
            tuple(self._extended_shape(sample_shape)), dtype=self.loc.dtype, device=self.loc.device
        ).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return ops.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Any:
        return ops.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
