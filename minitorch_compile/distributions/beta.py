"""The beta distribution: a random probability.

>>> d = Beta(1.0, 3.0)
>>> d.mean, d.variance
(tensor(0.2500), tensor(0.0375))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.dirichlet import Dirichlet
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, ops


class Beta(Distribution):
    """Numbers in [0, 1] of density proportional to x^(`concentration1` - 1) (1 - x)^(`concentration0` - 1).
    `validate_args`: whether arguments are checked.

    >>> torch.distributions.Beta(2.0, 2.0).mean
    tensor(0.5000)
    """

    has_rsample = True
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    parameter_event_dims = {"concentration1": 0, "concentration0": 0}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    @property
    def _dirichlet(self) -> Dirichlet:
        return Dirichlet(ops.stack([self.concentration1, self.concentration0], -1), validate_args=False)

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return a * b / ((a + b) ** 2 * (a + b + 1))

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return self._dirichlet.log_prob(ops.stack([value, 1 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()
