"""The multinomial distribution: how often each of several outcomes comes in some trials.

>>> from minitorch_compile.tensor import Size, tensor
>>> d = Multinomial(4, tensor([1.0, 3.0]))
>>> d.mean, d.sample().sum()
(tensor([1., 3.]), tensor(4.))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.binomial import Binomial
from minitorch_compile.distributions.categorical import Categorical
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Size, Tensor, no_grad, ops


class Multinomial(Distribution):
    """Vectors of counts that add up to `total_count`; probs or logits are those of Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported: use one int for the whole batch")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        return {"_categorical": self._categorical.expand(batch)}

    @property
    def probs(self) -> Any:
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        return self._categorical.logits

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        shape = (sample_shape,) if isinstance(sample_shape, int) else tuple(sample_shape)
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *shape))
            return ops.to(F.one_hot(drawn, self._event_shape[0]).sum(0), self.probs.dtype)

    def entropy(self) -> Any:
        """That of total_count choices, less what is lost by forgetting their order."""
        n = self.total_count
        counts = Binomial(n, self.probs)
        support = counts.enumerate_support(expand=False)[1:]
        forgotten = (counts.log_prob(support).exp() * ops.lgamma(support + 1)).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + forgotten

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = ops.where((value == 0) & (logits == -float("inf")), 0.0, logits)
        choices = ops.lgamma(value.sum(-1) + 1) - ops.lgamma(value + 1).sum(-1)
        return choices + (logits * value).sum(-1)
