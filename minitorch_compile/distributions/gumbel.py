"""The Gumbel distribution: of the largest of many.

>>> from minitorch_compile.tensor import Size, tensor
>>> d = Gumbel(0.0, 1.0)
>>> d.log_prob(tensor(0.0)), d.mean
(tensor(-1.), tensor(0.5772))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import AffineTransform, ExpTransform
from minitorch_compile.distributions.uniform import Uniform
from minitorch_compile.tensor import Size, Tensor, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo

EULER = 0.57721566490153286060


class Gumbel(TransformedDistribution):
    """loc - scale log(-log u) for uniform u."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        base = Uniform(ops.full_like(self.loc, limits.tiny), ops.full_like(self.loc, 1 - limits.eps), validate_args)
        minus_log = [ExpTransform().inv, AffineTransform(0, -ops.ones_like(self.scale))]
        transforms = [*minus_log, ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, transforms, validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        return vars(Gumbel(self.loc.expand(batch), self.scale.expand(batch), validate_args=False))

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
