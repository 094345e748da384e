"""The binomial distribution: how many of some trials succeed.

>>> from minitorch_compile.tensor import tensor
>>> d = Binomial(2, 0.5)
>>> d.mean, d.log_prob(tensor([0.0, 1.0, 2.0])).exp()
(tensor(1.), tensor([0.2500, 0.5000, 0.2500]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.bernoulli import BinaryOutcome
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all, exactly_one
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, no_grad, ops


class CountOfSuccesses(BinaryOutcome):
    """What Binomial and NegativeBinomial share: `total_count`, and probs or logits."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    parameter_event_dims = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        exactly_one(probs, logits)
        if probs is not None:
            self.probs, count = broadcast_all(probs, total_count)
        else:
            self.logits, count = broadcast_all(logits, total_count)
        self.total_count = ops.to(count, self._param.dtype)
        Distribution.__init__(self, self._param.shape, validate_args=validate_args)


class Binomial(CountOfSuccesses):
    """0 ... total_count successes, each with probability `probs`."""

    has_enumerate_support = True

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        shape = tuple(self._extended_shape(sample_shape))
        with no_grad():
            return ops.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        n = self.total_count
        choices = ops.lgamma(n + 1) - ops.lgamma(value + 1) - ops.lgamma(n - value + 1)
        return choices + value * F.logsigmoid(self.logits) + (n - value) * F.logsigmoid(-self.logits)

    def entropy(self) -> Any:
        total = int(self.total_count.max().item())
        if int(self.total_count.min().item()) != total:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`: use one for all")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        total = int(self.total_count.max().item())
        if int(self.total_count.min().item()) != total:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`: use one for all")
        values = ops.arange(1 + total, dtype=self._param.dtype, device=self._param.device).reshape(
            (-1,) + (1,) * len(self._batch_shape)
        )
        return values.expand((1 + total, *self._batch_shape)) if expand else values
