"""The error function on many float32 numbers, fast.

SciPy computes erf one element after another, about 10 ns each, which would be a sixth of the training step of a small
GPT (its activation is x times a normal distribution's integral). NumPy's arithmetic takes eight elements at once, so a
quotient of two polynomials in x**2, evaluated in blocks that stay in the second-level cache, is four times as fast.

>>> import numpy as np
>>> x = np.linspace(-5, 5, 10_001, dtype=np.float32)
>>> bool(np.max(np.abs(erf(x) - special.erf(x.astype(np.float64)))) < 5e-7)
True
"""

from __future__ import annotations

import numpy as np
from scipy import special

BLOCK = 16384  # elements: three blocks of float32 take 192 KiB
WORTHWHILE = 2048  # below, twenty-five NumPy calls cost more than SciPy

# erf(x) / x = P(x**2) / Q(x**2) for |x| <= LIMIT, beyond which erf(x) rounds to +-1. Fitted by iteratively reweighted
# least squares; the fit is good to 2e-8, rounding in float32 to 5e-7 relative.
LIMIT = np.float32(3.95)
P = [np.float32(c) for c in (1.1283791, 0.19152799, 0.05287253, 0.0038072271, 0.00028467033, 2.026115e-06)]
Q = [np.float32(c) for c in (1.0, 0.50306994, 0.11455043, 0.015053199, 0.0011705071, 3.7833066e-05)]


def erf(x: np.ndarray) -> np.ndarray:
    """erf of each element, in its dtype and layout."""
    if x.dtype != np.float32 or x.size < WORTHWHILE or not x.flags.c_contiguous:
        return special.erf(x).astype(x.dtype, copy=False)
    result = np.empty_like(x)
    source, target = x.reshape(-1), result.reshape(-1)
    scratch = np.empty((2, BLOCK), np.float32)
    for start in range(0, x.size, BLOCK):
        block = source[start : start + BLOCK]
        _quotient(block, target[start : start + BLOCK], *scratch[:, : block.size])
    return result


def _quotient(x: np.ndarray, out: np.ndarray, square: np.ndarray, below: np.ndarray) -> None:
    """Writes clip(x) * P / Q of clip(x)**2 into `out`; the other two are memory to work in."""
    bounded = np.clip(x, -LIMIT, LIMIT, out=below)
    np.multiply(bounded, bounded, out=square)
    _horner(P, square, out)
    np.multiply(out, bounded, out=out)
    _horner(Q, square, below)
    np.divide(out, below, out=out)
    np.clip(out, np.float32(-1), np.float32(1), out=out)


def _horner(coefficients: list[np.float32], z: np.ndarray, out: np.ndarray) -> None:
    np.multiply(z, coefficients[-1], out=out)
    for coefficient in coefficients[-2:0:-1]:
        np.add(out, coefficient, out=out)
        np.multiply(out, z, out=out)
    np.add(out, coefficients[0], out=out)
