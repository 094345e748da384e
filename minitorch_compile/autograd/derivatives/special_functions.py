"""Derivatives of the special functions: each is the next one of its family, or the exponential under its integral.

>>> from minitorch_compile.tensor import ops, tensor
>>> from minitorch_compile.autograd import grad
>>> x = tensor(1.0, requires_grad=True)
>>> grad(ops.lgamma(x), x), ops.digamma(tensor(1.0))
((tensor(-0.5772),), tensor(-0.5772))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.autograd.derivative_table import Gradients, Unused, derivative, not_differentiable, sum_to
from minitorch_compile.tensor import Tensor, ops

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)

# ---------------------------------------------------------------------------------------------------- error functions


@derivative(ops.erfc)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * (-TWO_OVER_SQRT_PI * ops.exp(-(x * x)))


@derivative(ops.erfinv)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * (ops.exp(out * out) / TWO_OVER_SQRT_PI)


@derivative(ops.special_erfcx)
def _(grad: Tensor, out: Tensor, x: Tensor) -> Gradients:
    return grad * (2 * x * out - TWO_OVER_SQRT_PI)


@derivative(ops.special_ndtri)
def _(grad: Tensor, out: Tensor, x: Unused) -> Gradients:
    return grad * (math.sqrt(2 * math.pi) * ops.exp(out * out / 2))


@derivative(ops.special_log_ndtr)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad / ops.special_erfcx(x * -math.sqrt(0.5)) * math.sqrt(2 / math.pi)


@derivative(ops.special_entr)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * (-ops.log(x) - 1)


# ---------------------------------------------------------------------------------------------------- gamma functions


@derivative(ops.lgamma)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.digamma(x)


@derivative(ops.digamma)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.polygamma(1, x)


@derivative(ops.polygamma)
def _(grad: Tensor, out: Unused, n: int, x: Tensor) -> Gradients:
    return None, lambda: grad * ops.polygamma(n + 1, x)


@derivative(ops.igamma)
def _(grad: Tensor, out: Unused, a: Tensor, x: Tensor) -> Gradients:
    return lambda: _no_formula("igamma: input"), lambda: sum_to(grad * _gamma_density(a, x), x)


@derivative(ops.igammac)
def _(grad: Tensor, out: Unused, a: Tensor, x: Tensor) -> Gradients:
    return lambda: _no_formula("igammac: input"), lambda: sum_to(-grad * _gamma_density(a, x), x)


def _gamma_density(a: Tensor, x: Tensor) -> Tensor:
    return ops.exp((a - 1) * ops.log(x) - x - ops.lgamma(a))


@derivative(ops.special_zeta)
def _(grad: Tensor, out: Unused, x: Tensor, q: Tensor) -> Gradients:
    return lambda: _no_formula("zeta: x"), lambda: sum_to(-grad * x * ops.special_zeta(x + 1, q), q)


def _no_formula(argument: str) -> Any:
    """PyTorch has none either: these derivatives are no functions with a name."""
    raise NotImplementedError(f"the derivative for '{argument}' is not implemented; detach() the argument")


# ---------------------------------------------------------------------------------------------------- Bessel functions


@derivative(ops.i0)
def _(grad: Tensor, out: Unused, x: Tensor) -> Gradients:
    return grad * ops.special_i1(x)


@derivative(ops.special_i0e)
def _(grad: Tensor, out: Tensor, x: Tensor) -> Gradients:
    return grad * (ops.special_i1e(x) - ops.sign(x) * out)


@derivative(ops.special_i1)
def _(grad: Tensor, out: Tensor, x: Tensor) -> Gradients:
    """i0(x) - i1(x) / x, whose limit at 0 is 1/2."""
    at_zero = ops.eq(x, 0)
    return grad * ops.where(at_zero, 0.5, ops.i0(x) - out / ops.where(at_zero, 1.0, x))


@derivative(ops.special_i1e)
def _(grad: Tensor, out: Tensor, x: Tensor) -> Gradients:
    at_zero = ops.eq(x, 0)
    return grad * ops.where(at_zero, 0.5, ops.special_i0e(x) - out * (ops.sign(x) + 1 / ops.where(at_zero, 1.0, x)))


not_differentiable(
    ops.special_bessel_j0,
    ops.special_bessel_j1,
    ops.special_bessel_y0,
    ops.special_bessel_y1,
    ops.special_modified_bessel_k0,
    ops.special_modified_bessel_k1,
    ops.special_scaled_modified_bessel_k0,
    ops.special_scaled_modified_bessel_k1,
    ops.special_spherical_bessel_j0,
    ops.special_airy_ai,
    because="PyTorch has no derivative of it either",
)
not_differentiable(
    ops.special_chebyshev_polynomial_t,
    ops.special_chebyshev_polynomial_u,
    ops.special_chebyshev_polynomial_v,
    ops.special_chebyshev_polynomial_w,
    ops.special_shifted_chebyshev_polynomial_t,
    ops.special_shifted_chebyshev_polynomial_u,
    ops.special_shifted_chebyshev_polynomial_v,
    ops.special_shifted_chebyshev_polynomial_w,
    ops.special_hermite_polynomial_h,
    ops.special_hermite_polynomial_he,
    ops.special_laguerre_polynomial_l,
    ops.special_legendre_polynomial_p,
    because="PyTorch has no derivative of it either",
)
