"""The Weibull distribution: lifetimes.

>>> Weibull(1.0, 1.0).mean
tensor(1.)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.exponential import Exponential
from minitorch_compile.distributions.gumbel import EULER
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import AffineTransform, PowerTransform
from minitorch_compile.tensor import Size, ops


class Weibull(TransformedDistribution):
    """scale x^(1 / concentration) for an exponential x of rate 1."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    parameter_event_dims = {"scale": 0, "concentration": 0}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(ops.ones_like(self.scale), validate_args=validate_args)
        parts = [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        return vars(Weibull(self.scale.expand(batch), self.concentration.expand(batch), validate_args=False))

    @property
    def mean(self) -> Any:
        return self.scale * ops.lgamma(1 + 1 / self.concentration).exp()

    @property
    def mode(self) -> Any:
        k = self.concentration
        return self.scale * ((k - 1).clamp(min=0) / k) ** (1 / k)

    @property
    def variance(self) -> Any:
        k = self.concentration
        second, first = ops.lgamma(1 + 2 / k).exp(), ops.lgamma(1 + 1 / k)
        return self.scale**2 * (second - (2 * first).exp())

    def entropy(self) -> Any:
        return EULER * (1 - 1 / self.concentration) + (self.scale / self.concentration).log() + 1
