"""Special functions that NVIDIA's libdevice doesn't have, in float64: series, continued fractions, asymptotic ones.

Each is within 1e-13 of SciPy's number relative to it, but for igamma and igammac, which lose as many digits as
a log(a) has before the point, or sqrt(a) if a is above 1e5, and for airy_ai below -5, within 1e-10 of its largest
value.

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def sums(x):
...     x[simulated.threadIdx.x] = zeta(x[simulated.threadIdx.x], 1.0)
>>> x = np.array([2.0, 4.0, 1.0, 0.5])
>>> run = simulate(sums)[1, 4](x)
>>> np.round(x, 12).tolist()
[1.644934066848, 1.082323233711, inf, nan]

Sources: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 6.5, 9.6, 9.7, 10.4, 23.1; Temme, "On the
numerical evaluation of the modified Bessel function of the third kind" (1975), and "The asymptotic expansion of the
incomplete gamma functions" (1979).
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

EULER = 0.5772156649015329
EPSILON = 2.0**-53
LONGEST = 20000  # terms of a series, which needs some ten times the square root of its largest argument
FAR_BESSEL = 30.0  # from here on, asymptotic series have all digits
AIRY_0, AIRY_SLOPE = 0.3550280538878172, 0.2588194037928068  # Ai(0), and -Ai'(0)
FAR_AIRY = -7.0
FAR_GAMMA = 1e5
FAR_OUT = 745.0  # exp(-745) is the least float64
TINY = 1e-300


# ------------------------------------------------------------------------------------------ Bessel functions


@cuda.jit(device=True)
def power_series(x, order):
    """The sum of (x / 2)^(2 k + order) / (k! (k + order)!), for order 0 or 1: all terms have one sign."""
    square = x * x / 4.0
    term = 1.0 if order == 0 else x / 2.0
    total, k = term, 1.0
    while abs(term) > EPSILON * abs(total):
        term *= square / (k * (k + order))
        total += term
        k += 1.0
    return total


@cuda.jit(device=True)
def far_series(x, order, sign):
    """1 + sign (m - 1) / (8 x) + (m - 1) (m - 9) / (2 (8 x)^2) + ..., m = 4 order^2, as long as terms get smaller."""
    m = 4.0 * order * order
    term, total, k, before = 1.0, 1.0, 1.0, 2.0
    while abs(term) > EPSILON * abs(total) and abs(term) < before:
        before = abs(term)
        odd = 2.0 * k - 1.0
        term *= sign * (m - odd * odd) / (k * 8.0 * x)
        total += term
        k += 1.0
    return total


@cuda.jit(device=True)
def scaled_i(value, order):
    x = np.float64(value)
    size = abs(x)
    if math.isinf(size):
        return 0.0
    if size < FAR_BESSEL:
        return power_series(x, order) * math.exp(-size)
    result = far_series(size, order, -1.0) / math.sqrt(2.0 * math.pi * size)
    return -result if order == 1 and x < 0.0 else result


@cuda.jit(device=True)
def bessel_i0e(x):
    """exp(-|x|) I0(x)."""
    return scaled_i(x, 0)


@cuda.jit(device=True)
def bessel_i1e(x):
    return scaled_i(x, 1)


@cuda.jit(device=True)
def fraction_k(x, order):
    """(exp(x) K at an order below 1, the same at the order above), for x from 2 on: Steed's continued fraction."""
    b = 2.0 * (1.0 + x)
    d = 1.0 / b
    h = step = d
    below, above = 0.0, 1.0
    first = 0.25 - order * order
    q = c = first
    a = -first
    total, change, i = 1.0 + q * step, 1.0, 2.0
    while abs(change) > EPSILON * abs(total) and i < LONGEST:
        a -= 2.0 * (i - 1.0)
        c = -a * c / i
        new = (below - b * above) / a
        below, above = above, new
        q += c * new
        b += 2.0
        d = 1.0 / (b + a * d)
        step *= b * d - 1.0
        h += step
        change = q * step
        total += change
        i += 1.0
    low = math.sqrt(math.pi / (2.0 * x)) / total
    return low, low * (order + x + 0.5 - first * h) / x


@cuda.jit(device=True)
def bessel_k0e(value):
    """exp(x) K0(x)."""
    x = np.float64(value)
    if x <= 0.0 or x != x:
        return math.inf if x == 0.0 else math.nan
    if math.isinf(x):
        return 0.0
    if x >= 2.0:
        return fraction_k(x, 0.0)[0]
    square, term, harmonic, total, k = x * x / 4.0, 1.0, 0.0, 0.0, 1.0
    while term > EPSILON * 0.1:
        term *= square / (k * k)
        harmonic += 1.0 / k
        total += term * harmonic
        k += 1.0
    return math.exp(x) * (total - (math.log(x / 2.0) + EULER) * power_series(x, 0))


@cuda.jit(device=True)
def bessel_k1e(value):
    """exp(x) K1(x)."""
    x = np.float64(value)
    if x <= 0.0 or x != x:
        return math.inf if x == 0.0 else math.nan
    if math.isinf(x):
        return 0.0
    if x >= 2.0:
        return fraction_k(x, 0.0)[1]
    square, term, slopes, total, k = x * x / 4.0, 1.0, 1.0 - 2.0 * EULER, 0.0, 0.0
    while term > EPSILON * 0.1:
        total += term * slopes
        k += 1.0
        term *= square / (k * (k + 1.0))
        slopes += 1.0 / k + 1.0 / (k + 1.0)
    return math.exp(x) * (1.0 / x + math.log(x / 2.0) * power_series(x, 1) - x / 4.0 * total)


# ------------------------------------------------------------------------------------------ Airy's function


@cuda.jit(device=True)
def airy_near(x):
    """Ai(0) (1 + x^3 / 3! + 4 x^6 / 6! + ...) + Ai'(0) (x + 2 x^4 / 4! + 10 x^7 / 7! + ...)."""
    cube = x * x * x
    even, odd = 1.0, x
    total, k = AIRY_0 * even - AIRY_SLOPE * odd, 1.0
    while abs(even) + abs(odd) > EPSILON * 1e-4:
        even *= cube / (3.0 * k * (3.0 * k - 1.0))
        odd *= cube / (3.0 * k * (3.0 * k + 1.0))
        total += AIRY_0 * even - AIRY_SLOPE * odd
        k += 1.0
    return total


@cuda.jit(device=True)
def airy_oscillating(size):
    """Ai(-size): (sin(z + pi / 4) P - cos(z + pi / 4) Q) / (sqrt(pi) size^(1/4)), z = 2/3 size^(3/2)."""
    z = size * math.sqrt(size) * 2.0 / 3.0
    term, k, before = 1.0, 1.0, 2.0
    p, q = 1.0, 0.0
    while abs(term) > EPSILON and abs(term) < before:
        before = abs(term)
        term *= (6.0 * k - 5.0) * (6.0 * k - 3.0) * (6.0 * k - 1.0) / (216.0 * k * (2.0 * k - 1.0) * z)
        turn = np.int64(k) % 4
        if turn == 1:
            q += term
        elif turn == 2:
            p -= term
        elif turn == 3:
            q -= term
        else:
            p += term
        k += 1.0
    angle = z + math.pi / 4.0
    return (math.sin(angle) * p - math.cos(angle) * q) / (math.sqrt(math.pi) * math.sqrt(math.sqrt(size)))


@cuda.jit(device=True)
def airy_ai(value):
    """Far to the right, sqrt(x / 3) / pi times K of order 1/3 at 2/3 x^(3/2)."""
    x = np.float64(value)
    if x != x or math.isinf(x):
        return math.nan  # at infinities, too, as SciPy has it
    if x < FAR_AIRY:
        return airy_oscillating(-x)
    z = x * math.sqrt(abs(x)) * 2.0 / 3.0
    if z < 2.0:
        return airy_near(x)
    return math.sqrt(x / 3.0) / math.pi * math.exp(-z) * fraction_k(z, 1.0 / 3.0)[0]


# ------------------------------------------------------------------------------------------ zeta


@cuda.jit(device=True)
def zeta(exponent, start):
    """The sum of (k + q)^-s: the first terms, and for the rest Euler and Maclaurin's formula."""
    s, q = np.float64(exponent), np.float64(start)
    if s == 1.0:
        return math.inf
    if s < 1.0 or s != s or q != q:
        return math.nan
    if q <= 0.0:
        if q == math.floor(q):
            return math.inf
        if s != math.floor(s):
            return math.nan
    total, place, count = 0.0, q, 0.0
    while count < 10.0 or place <= 10.0:
        term = math.pow(place, -s)
        total += term
        if place > 0.0 and abs(term) <= EPSILON * abs(total):
            return total
        place += 1.0
        count += 1.0
    last = math.pow(place, -s)
    total += last * place / (s - 1.0) + last / 2.0
    square, factor = 1.0 / (place * place), last * s / place
    total += factor / 12.0
    factor *= (s + 1.0) * (s + 2.0) * square
    total -= factor / 720.0
    factor *= (s + 3.0) * (s + 4.0) * square
    total += factor / 30240.0
    factor *= (s + 5.0) * (s + 6.0) * square
    total -= factor / 1209600.0
    factor *= (s + 7.0) * (s + 8.0) * square
    total += factor / 47900160.0
    factor *= (s + 9.0) * (s + 10.0) * square
    total -= factor * 691.0 / 1307674368000.0
    factor *= (s + 11.0) * (s + 12.0) * square
    total += factor / 74724249600.0
    factor *= (s + 13.0) * (s + 14.0) * square
    return total - factor * 3617.0 / 10670622842880000.0


# ------------------------------------------------------------------------------------------ incomplete gamma


@cuda.jit(device=True)
def gamma_share(a, x):
    """x^a exp(-x) / gamma(a): what both series are multiplied by."""
    return math.exp(a * math.log(x) - x - math.lgamma(a))


@cuda.jit(device=True)
def lower_share(a, x):
    """The series from below, for x < a + 1."""
    term = 1.0 / a
    total, k = term, a
    while term > EPSILON * total and k < a + LONGEST:
        k += 1.0
        term *= x / k
        total += term
    return total * gamma_share(a, x)


@cuda.jit(device=True)
def upper_share(a, x):
    """The continued fraction from above, for x >= a + 1 (by Lentz's method)."""
    b = x + 1.0 - a
    c, d = 1.0 / TINY, 1.0 / b
    h, k, change = d, 1.0, 2.0
    while abs(change - 1.0) > EPSILON and k < LONGEST:
        step = -k * (k - a)
        b += 2.0
        d = step * d + b
        d = TINY if abs(d) < TINY else d
        c = b + step / c
        c = TINY if abs(c) < TINY else c
        d = 1.0 / d
        change = d * c
        h *= change
        k += 1.0
    return h * gamma_share(a, x)


@cuda.jit(device=True)
def far_share(a, x, upper):
    """Of a large a: the error function that the gamma function comes near to, and two terms of what lies between them
    (Temme's uniform expansion in powers of 1 / a)."""
    change = (x - a) / a
    size = a * (change - math.log1p(change))
    if size > FAR_OUT:
        return 0.0 if upper == (x > a) else 1.0
    bend = math.copysign(math.sqrt(2.0 * size / a), change)
    first = (-571.0 / 261273600.0 * bend + 1.0 / 25515.0) * bend - 139.0 / 777600.0
    first = ((first * bend + 1.0 / 2835.0) * bend + 1.0 / 864.0) * bend - 2.0 / 135.0
    first = (first * bend + 1.0 / 12.0) * bend - 1.0 / 3.0
    second = ((-77.0 / 77760.0 * bend + 1.0 / 378.0) * bend - 1.0 / 288.0) * bend - 1.0 / 540.0
    between = math.exp(-size) / math.sqrt(2.0 * math.pi * a) * (first + second / a)
    if upper:
        return math.erfc(bend * math.sqrt(a / 2.0)) / 2.0 + between
    return math.erfc(-bend * math.sqrt(a / 2.0)) / 2.0 - between


@cuda.jit(device=True)
def gamma_shares(shape, value, upper):
    """The share of gamma(a) above x, or below."""
    a, x = np.float64(shape), np.float64(value)
    if a < 0.0 or x < 0.0 or a != a or x != x or (a == 0.0 and x == 0.0) or (math.isinf(a) and math.isinf(x)):
        return math.nan
    below = 0.5
    if x == 0.0 or math.isinf(a):
        below = 0.0
    elif a == 0.0 or math.isinf(x):
        below = 1.0
    elif a > FAR_GAMMA:
        return far_share(a, x, upper)
    elif x < a + 1.0:
        below = lower_share(a, x)
    else:
        above = upper_share(a, x)
        return above if upper else 1.0 - above
    return 1.0 - below if upper else below


@cuda.jit(device=True)
def igamma(a, x):
    return gamma_shares(a, x, False)


@cuda.jit(device=True)
def igammac(a, x):
    return gamma_shares(a, x, True)


# ------------------------------------------------------------------------------------------ incomplete beta


@cuda.jit(device=True)
def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function, for x below its middle (by Lentz's method)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (TINY if abs(d) < TINY else d)
    h, k, change = d, 1.0, 2.0
    while abs(change - 1.0) > EPSILON and k < LONGEST:
        step = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k))
        d = 1.0 + step * d
        c = 1.0 + step / c
        d = 1.0 / (TINY if abs(d) < TINY else d)
        c = TINY if abs(c) < TINY else c
        h *= d * c
        step = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0))
        d = 1.0 + step * d
        c = 1.0 + step / c
        d = 1.0 / (TINY if abs(d) < TINY else d)
        c = TINY if abs(c) < TINY else c
        change = d * c
        h *= change
        k += 1.0
    return h


@cuda.jit(device=True)
def beta_share(a, b, x):
    """The share of the beta function that lies below x, for 0 < x < 1."""
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * beta_fraction(a, b, x) / a
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b
