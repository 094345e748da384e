"""The continuous Bernoulli distribution: for pixels between 0 and 1, where Bernoulli's likelihood doesn't add up to 1.

>>> from minitorch_compile.tensor import tensor
>>> ContinuousBernoulli(tensor([0.5, 0.9])).mean
tensor([0.5000, 0.6699])

Source: Loaiza-Ganem and Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational autoencoders"
(2019).
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.bernoulli import BinaryOutcome
from minitorch_compile.distributions.distribution import ONE_SAMPLE
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, ops


class ContinuousBernoulli(BinaryOutcome):
    """Numbers in [0, 1] of density proportional to probs^x (1 - probs)^(1 - x).

    Within `lims` around probs = 0.5, where the formulas divide 0 by 0, their Taylor series are used.
    """

    has_rsample = True
    support = constraints.unit_interval

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        super().__init__(probs, logits, validate_args)

    def _outside(self) -> Any:
        """Where the plain formulas are stable."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _away(self) -> Any:
        """The probabilities, moved to the lower limit where the plain formulas would be unstable."""
        return ops.where(self._outside(), self.probs, self._lims[0])

    def _log_constant(self) -> Any:
        """The logarithm of what makes the density add up to 1."""
        p = self._away()
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5) ** 2
        return ops.where(self._outside(), exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        p = self._away()
        exact = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        return ops.where(self._outside(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def variance(self) -> Any:
        p = self._away()
        exact = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / ((-p).log1p() - p.log()) ** 2
        x = (self.probs - 0.5) ** 2
        return ops.where(self._outside(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        fractions = ops.rand(
            tuple(self._extended_shape(sample_shape)), dtype=self._param.dtype, device=self._param.device
        )
        return self.icdf(fractions)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_constant()

    def cdf(self, value: Tensor) -> Any:
        self._validate_sample(value)
        p = self._away()
        exact = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        inside = ops.where(self._outside(), exact, value)
        return ops.where(value <= 0, 0.0, ops.where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Any:
        p = self._away()
        exact = ((-p + value * (2 * p - 1)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return ops.where(self._outside(), exact, value)

    def entropy(self) -> Any:
        log_q, log_p = (-self.probs).log1p(), self.probs.log()
        return self.mean * (log_q - log_p) - self._log_constant() - log_q
