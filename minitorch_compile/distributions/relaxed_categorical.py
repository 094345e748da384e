"""One-hot samples blurred so that gradients pass: the Gumbel-softmax or concrete distribution.

>>> from minitorch_compile.tensor import Size, tensor
>>> d = RelaxedOneHotCategorical(tensor(0.5), probs=tensor([0.2, 0.8]))
>>> bool(((d.rsample((3,)).sum(-1) - 1).abs() < 1e-5).all())
True

Source: Maddison, Mnih and Teh, "The concrete distribution" (2017); Jang, Gu and Poole, "Categorical reparameterization
with Gumbel-softmax" (2017).
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.categorical import Categorical
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all, clamp_probs
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import ExpTransform
from minitorch_compile.tensor import Size, Tensor, ops, tensor


class ExpRelaxedCategorical(Distribution):
    """The logarithms of RelaxedOneHotCategorical: the log-softmax of scores with Gumbel noise."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_rsample = True
    support = constraints.real_vector

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
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

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        logits = self.logits
        fractions = clamp_probs(
            ops.rand(tuple(self._extended_shape(sample_shape)), dtype=logits.dtype, device=logits.device)
        )
        noise = -(-fractions.log()).log()
        scores = (logits + noise) / self.temperature
        return scores - ops.logsumexp(scores, -1, keepdim=True)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        count = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        temperature = self.temperature if isinstance(self.temperature, Tensor) else tensor(float(self.temperature))
        scale = math.lgamma(count) + (count - 1) * temperature.log()
        score = logits - value * temperature
        score = (score - ops.logsumexp(score, -1, keepdim=True)).sum(-1)
        return score + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of the simplex, near its corners for a low temperature."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits), ExpTransform(), validate_args)

    @property
    def temperature(self) -> Any:
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        return self.base_dist.logits
