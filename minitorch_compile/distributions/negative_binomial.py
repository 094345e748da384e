"""The negative binomial distribution: how many successes there are before some number of failures.

>>> NegativeBinomial(3, 0.5).mean
tensor(3.)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.binomial import CountOfSuccesses
from minitorch_compile.distributions.distribution import ONE_SAMPLE
from minitorch_compile.distributions.gamma import Gamma
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, no_grad, ops


class NegativeBinomial(CountOfSuccesses):
    """Successes, each trial one with probability `probs`, before `total_count` failures; that may be fractional."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.mean / ops.sigmoid(-self.logits)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        with no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return ops.poisson(rates)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        n = self.total_count
        weights = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        choices = ops.lgamma(n + value) - ops.lgamma(1 + value) - ops.lgamma(n)
        return weights + ops.where(n + value == 0, 0.0, choices)
