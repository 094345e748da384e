"""The geometric distribution: how many trials fail before the first success.

>>> from minitorch_compile.tensor import tensor
>>> Geometric(0.5).log_prob(tensor([0.0, 1.0, 2.0])).exp()
tensor([0.5000, 0.2500, 0.1250])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.bernoulli import BinaryOutcome
from minitorch_compile.distributions.distribution import ONE_SAMPLE
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, no_grad, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo


class Geometric(BinaryOutcome):
    """0, 1, 2, ... failures, where each trial succeeds with probability `probs`."""

    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Any:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        return ops.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        with no_grad():
            shape, element = tuple(self._extended_shape(sample_shape)), self._param.dtype
            fractions = ops.empty(shape, dtype=element, device=self._param.device).uniform_(finfo(element).tiny, 1)
            return (fractions.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        certain = (probs == 1) & (value == 0)
        failures = value * (-ops.where(certain, 0.0, probs)).log1p()
        return failures + self.probs.log()

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
