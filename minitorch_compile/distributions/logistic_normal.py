"""The logistic-normal distribution: random probabilities, from normal numbers by breaking a stick.

>>> from minitorch_compile.tensor import ones, zeros
>>> d = LogisticNormal(zeros(2), ones(2))
>>> d.event_shape, bool((d.sample((4,)).sum(-1) - 1).abs().max() < 1e-5)
(torch.Size([3]), True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.normal import Normal
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """Vectors of n + 1 probabilities from n normal numbers of means `loc` and standard deviations `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        return self.base_dist.base_dist.scale
