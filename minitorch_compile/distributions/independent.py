"""Several distributions of a batch, taken as one of vectors whose elements are independent.

>>> from minitorch_compile.tensor import Size, ones, zeros
>>> from minitorch_compile.distributions.normal import Normal
>>> d = Independent(Normal(zeros(3, 2), ones(3, 2)), 1)
>>> d, d.log_prob(zeros(3, 2)).shape
(Independent(Normal(loc: torch.Size([3, 2]), scale: torch.Size([3, 2])), 1), torch.Size([3]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.tensor import Size, Tensor


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over the last dimensions."""
    return value.sum(tuple(range(-dims, 0))) if dims else value


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch dimensions of `base_distribution` become event dimensions.
    `validate_args`: whether arguments are checked.

    >>> rows = torch.distributions.Normal(torch.zeros(2, 3), 1.0)
    >>> torch.distributions.Independent(rows, 1).log_prob(torch.zeros(2, 3)).shape
    torch.Size([2])
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch, count = base_distribution.batch_shape, reinterpreted_batch_ndims
        if count > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual"
                f" {count} vs {len(batch)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        split = len(batch) - count
        super().__init__(batch[:split], batch[split:] + base_distribution.event_shape, validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        inner = self._event_shape[: self.reinterpreted_batch_ndims]
        return {"base_dist": self.base_dist.expand((*batch, *inner))}

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    @constraints.dependent_property
    def support(self) -> Any:
        base = self.base_dist.support
        if constraints.is_dependent(base) or not self.reinterpreted_batch_ndims:
            return base
        return constraints.independent(base, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Any:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented: enumerate base_dist")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
