"""The Kumaraswamy distribution: like Beta, with samples in closed form.

>>> Kumaraswamy(1.0, 1.0).mean
tensor(0.5000)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.gumbel import EULER
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import AffineTransform, PowerTransform
from minitorch_compile.distributions.uniform import Uniform
from minitorch_compile.tensor import Size, ops


class Kumaraswamy(TransformedDistribution):
    """(1 - u^(1 / concentration0))^(1 / concentration1) for uniform u."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(ops.zeros_like(self.concentration0), ops.ones_like(self.concentration0), validate_args=False)
        shapes = [PowerTransform(1 / c) for c in (self.concentration0, self.concentration1)]
        parts = [shapes[0], AffineTransform(1.0, -1.0), shapes[1]]
        super().__init__(base, parts, validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        one, zero = self.concentration1.expand(batch), self.concentration0.expand(batch)
        return vars(Kumaraswamy(one, zero, validate_args=False))

    def _moment(self, n: int) -> Any:
        """b B(1 + n / a, b), with the beta function."""
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return b * (ops.lgamma(first) + ops.lgamma(b) - ops.lgamma(first + b)).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1) ** 2

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = ops.digamma(b + 1) + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()
