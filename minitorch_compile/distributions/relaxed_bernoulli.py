"""Bernoulli samples blurred so that gradients pass: the concrete distribution of two outcomes.

>>> from minitorch_compile.tensor import tensor
>>> d = RelaxedBernoulli(tensor(0.5), probs=tensor([0.2, 0.8]))
>>> s = d.rsample((3,))
>>> s.shape, bool(((s > 0) & (s < 1)).all())
(torch.Size([3, 2]), True)

Source: Maddison, Mnih and Teh, "The concrete distribution" (2017); Jang, Gu and Poole, "Categorical reparameterization
with Gumbel-softmax" (2017).
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.bernoulli import BinaryOutcome
from minitorch_compile.distributions.distribution import ONE_SAMPLE
from minitorch_compile.distributions.parameters import broadcast_all, clamp_probs
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import SigmoidTransform
from minitorch_compile.tensor import Tensor, ops


class LogitRelaxedBernoulli(BinaryOutcome):
    """The logits of RelaxedBernoulli: a logistic number around the logits, divided by the temperature."""

    has_rsample = True
    support = constraints.real

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        shape = tuple(self._extended_shape(sample_shape))
        probs, u = (
            clamp_probs(self.probs.expand(shape)),
            clamp_probs(ops.rand(shape, dtype=self._param.dtype, device=self._param.device)),
        )
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value * self.temperature
        log_temperature = ops.log(self.temperature) if isinstance(self.temperature, Tensor) else None
        scale = (
            log_temperature
            if log_temperature is not None
            else ops.full((), float(self.temperature), device=self._param.device).log()
        )
        return scale + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1), near 0 and 1 for a low temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)

    @property
    def temperature(self) -> Any:
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        return self.base_dist.logits
