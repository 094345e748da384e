"""Prims for functions that are series or integrals: SciPy computes them, and no kernel does yet.

>>> from minitorch_compile.tensor import tensor
>>> lgamma(tensor([4.0])), erfc(tensor([0.0])), zeta(tensor([2.0]), tensor([1.0]))
(tensor([1.7918]), tensor([1.]), tensor([1.6449]))
"""

from __future__ import annotations

from minitorch_compile.prims.pointwise import binary, unary
from minitorch_compile.prims.prim import FLOATS
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array


@unary(FLOATS)
def erfc(x: Array) -> Array:
    """1 - erf(x), exact where erf is near 1."""
    return ops.erfc.kernel(x)


@unary(FLOATS)
def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x), which decays like 1 / x where erfc underflows."""
    return ops.special_erfcx.kernel(x)


@unary(FLOATS)
def erf_inv(x: Array) -> Array:
    """The number whose erf is x; NaN outside [-1, 1]."""
    return ops.erfinv.kernel(x)


@unary(FLOATS)
def ndtri(x: Array) -> Array:
    """The number below which a standard normal variable lies with probability x."""
    return ops.special_ndtri.kernel(x)


@unary(FLOATS)
def lgamma(x: Array) -> Array:
    """log |gamma(x)|; infinite at 0, at negative integers and at both infinities."""
    return ops.lgamma.kernel(x)


@unary(FLOATS)
def digamma(x: Array) -> Array:
    """The derivative of log gamma(x); infinite at 0, NaN at negative integers."""
    return ops.digamma.kernel(x)


@binary(FLOATS)
def igamma(a: Array, b: Array) -> Array:
    """The share of gamma(a) that lies below b: the regularised lower incomplete gamma function."""
    return ops.igamma.kernel(a, b)


@binary(FLOATS)
def igammac(a: Array, b: Array) -> Array:
    """The share of gamma(a) that lies above b, exact where that is small."""
    return ops.igammac.kernel(a, b)


@binary(FLOATS)
def zeta(a: Array, b: Array) -> Array:
    """The sum of (k + b)^-a over k = 0, 1, ...: Hurwitz's zeta function."""
    return ops.special_zeta.kernel(a, b)


# ------------------------------------------------------------------------------------------ Bessel functions


@unary(FLOATS)
def bessel_j0(x: Array) -> Array:
    """The Bessel function of the first kind, of order 0."""
    return ops.special_bessel_j0.kernel(x)


@unary(FLOATS)
def bessel_j1(x: Array) -> Array:
    """The Bessel function of the first kind, of order 1."""
    return ops.special_bessel_j1.kernel(x)


@unary(FLOATS)
def bessel_y0(x: Array) -> Array:
    """The Bessel function of the second kind, of order 0."""
    return ops.special_bessel_y0.kernel(x)


@unary(FLOATS)
def bessel_y1(x: Array) -> Array:
    """The Bessel function of the second kind, of order 1."""
    return ops.special_bessel_y1.kernel(x)


@unary(FLOATS)
def bessel_i0e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind, of order 0."""
    return ops.special_i0e.kernel(x)


@unary(FLOATS)
def bessel_i1e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind, of order 1."""
    return ops.special_i1e.kernel(x)


@unary(FLOATS)
def bessel_k0e(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind, of order 0."""
    return ops.special_scaled_modified_bessel_k0.kernel(x)


@unary(FLOATS)
def bessel_k1e(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind, of order 1."""
    return ops.special_scaled_modified_bessel_k1.kernel(x)


@unary(FLOATS)
def airy_ai(x: Array) -> Array:
    """Airy's function Ai."""
    return ops.special_airy_ai.kernel(x)
