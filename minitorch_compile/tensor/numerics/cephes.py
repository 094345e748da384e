"""log, sin and cos in float32, as PyTorch's normal numbers need them: to the bit, not only to an ulp.

Short polynomials after an exact reduction, each multiply-add rounded once, as processors with AVX2 do it.

Source: Moshier, "Methods and Programs for Mathematical Functions" (1989), the Cephes library.

>>> x = np.float32([0.25, 1, 2])
>>> log(x)
array([-1.3862944,  0.       ,  0.6931472], dtype=float32)
>>> sine_and_cosine(x)[1]
array([ 0.9689124,  0.5403023, -0.4161468], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
LOG_2 = (-2.12194440e-4, 0.693359375)  # a small part and one of few bits; their sum is log(2)
SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
QUARTER_PI = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)  # its parts, from the largest on
SPLIT = 2.0**27 + 1  # times a float64, this leaves its upper half (Dekker)
single = np.float32


def rounded_once(x: np.ndarray, factor: Any, term: Any) -> np.ndarray:
    """x * factor + term with one rounding: through float64 for float32, with the products' remainders for float64."""
    if x.dtype == np.float32:
        return (x.astype(np.float64) * np.asarray(factor, np.float64) + np.asarray(term, np.float64)).astype(single)
    (x_high, x_low), (high, low) = _halves(x), _halves(np.float64(factor))
    product = x * factor
    lost = ((x_high * high - product) + x_high * low + x_low * high) + x_low * low
    total = product + term
    part = total - product
    return total + ((product - (total - part)) + (term - part) + lost)


def _halves(x: Any) -> tuple[Any, Any]:
    high = SPLIT * x - (SPLIT * x - x)
    return high, x - high


def log(x: np.ndarray) -> np.ndarray:
    """The natural logarithm of positive numbers."""
    fraction, exponent = np.frexp(x)
    below = fraction < single(np.sqrt(0.5))
    t = np.where(below, 2 * fraction, fraction) - single(1)
    power = (exponent - below).astype(single)
    square = t * t
    tail = rounded_once(_polynomial(LOG, t) * t, square, power * single(LOG_2[0]))
    tail = rounded_once(square, single(-0.5), tail)
    return rounded_once(power, single(LOG_2[1]), t + tail)


def sine_and_cosine(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of angles from 0 on: x less a multiple of pi / 2, in which each is the sine or the cosine of the rest."""
    octant = ((x * single(4 / np.pi)).astype(np.int32) + 1) & ~1
    for part in QUARTER_PI:
        x = rounded_once(octant.astype(single), single(-part), x)
    square = x * x
    cosine = _polynomial(COSINE, square) * square
    cosine = rounded_once(cosine, square, -(square * single(0.5))) + single(1)
    sine = rounded_once(_polynomial(SINE, square) * square, x, x)
    crossed = (octant & 2) != 0
    plus, minus = single(1), single(-1)
    return (
        np.where(crossed, cosine, sine) * np.where(octant & 4, minus, plus),
        np.where(crossed, sine, cosine) * np.where((octant + 2) & 4, minus, plus),
    )


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """Horner's rule, from the highest power down."""
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = rounded_once(result, x, single(coefficient))
    return result
