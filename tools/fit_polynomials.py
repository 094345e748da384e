"""Makes the coefficients of the elementary functions in `minitorch_compile/inductor/kernels/vecmath`.

    python tools/fit_polynomials.py            all of them, with the error of each
    python tools/fit_polynomials.py EXP64      one

For a function g on an interval, Remez's algorithm finds the polynomial p whose largest weighted error |w (p - g)| is
least: the best one swings between +E and -E at degree + 2 points, so those points are guessed, the polynomial that
swings there is solved for, its extremes become the next guess, and so on. All in decimal arithmetic with 60 digits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal, getcontext
from functools import cache

import numpy as np

getcontext().prec = 60
D = Decimal
Function = Callable[[Decimal], Decimal]
GRID = 300


def series(x: Decimal, first: Decimal, ratio: Callable[[int], Decimal]) -> Decimal:
    """first + first * ratio(1) + first * ratio(1) * ratio(2) + ..., until nothing is added."""
    total, term, n = first, first, 1
    while abs(term) > D(10) ** -58:
        term *= ratio(n)
        total += term
        n += 1
    return total


def pi() -> Decimal:
    """Machin's formula."""
    arctan = lambda inverse: sum(D((-1) ** n) / (2 * n + 1) / D(inverse) ** (2 * n + 1) for n in range(90))
    return 4 * (4 * arctan(5) - arctan(239))


PI = pi()


def sin(x: Decimal) -> Decimal:
    return series(x, x, lambda n: -x * x / ((2 * n) * (2 * n + 1)))


def cos(x: Decimal) -> Decimal:
    return series(x, D(1), lambda n: -x * x / ((2 * n - 1) * (2 * n)))


def erf(x: Decimal) -> Decimal:
    return 2 / PI.sqrt() * (-x * x).exp() * series(x, x, lambda n: 2 * x * x / (2 * n + 1))


def erfc(x: Decimal) -> Decimal:
    """1 - erf; the series is exact to 60 digits, so enough are left up to x = 6."""
    return 1 - erf(x)


# ------------------------------------------------------------------------------------------------ Remez


def solve(matrix: list[list[Decimal]], right: list[Decimal]) -> list[Decimal]:
    """Gaussian elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(i + 1, size):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    result = [D(0)] * size
    for i in reversed(range(size)):
        known = sum((rows[i][j] * result[j] for j in range(i + 1, size)), D(0))
        result[i] = (rows[i][size] - known) / rows[i][i]
    return result


def horner(coefficients: list[Decimal], x: Decimal) -> Decimal:
    total = D(0)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def powers(x: Decimal, degree: int) -> list[Decimal]:
    """1, x, x**2, ..."""
    result = [D(1)]
    for _ in range(degree):
        result.append(result[-1] * x)
    return result


def chebyshev_points(low: Decimal, high: Decimal, count: int) -> list[Decimal]:
    """Points that lie denser towards the ends."""
    inner = [(low + high) / 2 - (high - low) / 2 * cos(PI * k / (count - 1)) for k in range(1, count - 1)]
    return [low, *inner, high]


def alternating(errors: list[tuple[Decimal, Decimal]], wanted: int) -> list[tuple[Decimal, Decimal]]:
    """The largest error of each stretch of one sign; surplus ones are dropped at the ends."""
    extremes: list[tuple[Decimal, Decimal]] = []
    for point, error in errors:
        if extremes and (error >= 0) == (extremes[-1][1] >= 0):
            if abs(error) > abs(extremes[-1][1]):
                extremes[-1] = (point, error)
        else:
            extremes.append((point, error))
    while len(extremes) > wanted:
        extremes.pop(0 if abs(extremes[0][1]) < abs(extremes[-1][1]) else -1)
    return extremes


def remez(g: Function, weight: Function, low: Decimal, high: Decimal, degree: int) -> tuple[list[Decimal], Decimal]:
    """Coefficients from the constant term up, and the largest weighted error."""
    grid = [(x, g(x), weight(x)) for x in chebyshev_points(low, high, GRID)]
    points = chebyshev_points(low, high, degree + 2)
    worst = D(0)
    coefficients: list[Decimal] = []
    for _ in range(8):
        matrix = [[*powers(x, degree), D((-1) ** i) / weight(x)] for i, x in enumerate(points)]
        *coefficients, _swing = solve(matrix, [g(x) for x in points])
        extremes = alternating([(x, w * (horner(coefficients, x) - y)) for x, y, w in grid], degree + 2)
        worst = max(abs(error) for _, error in extremes)
        if len(extremes) < degree + 2:
            break
        points = [x for x, _ in extremes]
    return coefficients, worst


# ------------------------------------------------------------------------------------------------ the functions

TINY = D(10) ** -9  # below this, quotients such as (exp(x) - 1 - x) / x**2 are taken from their series
FLOOR = D(10) ** -3  # keeps weights that vanish at 0 away from it
LN2, ROOT2 = D(2).ln(), D(2).sqrt()


def exp_rest(x: Decimal) -> Decimal:
    return (x.exp() - 1 - x) / x**2 if abs(x) > TINY else D("0.5") + x / 6


def exp_weight(x: Decimal) -> Decimal:
    return abs(x**2 / (x.exp() - 1)) + FLOOR if abs(x) > TINY else FLOOR


def log_rest(f: Decimal) -> Decimal:
    return ((1 + f).ln() - f + f * f / 2) / f**3 if abs(f) > TINY else D(1) / 3 - f / 4


def log_weight(f: Decimal) -> Decimal:
    return abs(f**3 / (1 + f).ln()) + FLOOR if abs(f) > TINY else FLOOR


def atanh_rest(z: Decimal) -> Decimal:
    """(2 atanh(s) - 2 s) / s**3 for z = s**2."""
    s = abs(z).sqrt()
    return (((1 + s) / (1 - s)).ln() - 2 * s) / (s * z) if s > TINY else D(2) / 3 + 2 * z / 5


def sin_rest(z: Decimal) -> Decimal:
    x = z.sqrt()
    return (sin(x) - x) / x**3 if x > TINY else -D(1) / 6 + z / 120


def cos_rest(z: Decimal) -> Decimal:
    return (cos(z.sqrt()) - 1 + z / 2) / z**2 if z > TINY else D(1) / 24 - z / 720


def erf_rest(z: Decimal) -> Decimal:
    x = z.sqrt()
    return (erf(x) / x if x > TINY else 2 / PI.sqrt()) - 1


def erfc_scaled(t: Decimal) -> Decimal:
    """erfc(x) exp(x**2) for t = (x - 3) / (x + 3)."""
    x = 3 * (1 + t) / (1 - t)
    return erfc(x) * (x * x).exp()


def erfc_weight(t: Decimal) -> Decimal:
    x = 3 * (1 + t) / (1 - t)
    return (-x * x).exp()


def atan_rest(z: Decimal) -> Decimal:
    """(atan(x) - x) / x**3 for z = x**2, at most 0.18."""
    return sum((D((-1) ** n) / (2 * n + 1) * z ** (n - 1) for n in range(1, 90)), D(0)) if z > 0 else -D(1) / 3


@cache
def erfc_scaled_from_0(t: Decimal) -> Decimal:
    """As `erfc_scaled`: 60 digits leave 14 of erfc at 10.3."""
    return erfc_scaled(t)


@cache
def erf_inv_ratio(w: Decimal) -> Decimal:
    """erf_inv(x) / x for 1 - x**2 = exp(-w), by Newton's method on the logarithm of erfc."""
    if w < TINY:
        return PI.sqrt() / 2
    rest = (-w).exp()
    x = (1 - rest).sqrt()
    wanted = (rest / (1 + x)).ln()
    y = w.sqrt()
    for _ in range(12):
        tail = erfc(y)
        y += (tail.ln() - wanted) * tail * (y * y).exp() * PI.sqrt() / 2
    return y / x


def erf_inv_near(v: Decimal) -> Decimal:
    return erf_inv_ratio(v + D("2.5"))


def erf_inv_far(v: Decimal) -> Decimal:
    return erf_inv_ratio((v + 3) ** 2)


HALF_LN2, QUARTER_PI = LN2 / 2 * D("1.0001"), PI / 4 * D("1.0001")
S_SQUARED = ((ROOT2 - 1) / (ROOT2 + 1)) ** 2

# name: (function, weight, from, to, degree, bits of the type)
FITS: dict[str, tuple[Function, Function, Decimal, Decimal, int, int]] = {
    "EXP32": (exp_rest, exp_weight, -HALF_LN2, HALF_LN2, 5, 32),
    "EXP64": (exp_rest, exp_weight, -HALF_LN2, HALF_LN2, 10, 64),
    "LOG32": (log_rest, log_weight, 1 / ROOT2 - 1, ROOT2 - 1, 8, 32),
    "LOG64": (atanh_rest, lambda z: z + FLOOR / 10, D(0), S_SQUARED, 6, 64),
    "LOG_TAIL64": (atanh_rest, lambda z: z + FLOOR / 10, D(0), S_SQUARED, 7, 64),
    "QUICK_LOG64": (atanh_rest, lambda z: z + FLOOR / 10, D(0), S_SQUARED, 3, 64),
    "QUICK_EXP64": (exp_rest, exp_weight, -HALF_LN2, HALF_LN2, 5, 64),
    "ATAN32": (atan_rest, lambda z: z + FLOOR / 10, D(0), (ROOT2 - 1) ** 2, 4, 32),
    "ATAN64": (atan_rest, lambda z: z + FLOOR / 10, D(0), (ROOT2 - 1) ** 2, 10, 64),
    "SIN32": (sin_rest, lambda z: z + FLOOR / 10, D(0), QUARTER_PI**2, 3, 32),
    "SIN64": (sin_rest, lambda z: z + FLOOR / 10, D(0), QUARTER_PI**2, 5, 64),
    "COS32": (cos_rest, lambda z: z * z + FLOOR / 10, D(0), QUARTER_PI**2, 2, 32),
    "COS64": (cos_rest, lambda z: z * z + FLOOR / 10, D(0), QUARTER_PI**2, 5, 64),
    "ERF_SMALL32": (erf_rest, lambda z: 1 / (1 + erf_rest(z)), D(0), D(1), 6, 32),
    "ERF_SMALL64": (erf_rest, lambda z: 1 / (1 + erf_rest(z)), D(0), D(1), 12, 64),
    "ERF_LARGE32": (lambda x: erfc(x).ln(), erfc, D("0.95"), D(4), 7, 32),
    "ERFC32": (erfc_scaled_from_0, lambda t: 1 / erfc_scaled_from_0(t), D(-1), D("0.55"), 10, 32),
    "ERF_INV_NEAR32": (erf_inv_near, lambda v: 1 / erf_inv_near(v), D("-2.5"), D("2.5"), 9, 32),
    "ERF_INV_FAR32": (erf_inv_far, lambda v: 1 / erf_inv_far(v), D("-0.77"), D("1.1"), 9, 32),
    "ERF_LARGE64": (erfc_scaled, erfc_weight, D("-0.5"), D(1) / 3, 12, 64),
}


def fit(name: str) -> tuple[list[float], float]:
    """The coefficients in the type that they are for, and the base-2 logarithm of the error."""
    function, weight, low, high, degree, bits = FITS[name]
    coefficients, error = remez(function, weight, low, high, degree)
    rounded = [float(f"{np.float32(float(c)):.9g}") if bits == 32 else float(c) for c in coefficients]
    return rounded, float(error.ln() / LN2)


def main(names: list[str]) -> None:
    for name in names or FITS:
        coefficients, error = fit(name)
        print(f"{name}: error 2**{error:.1f}\n    {', '.join(map(repr, coefficients))}")


if __name__ == "__main__":
    main(sys.argv[1:])
