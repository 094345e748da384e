"""The categorical distribution, with outcomes as vectors that are 1 in one place.

>>> from minitorch_compile.tensor import Size, tensor
>>> OneHotCategorical(probs=tensor([0.0, 1.0])).sample((2,))
tensor([[0., 1.],
        [0., 1.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.categorical import Categorical
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Size, Tensor, ops


class OneHotCategorical(Distribution):
    """One of n vectors; the parameters are those of Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
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

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self) -> Any:
        return self._categorical.param_shape

    def _one_hot(self, index: Tensor) -> Any:
        return ops.to(F.one_hot(index, self._event_shape[0]), self.probs.dtype)

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n = self._event_shape[0]
        values = ops.eye(n, dtype=self.probs.dtype, device=self.probs.device).reshape(
            (n,) + (1,) * len(self._batch_shape) + (n,)
        )
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Its samples pass gradients on to the probabilities as if they were these."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        sample = self.sample(sample_shape)
        return sample + (self.probs - self.probs.detach())
