"""Exponential families: densities exp(<t(x), theta> - F(theta)), whose entropy follows from F by differentiation.

>>> issubclass(ExponentialFamily, Distribution)
True
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd import grad
from minitorch_compile.distributions.distribution import Distribution
from minitorch_compile.distributions.independent import sum_rightmost
from minitorch_compile.tensor.grad_mode import enable_grad


class ExponentialFamily(Distribution):
    """A base for distributions that say `_natural_params`, `_log_normalizer` and `_mean_carrier_measure`.

    Source: Nielsen and Nock, 2010: the entropy is F(theta) - <theta, grad F(theta)> - E[log h(x)].
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        """theta, by parts."""
        raise NotImplementedError(f"{type(self).__name__}: an exponential family must define _natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """F(theta)."""
        raise NotImplementedError(f"{type(self).__name__}: an exponential family must define _log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        """E[log h(x)]."""
        raise NotImplementedError(f"{type(self).__name__}: an exponential family must define _mean_carrier_measure")

    def entropy(self) -> Any:
        with enable_grad():
            theta = [part.detach().requires_grad_() for part in self._natural_params]
            normalizer = self._log_normalizer(*theta)
            slopes = grad(normalizer.sum(), theta, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for part, slope in zip(theta, slopes, strict=True):
            result = result - sum_rightmost(part * slope, len(part.shape) - len(self._batch_shape))
        return result
