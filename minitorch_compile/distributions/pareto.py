"""The Pareto distribution: few are large.

>>> Pareto(1.0, 3.0).mean
tensor(1.5000)
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.exponential import Exponential
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import AffineTransform, ExpTransform
from minitorch_compile.tensor import Size, ops


class Pareto(TransformedDistribution):
    """scale e^x for an exponential x of rate alpha."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    parameter_event_dims = {"alpha": 0, "scale": 0}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        return vars(Pareto(self.scale.expand(batch), self.alpha.expand(batch), validate_args=False))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        return ops.where(self.alpha > 1, self.alpha * self.scale / (self.alpha - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha
        return ops.where(a > 2, self.scale**2 * a / ((a - 1) ** 2 * (a - 2)), math.inf)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + 1 / self.alpha)
