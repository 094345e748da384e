"""The error function, and the GELU that is made of it, on many float32 numbers fast.

SciPy computes erf one element after another, about 10 ns each: a sixth of the training step of a small GPT. NumPy's
arithmetic and its tanh take eight elements at once. And erf is nearly a tanh: atanh(erf(x)) / x is a smooth function of
x**2, so a short polynomial in x**2 is all that is missing:

    erf(x) = tanh(x P(x**2))        P = 1.1284 + 0.1028 x**2 - ...

(The first two terms, for x / sqrt(2), are the famous sqrt(2 / pi) (x + 0.044715 x**3) of GELU's tanh form.) It is
evaluated in blocks that stay in the second-level cache.

>>> import numpy as np
>>> x = np.linspace(-5, 5, 10_001, dtype=np.float32)
>>> bool(np.max(np.abs(erf(x) - scipy.special.erf(x.astype(np.float64)))) < 2e-7)
True
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

BLOCK = 16384  # elements: three blocks of float32 take 192 KiB
WORTHWHILE = 2048  # below, twenty NumPy calls cost more than SciPy

# P, least squares of atanh(erf(x)) / x weighted so that the relative error of erf is even; in float32 it is 2.2e-7.
# Beyond LIMIT erf(x) rounds to +-1.
LIMIT = 4.0
P = (
    1.128379225730896, 0.1027698665857315, -0.00019529502606019378, -0.0006148317479528487, 8.459373930236325e-05,
    -4.793993412022246e-06, 2.7514296618846856e-08, 5.423915983016059e-09,
)  # fmt: skip
# The same for erf(x / sqrt(2)), of which the normal distribution's integral is made.
NORMAL = tuple(c * 0.5 ** (k + 0.5) for k, c in enumerate(P))
SQRT_HALF, ONE_OVER_SQRT_2PI = 0.7071067811865476, 0.3989422804014327

Block = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def erf(x: np.ndarray) -> np.ndarray:
    """erf of each element, in its dtype."""
    return in_blocks(_erf_block, x) if _is_worthwhile(x) else scipy.special.erf(x).astype(x.dtype, copy=False)


def gelu(x: np.ndarray) -> np.ndarray:
    """x Phi(x), with the integral Phi of the normal distribution."""
    if _is_worthwhile(x):
        return in_blocks(_gelu_block, x)
    return 0.5 * x * (1 + erf(x * SQRT_HALF))


def gelu_slope(x: np.ndarray) -> np.ndarray:
    """The derivative of gelu: Phi(x) + x phi(x)."""
    if _is_worthwhile(x):
        return in_blocks(_gelu_slope_block, x)
    return 0.5 * (1 + erf(x * SQRT_HALF)) + x * np.exp(-0.5 * x * x) * ONE_OVER_SQRT_2PI


def _is_worthwhile(x: np.ndarray) -> bool:
    return x.dtype == np.float32 and x.size >= WORTHWHILE and x.flags.c_contiguous


def in_blocks(block: Block, x: np.ndarray) -> np.ndarray:
    """Calls block(part of x, the same part of the result, as much memory to work in) for one part after another."""
    result = np.empty_like(x)
    source, target = x.reshape(-1), result.reshape(-1)
    scratch = np.empty(min(BLOCK, x.size), np.float32)
    for start in range(0, x.size, BLOCK):
        part = source[start : start + BLOCK]
        block(part, target[start : start + BLOCK], scratch[: part.size])
    return result


def _erf_block(x: np.ndarray, out: np.ndarray, square: np.ndarray) -> None:
    _odd_tanh(x, P, LIMIT, out, square)


def _normal_block(x: np.ndarray, out: np.ndarray, square: np.ndarray) -> None:
    """Phi(x) = (1 + erf(x / sqrt(2))) / 2."""
    _odd_tanh(x, NORMAL, LIMIT / SQRT_HALF, out, square)
    np.multiply(out, np.float32(0.5), out=out)
    np.add(out, np.float32(0.5), out=out)


def _gelu_block(x: np.ndarray, out: np.ndarray, square: np.ndarray) -> None:
    _normal_block(x, out, square)
    np.multiply(out, x, out=out)


def _gelu_slope_block(x: np.ndarray, out: np.ndarray, density: np.ndarray) -> None:
    _normal_block(x, out, density)
    np.multiply(x, x, out=density)
    np.multiply(density, np.float32(-0.5), out=density)
    np.exp(density, out=density)
    np.multiply(density, x, out=density)
    np.multiply(density, np.float32(ONE_OVER_SQRT_2PI), out=density)
    np.add(out, density, out=out)


def _odd_tanh(
    x: np.ndarray, coefficients: tuple[float, ...], limit: float, out: np.ndarray, square: np.ndarray
) -> None:
    """out = tanh(y polynomial(y**2)), where y is x within +-limit. By Horner's rule, in place."""
    np.multiply(x, x, out=square)
    np.minimum(square, np.float32(limit * limit), out=square)
    np.multiply(square, np.float32(coefficients[-1]), out=out)
    for coefficient in coefficients[-2:0:-1]:
        np.add(out, np.float32(coefficient), out=out)
        np.multiply(out, square, out=out)
    np.add(out, np.float32(coefficients[0]), out=out)
    np.multiply(out, x, out=out)
    np.tanh(out, out=out)
