"""The special functions: prims where they are series, else short formulas in these.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.erfinv, empty_fake((2,))).compact())
x -> erf_inv(x)
"""

from __future__ import annotations

import math

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import elementwise, number_like, operands
from minitorch_compile.tensor import Tensor, ops

# Ops that are a prim of another name.
PRIMS_OF = {
    "erfc": "erfc",
    "erfinv": "erf_inv",
    "lgamma": "lgamma",
    "digamma": "digamma",
    "igamma": "igamma",
    "igammac": "igammac",
    "special_zeta": "zeta",
    "special_ndtri": "ndtri",
    "special_erfcx": "erfcx",
    "special_i0e": "bessel_i0e",
    "special_i1e": "bessel_i1e",
    "special_bessel_j0": "bessel_j0",
    "special_bessel_j1": "bessel_j1",
    "special_bessel_y0": "bessel_y0",
    "special_bessel_y1": "bessel_y1",
    "special_scaled_modified_bessel_k0": "bessel_k0e",
    "special_scaled_modified_bessel_k1": "bessel_k1e",
    "special_airy_ai": "airy_ai",
}
for _name, _prim in PRIMS_OF.items():
    elementwise(ops.table[_name])(prims.table[_prim])  # type: ignore[arg-type]


@elementwise(ops.special_entr)
def _(x: Tensor) -> Tensor:
    """-x log(x), 0 at 0 and -inf below."""
    zero = number_like(x, 0)
    product = prims.neg(prims.mul(x, prims.log(x)))
    return prims.where(prims.lt(x, zero), number_like(x, -float("inf")), prims.where(prims.eq(x, zero), zero, product))


@elementwise(ops.special_log_ndtr)
def _(x: Tensor) -> Tensor:
    """log(erfcx(-x / sqrt 2) / 2) - x^2 / 2 on the left, where ndtr underflows; log1p(-ndtr(-x)) elsewhere."""
    half, scaled = number_like(x, 0.5), prims.mul(x, number_like(x, math.sqrt(0.5)))
    left = prims.sub(prims.log(prims.mul(prims.erfcx(prims.neg(scaled)), half)), prims.mul(scaled, scaled))
    right = prims.log1p(prims.neg(prims.mul(prims.erfc(scaled), half)))
    return prims.where(prims.lt(x, number_like(x, -1)), left, right)


@decomposes(ops.polygamma)
def _(n: int, x: Tensor) -> Tensor:
    """(-1)^(n + 1) n! zeta(n + 1, x)."""
    if n == 0:
        return ops.digamma(x)
    (x,) = operands(ops.polygamma, (n, x))[1:]
    factor = math.factorial(n) if n <= 170 else math.inf
    return prims.mul(number_like(x, float(factor if n % 2 else -factor)), prims.zeta(number_like(x, n + 1), x))


# ------------------------------------------------------------------------------------------ Bessel functions


@elementwise(ops.i0)
def _(x: Tensor) -> Tensor:
    """exp(|x|) bessel_i0e(x)."""
    return _grown(x, prims.bessel_i0e(x))


@elementwise(ops.special_i1)
def _(x: Tensor) -> Tensor:
    """exp(|x|) bessel_i1e(x)."""
    return _grown(x, prims.bessel_i1e(x))


def _grown(x: Tensor, scaled: Tensor) -> Tensor:
    """exp(|x|) times it, by half the exponent from either side, so that nothing overflows before the product does."""
    growth = prims.exp(prims.mul(prims.abs(x), number_like(x, 0.5)))
    return prims.mul(prims.mul(growth, scaled), growth)


@elementwise(ops.special_modified_bessel_k0)
def _(x: Tensor) -> Tensor:
    """exp(-x) bessel_k0e(x)."""
    return prims.mul(prims.exp(prims.neg(x)), prims.bessel_k0e(x))


@elementwise(ops.special_modified_bessel_k1)
def _(x: Tensor) -> Tensor:
    """exp(-x) bessel_k1e(x)."""
    return prims.mul(prims.exp(prims.neg(x)), prims.bessel_k1e(x))


@elementwise(ops.special_spherical_bessel_j0)
def _(x: Tensor) -> Tensor:
    """sin(x) / x; 1 at 0, 0 at infinity."""
    zero, one = number_like(x, 0), number_like(x, 1)
    infinite = prims.eq(prims.abs(x), number_like(x, math.inf))
    ratio = prims.div(prims.sin(x), prims.where(prims.eq(x, zero), one, x))
    return prims.where(infinite, zero, prims.where(prims.eq(x, zero), one, ratio))
