"""The Bernoulli distribution: one of two outcomes.

>>> from minitorch_compile.tensor import tensor
>>> d = Bernoulli(0.25)
>>> d.log_prob(tensor(1.0)).exp(), d.variance, d.enumerate_support()
(tensor(0.2500), tensor(0.1875), tensor([0., 1.]))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import (
    broadcast_all,
    exactly_one,
    logits_to_probs,
    probs_to_logits,
)
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Tensor, no_grad, ops


class BinaryOutcome(Distribution):
    """What Bernoulli, Geometric and their relatives share: a probability, given as `probs` or as `logits`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    parameter_event_dims = {"probs": 0, "logits": 0}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        exactly_one(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            return probs_to_logits(self.probs, is_binary=True)
        if name == "probs" and "logits" in self.__dict__:
            return logits_to_probs(self.logits, is_binary=True)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _param(self) -> Any:
        """The parameter that was given."""
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def param_shape(self) -> Any:
        return self._param.shape


class Bernoulli(BinaryOutcome):
    """1 with probability `probs`, else 0."""

    has_enumerate_support = True
    support = constraints.boolean

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        likely = ops.to(self.probs >= 0.5, self.probs.dtype)
        return ops.where(self.probs == 0.5, math.nan, likely)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        with no_grad():
            return ops.bernoulli(self.probs.expand(tuple(self._extended_shape(sample_shape))))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        values = ops.arange(2, dtype=self._param.dtype, device=self._param.device).reshape(
            (2,) + (1,) * len(self._batch_shape)
        )
        return values.expand((2, *self._batch_shape)) if expand else values
