"""A mixture: one of several distributions of a kind, chosen at random.

>>> from minitorch_compile.tensor import Size, tensor
>>> from minitorch_compile.distributions.categorical import Categorical
>>> from minitorch_compile.distributions.normal import Normal
>>> d = MixtureSameFamily(Categorical(tensor([0.5, 0.5])), Normal(tensor([-1.0, 1.0]), 1.0))
>>> d.mean, d.variance
(tensor(0.), tensor(2.))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.categorical import Categorical
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.tensor import Size, Tensor, no_grad, ops


class MixtureSameFamily(Distribution):
    """The last batch dimension of `component_distribution` is what `mixture_distribution` chooses from."""

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError("The Mixture distribution needs to be an instance of distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of distributions.Distribution")
        batch, events = component_distribution.batch_shape, component_distribution.event_shape
        if not batch or batch[-1] != mixture_distribution.param_shape[-1]:
            raise ValueError(
                f"`mixture_distribution` has {mixture_distribution.param_shape[-1]} components, but the last batch"
                f" dimension of `component_distribution` is {batch[-1:]}"
            )
        self._mixture, self._components = mixture_distribution, component_distribution
        super().__init__(batch[:-1], events, validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        count = self._mixture.param_shape[-1]
        return {"_mixture": self._mixture.expand(batch), "_components": self._components.expand((*batch, count))}

    @property
    def mixture_distribution(self) -> Categorical:
        return self._mixture

    @property
    def component_distribution(self) -> Distribution:
        return self._components

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._components.support)

    def _weights(self) -> Any:
        """The probabilities of the components, with a dimension of size 1 for each of the event's."""
        probs = self._mixture.probs
        return probs.reshape((*probs.shape, *(1,) * len(self._event_shape)))

    @property
    def _dim(self) -> int:
        return -1 - len(self._event_shape)

    @property
    def mean(self) -> Any:
        return (self._weights() * self._components.mean).sum(self._dim)

    @property
    def variance(self) -> Any:
        """The mean of the variances, plus the variance of the means."""
        weights, means = self._weights(), self._components.mean
        within = (weights * self._components.variance).sum(self._dim)
        return within + (weights * (means - self.mean.unsqueeze(self._dim)) ** 2).sum(self._dim)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        with no_grad():
            chosen = self._mixture.sample(sample_shape)
            values = self._components.sample(sample_shape)
            events = tuple(self._event_shape)
            index = chosen.reshape((*chosen.shape, 1, *(1,) * len(events))).expand((*chosen.shape, 1, *events))
            return ops.gather(values, values.ndim + self._dim, index).squeeze(self._dim)

    def log_prob(self, x: Tensor) -> Any:
        self._validate_sample(x)
        by_component = self._components.log_prob(x.unsqueeze(self._dim))
        return ops.logsumexp(by_component + ops.log_softmax(self._mixture.logits, -1), -1)

    def cdf(self, x: Tensor) -> Any:
        return (self._components.cdf(x.unsqueeze(self._dim)) * self._mixture.probs).sum(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture},\n  {self._components})"
