"""The von Mises distribution: angles.

>>> from minitorch_compile.tensor import tensor
>>> VonMises(0.0, 1.0).log_prob(tensor(0.0))
tensor(-1.0738)

Source of the sampler: Best and Fisher, "Efficient simulation of the von Mises distribution" (1979).
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Tensor, float64, no_grad, ops


class VonMises(Distribution):
    """Angles of density proportional to e^(concentration cos(x - loc))."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    parameter_event_dims = {"loc": 0, "concentration": 0}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        """The circular variance: 1 - I1 / I0 of the concentration."""
        return 1 - ops.special_i1e(self.concentration) / ops.special_i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        kappa = self.concentration
        normaliser = math.log(2 * math.pi) + ops.special_i0e(kappa).log() + kappa
        return kappa * ops.cos(value - self.loc) - normaliser

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        """By rejection: a wrapped Cauchy angle is kept with the ratio of both densities."""
        shape = tuple(self._extended_shape(sample_shape))
        with no_grad():
            kappa = ops.to(self.concentration, float64).expand(shape)
            tau = 1 + (1 + 4 * kappa**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            # Near a concentration of zero the difference above is lost in rounding: there, the first terms of r.
            r = ops.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
            angle, missing = ops.zeros_like(kappa), ops.ones_like(kappa) == 1
            while bool(missing.any()):
                u1, u2, u3 = ops.rand((3, *shape), dtype=float64, device=kappa.device).unbind()
                z = ops.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                # A later angle may take the place of an earlier one: the draws are PyTorch's, number by number.
                angle = ops.where(accepted, (u3 - 0.5).sign() * ops.acos(f.clamp(min=-1, max=1)), angle)
                missing = missing & ~accepted
            around = (angle + math.pi + self.loc) % (2 * math.pi) - math.pi
            return ops.to(around, self.loc.dtype)
