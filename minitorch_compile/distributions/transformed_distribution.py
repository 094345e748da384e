"""The distribution of t(x) for a random x and an invertible t.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.distributions.normal import Normal
>>> from minitorch_compile.distributions.transforms import ExpTransform
>>> d = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
>>> d.log_prob(tensor(1.0)), d.support
(tensor(-0.9189), GreaterThan(lower_bound=0.0))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.independent import Independent, sum_rightmost
from minitorch_compile.distributions.transforms import Transform
from minitorch_compile.tensor import Size, Tensor, no_grad


class TransformedDistribution(Distribution):
    """What `transforms`, one or a list of which the first is applied first, make of what is drawn from
    `base_distribution`. `validate_args`: whether arguments are checked.

    >>> normal, exp = torch.distributions.Normal(0.0, 1.0), torch.distributions.transforms.ExpTransform()
    >>> torch.distributions.TransformedDistribution(normal, [exp]).log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    base_dist: Any

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms: list[Transform] = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms!r}")
        base_events = len(base_distribution.event_shape)
        needed = max((t.event_dim for t in self.transforms), default=0)
        if needed > base_events:
            base_distribution = Independent(base_distribution, needed - base_events, validate_args=False)
        batch, event = self._shapes(base_distribution)
        self.base_dist = (
            base_distribution.expand(batch) if batch != base_distribution.batch_shape else base_distribution
        )
        super().__init__(batch, event, validate_args)

    def _shapes(self, base: Distribution) -> tuple[Size, Size]:
        """The batch and event shape of what the transforms make of samples of `base`."""
        shape, events = base.batch_shape + base.event_shape, len(base.event_shape)
        for transform in self.transforms:
            shape = Size(transform.forward_shape(shape))
            events += transform.codomain.event_dim - transform.domain.event_dim
        return Size(shape[: len(shape) - events]), Size(shape[len(shape) - events :])

    def _expanded(self, batch: Size) -> dict[str, Any]:
        return {"base_dist": self.base_dist.expand(batch)}

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support, extra = self.transforms[-1].codomain, len(self.event_shape) - self.transforms[-1].codomain.event_dim
        return constraints.independent(support, extra) if extra > 0 else support

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Any:
        """The density of x, divided by how much the transforms stretch space there."""
        self._validate_sample(value)
        events, total, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            stretched = transform.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(stretched, events - transform.event_dim)
            y = x
        inner = self.base_dist.log_prob(y)
        return total + sum_rightmost(inner, events - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Any:
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._if_falling(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Any:
        return self._transformed(self.base_dist.icdf(self._if_falling(value)))

    def _if_falling(self, probability: Any) -> Any:
        """The probability, or that of the opposite if the transforms turn the order round."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, (int, float)) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5
