"""Functions with names of their own: the integrals and series that exp, log and sin do not reach.

SciPy computes them; it imports the part of it that does when the first of them is called: `import scipy` alone takes a
hundredth of a second, with all parts that are used here two tenths. `torch.special` has them all; the best known are in
`torch`, too.

>>> from minitorch_compile.tensor import tensor
>>> lgamma(tensor(5.0)), digamma(tensor(1.0)), erfinv(tensor(0.5)), polygamma(1, tensor(1.0))
(tensor(3.1781), tensor(-0.5772), tensor(0.4769), tensor(1.6449))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from minitorch_compile.tensor.dispatch.declare import composite, pointwise
from minitorch_compile.tensor.dispatch.op import Array, Scalar, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import INT_TO_FLOAT, PointwiseOp
from minitorch_compile.tensor.ops.pointwise import mul


def computed_by_scipy(function: Callable[..., Any], *arguments: Array | Scalar) -> Array:
    """A function of SciPy's in the dtype of its arguments: SciPy itself computes float16 in float32 or float64."""
    return np.asarray(function(*arguments)).astype(np.result_type(*arguments), copy=False)


def of_scipy(name: str) -> Callable[..., Any]:
    """The function of that name in `scipy.special`, which is looked up when it is called."""
    return lambda *arguments: getattr(scipy.special, name)(*arguments)


def _declared(name: str, function: Callable[[Array], Array], says: str) -> PointwiseOp:
    """A function of one argument that only torch.special has."""

    def kernel(input: Array) -> Array:
        return computed_by_scipy(function, input)

    kernel.__name__, kernel.__doc__ = f"special_{name}", says
    return pointwise(INT_TO_FLOAT, torch=False, methods=False)(kernel)


# ------------------------------------------------------------------------------------------ the error function's kin


@pointwise(INT_TO_FLOAT)
def erfc(input: Array) -> Array:
    """1 - erf(x), exact where erf is near 1."""
    return computed_by_scipy(scipy.special.erfc, input)


@pointwise(INT_TO_FLOAT, inplace_function=False)
def erfinv(input: Array) -> Array:
    """The number with that erf; NaN outside [-1, 1]."""
    return computed_by_scipy(scipy.special.erfinv, input)


special_erfcx = _declared("erfcx", of_scipy("erfcx"), "exp(x^2) erfc(x), which stays in range for large x.")
special_ndtri = _declared("ndtri", of_scipy("ndtri"), "The number below which a standard normal one lies that often.")
special_log_ndtr = _declared("log_ndtr", of_scipy("log_ndtr"), "log(ndtr(x)), exact where ndtr is near 0.")
special_entr = _declared("entr", of_scipy("entr"), "-x log(x), 0 at 0 and -inf below.")


@composite(torch=False)
def special_ndtr(input: Tensor) -> Any:
    """How often a standard normal number lies below x."""
    return mul(erfc(mul(input, -math.sqrt(0.5))), 0.5)


# ------------------------------------------------------------------------------------------ the gamma function's kin


@pointwise(INT_TO_FLOAT, inplace_function=False)
def lgamma(input: Array) -> Array:
    """log |gamma(x)|, element by element; gamma(n) = (n - 1)! for integers. Infinite at 0, at negative integers and at
    both infinities.

    >>> torch.lgamma(torch.tensor([1.0, 4.0]))
    tensor([0.0000, 1.7918])
    """
    return np.where(np.isneginf(input), -input, computed_by_scipy(scipy.special.gammaln, input))


@pointwise(INT_TO_FLOAT, inplace_function=False)
def digamma(input: Array) -> Array:
    """The derivative of log gamma(x); infinite at 0, NaN at negative integers."""
    at_pole = (input == 0) | ((input < 0) & (input == np.floor(input)))
    of_pole = np.where(input == 0, np.copysign(input.dtype.type(np.inf), -input), np.nan)
    return np.where(at_pole, of_pole, computed_by_scipy(scipy.special.digamma, input)).astype(input.dtype, copy=False)


@pointwise(INT_TO_FLOAT, methods=False)
def polygamma(n: int, input: Array) -> Array:
    """The n-th derivative of digamma. RuntimeError for n < 0."""
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}")
    return computed_by_scipy(lambda x: scipy.special.polygamma(n, x), input)


@composite(methods=True, inplace=True)
def mvlgamma(input: Tensor, p: int) -> Any:
    """The logarithm of the multivariate gamma function of p dimensions. RuntimeError for p < 1."""
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    total: Any = lgamma(input)
    for i in range(1, p):
        total = total + lgamma(input - i / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


@pointwise(INT_TO_FLOAT)
def igamma(input: Array, other: Array) -> Array:
    """The share of gamma(a), a = input, that lies below x = other: the regularised lower incomplete gamma function."""
    return computed_by_scipy(scipy.special.gammainc, input, other)


@pointwise(INT_TO_FLOAT)
def igammac(input: Array, other: Array) -> Array:
    """The share of gamma(a), a = input, that lies above x = other: 1 - igamma."""
    return computed_by_scipy(scipy.special.gammaincc, input, other)


@pointwise(INT_TO_FLOAT, torch=False, methods=False)
def special_zeta(input: Array | Scalar, other: Array | Scalar) -> Array:
    """The sum of (k + q)^(-x) over k = 0, 1, ...: Hurwitz's zeta function of x = input and q = other."""
    return computed_by_scipy(scipy.special.zeta, input, other)


# ------------------------------------------------------------------------------------------ Bessel functions


@pointwise(INT_TO_FLOAT)
def i0(input: Array) -> Array:
    """The modified Bessel function of the first kind, of order 0."""
    return computed_by_scipy(scipy.special.i0, input)


special_i0e = _declared("i0e", of_scipy("i0e"), "exp(-|x|) i0(x), which stays in range.")
special_i1 = _declared("i1", of_scipy("i1"), "The modified Bessel function of the first kind, of order 1.")
special_i1e = _declared("i1e", of_scipy("i1e"), "exp(-|x|) i1(x), which stays in range.")
special_bessel_j0 = _declared("bessel_j0", of_scipy("j0"), "The Bessel function of the first kind, of order 0.")
special_bessel_j1 = _declared("bessel_j1", of_scipy("j1"), "The Bessel function of the first kind, of order 1.")
special_bessel_y0 = _declared("bessel_y0", of_scipy("y0"), "The Bessel function of the second kind, of order 0.")
special_bessel_y1 = _declared("bessel_y1", of_scipy("y1"), "The Bessel function of the second kind, of order 1.")
special_modified_bessel_k0 = _declared(
    "modified_bessel_k0", of_scipy("k0"), "The modified Bessel function of the second kind, of order 0."
)
special_modified_bessel_k1 = _declared(
    "modified_bessel_k1", of_scipy("k1"), "The modified Bessel function of the second kind, of order 1."
)
special_scaled_modified_bessel_k0 = _declared(
    "scaled_modified_bessel_k0", of_scipy("k0e"), "exp(x) modified_bessel_k0(x), which stays in range."
)
special_scaled_modified_bessel_k1 = _declared(
    "scaled_modified_bessel_k1", of_scipy("k1e"), "exp(x) modified_bessel_k1(x), which stays in range."
)
special_spherical_bessel_j0 = _declared(
    "spherical_bessel_j0", lambda x: scipy.special.spherical_jn(0, x), "sin(x) / x, and 1 at 0."
)
special_airy_ai = _declared(
    "airy_ai", lambda x: scipy.special.airy(x)[0], "The Airy function, a solution of y'' = x y."
)
