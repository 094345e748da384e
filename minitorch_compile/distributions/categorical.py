"""The categorical distribution: one of several outcomes, as its index.

>>> from minitorch_compile.tensor import tensor
>>> d = Categorical(probs=tensor([1.0, 3.0]))
>>> d.probs, d.log_prob(tensor(1)).exp(), d.entropy()
(tensor([0.2500, 0.7500]), tensor(0.7500), tensor(0.5623))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import exactly_one, logits_to_probs, probs_to_logits
from minitorch_compile.tensor import Size, Tensor, no_grad, ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.numeric_limits import finfo


class Categorical(Distribution):
    """Indices 0 ... n - 1 with the probabilities, `probs`, or unnormalised log-probabilities, `logits`, of the last
    dimension. `validate_args`: whether arguments are checked.

    >>> torch.distributions.Categorical(torch.tensor([0.25, 0.75])).log_prob(torch.tensor(1))
    tensor(-0.2877)
    """

    has_enumerate_support = True
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    parameter_event_dims = {"probs": 1, "logits": 1}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        exactly_one(probs, logits)
        given, name = (probs, "probs") if probs is not None else (logits, "logits")
        if given.ndim < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - ops.logsumexp(logits, -1, keepdim=True)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            return probs_to_logits(self.probs)
        if name == "probs" and "logits" in self.__dict__:
            return logits_to_probs(self.logits)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _param(self) -> Any:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def _num_events(self) -> int:
        return self._param.shape[-1]

    @property
    def param_shape(self) -> Any:
        return self._param.shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.nan, self._param.dtype, device=self._param.device)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Any:
        return ops.full(tuple(self._batch_shape), math.nan, self._param.dtype, device=self._param.device)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        count = Size((sample_shape,) if isinstance(sample_shape, int) else sample_shape).numel()
        with no_grad():
            rows = self.probs.reshape((-1, self._num_events))
            drawn = ops.multinomial(rows, count, True) if count else ops.full((rows.shape[0], 0), 0, device=rows.device)
            return drawn.t().reshape(tuple(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        index = value.long().unsqueeze(-1)
        logits = self.logits
        batch = broadcast_sizes(index.shape[:-1], logits.shape[:-1])
        chosen = ops.gather(logits.expand((*batch, logits.shape[-1])), -1, index.expand((*batch, 1)))
        return chosen.squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self._param.dtype).min)  # so that 0 log 0 counts as 0
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = ops.arange(self._num_events, device=self._param.device).reshape((-1,) + (1,) * len(self._batch_shape))
        return values.expand((self._num_events, *self._batch_shape)) if expand else values
