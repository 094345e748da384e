"""The Dirichlet distribution: random probabilities.

>>> from minitorch_compile.tensor import tensor
>>> d = Dirichlet(tensor([1.0, 3.0]))
>>> d.mean, d.sample((5,)).shape
(tensor([0.2500, 0.7500]), torch.Size([5, 2]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, ops


class Dirichlet(Distribution):
    """Vectors that add up to 1, of density proportional to the product of x_i^(concentration_i - 1)."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    parameter_event_dims = {"concentration": 1}
    support = constraints.simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Any:
        """Where the density is highest; where it rises towards every corner, the first corner."""
        above = (self.concentration - 1).clamp(min=0)
        corner = F.one_hot(above.argmax(-1), above.shape[-1])
        to_corner = (self.concentration < 1).all(-1).unsqueeze(-1)
        return ops.where(to_corner, ops.to(corner, above.dtype), above / above.sum(-1, keepdim=True))

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return ops._sample_dirichlet(self.concentration.expand(tuple(self._extended_shape(sample_shape))))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        a = self.concentration
        return ops.xlogy(a - 1, value).sum(-1) + ops.lgamma(a.sum(-1)) - ops.lgamma(a).sum(-1)

    def entropy(self) -> Any:
        a, count = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        return (
            ops.lgamma(a).sum(-1)
            - ops.lgamma(total)
            - (count - total) * ops.digamma(total)
            - ((a - 1) * ops.digamma(a)).sum(-1)
        )
