"""The elementary functions in float32, by the methods explained in `float64`.

`pow` and the reduction of angles compute in float64 for a moment: that costs less than carrying two float32 parts.

>>> exp_float32(F(1)), sigmoid_float32(F(0))
(2.7182817459106445, 0.5)
"""

from __future__ import annotations

import math

import numpy as np

from minitorch_compile.inductor.kernels.vecmath.float64 import (
    HALF_PI_1,
    HALF_PI_2,
    QUICK_EXP,
    QUICK_LOG,
    TWO_OVER_PI,
    finish_pow,
    inlined,
)
from minitorch_compile.inductor.kernels.vecmath.float64 import LOG2_E as LOG2_E_64
from minitorch_compile.inductor.runtime.native import (
    absolute,
    copy_sign,
    exponent_of,
    floor,
    fused_multiply_add,
    mantissa_of,
    maximum,
    polynomial,
    quarter_turns,
    round_half_even,
    select,
    square_root,
    turned,
    two_to_the,
)

F, D = np.float32, np.float64
INF, NAN = F(math.inf), F(math.nan)
LOG2_E, LN2 = F(1.4426950408889634), 0.6931471805599453
LN2_HIGH, LN2_LOW = F(0.693115234375), F(3.1946184945309415e-05)  # 12 bits, and the rest: n * LN2_HIGH is exact
LARGEST_ANGLE = F(2.0**48)  # up to here, a float64 holds the angle that is left precisely enough
SMALLEST_NORMAL = F(2.0**-126)
SCALE_UP, SCALE_UP_EXPONENT = F(2.0**25), F(25)


def float32s(*values: float) -> tuple[np.float32, ...]:
    return tuple(F(value) for value in values)


# (exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 2
EXP = float32s(
    0.5, 0.166666657, 0.0416663624, 0.00833338872, 0.00139405963, 0.000198460664,
)  # fmt: skip
# (log(1 + f) - f + f**2 / 2) / f**3 on sqrt(1/2) - 1 <= f <= sqrt(2) - 1
LOG = float32s(
    0.333333135, -0.250000089, 0.200020626, -0.166680008, 0.142205238, -0.124060839, 0.118822239, -0.11670544,
    0.0675271228,
)  # fmt: skip
# (sin(r) - r) / r**3 and (cos(r) - 1 + r**2 / 2) / r**4 in z = r**2, on |r| <= pi / 4
SIN = float32s(
    -0.166666672, 0.00833332911, -0.000198393347, 2.71830845e-06,
)  # fmt: skip
COS = float32s(
    0.0416666456, -0.00138873677, 2.4438481e-05,
)  # fmt: skip
# (atan(u) - u) / u**3 in z = u**2, on |u| <= tan(pi / 8)
ATAN = float32s(
    -0.333333164, 0.199984938, -0.142439187, 0.105964445, -0.0608444996,
)  # fmt: skip
# erf(x) / x - 1 in z = x**2, on x <= 1
ERF_SMALL = float32s(
    0.128379166, -0.37612626, 0.112835854, -0.0268538129, 0.00518832775, -0.000801019138, 7.853852e-05,
)  # fmt: skip
# log(erfc(x)) on 0.95 <= x <= 4
ERF_LARGE = float32s(
    0.000183445882, -1.12955689, -0.633262575, -0.108372495, 0.0251789801, -0.0041936161, 0.000439107389,
    -2.14962038e-05,
)  # fmt: skip


@inlined
def exp_float32(x):
    x = select(x > F(89), F(89), select(x < F(-104), F(-104), x))
    n = round_half_even(x * LOG2_E)
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    power = F(1) + (r + r * r * polynomial(r, EXP))
    half = floor(n * F(0.5))
    return power * two_to_the(half) * two_to_the(n - half)


@inlined
def expm1_float32(x):
    bounded = select(x > F(89), F(89), select(x < F(-20), F(-20), x))
    n = round_half_even(bounded * LOG2_E)
    r = (bounded - n * LN2_HIGH) - n * LN2_LOW
    small = r + r * r * polynomial(r, EXP)
    half = two_to_the(n - F(1))
    result = F(2) * (half * small + (half - F(0.5)))
    return select(x == F(0), x, result)


@inlined
def log_of_parts_float32(e, f):
    """e ln 2 + log(1 + f), by a polynomial in f: a division costs more than its extra terms."""
    z = f * f
    tail = f * z * polynomial(f, LOG) + e * LN2_LOW
    return e * LN2_HIGH + (f + (tail - F(0.5) * z))


@inlined
def log_float32(x):
    denormal = x < SMALLEST_NORMAL
    scaled = x * select(denormal, SCALE_UP, F(1))
    e = exponent_of(scaled) - select(denormal, SCALE_UP_EXPONENT, F(0))
    result = log_of_parts_float32(e, mantissa_of(scaled) - F(1))
    result = select(x > F(0), result, select(x == F(0), -INF, NAN))
    return select(x == INF, x, result)


@inlined
def log1p_float32(x):
    u = F(1) + x
    lost = select(absolute(x) < F(1), x - (u - F(1)), F(1) - (u - x))
    e = exponent_of(u)
    f = (mantissa_of(u) - F(1)) + lost * two_to_the(maximum(-e, F(-120)))
    result = log_of_parts_float32(e, f)
    result = select(x > F(-1), result, select(x == F(-1), -INF, NAN))
    return select((x == INF) | (x == F(0)), x, result)


@inlined
def tanh_float32(x):
    t = expm1_float32(F(-2) * absolute(x))
    return copy_sign(-t / (t + F(2)), x)


@inlined
def sigmoid_float32(x):
    e = exp_float32(-absolute(x))
    return select(x < F(0), e, F(1)) / (F(1) + e)


@inlined
def erf_float32(x):
    a = absolute(x)
    small = x + x * polynomial(x * x, ERF_SMALL)
    b = select(a > F(4), F(4), a)
    large = copy_sign(F(1) - exp_float32(polynomial(b, ERF_LARGE)), x)
    return select(a < F(1), small, large)


@inlined
def reduce_angle_float32(x):
    """n and r with x = n pi/2 + r; two parts of pi/2 are enough."""
    wide = D(x)
    n = round_half_even(wide * TWO_OVER_PI)
    return n, fused_multiply_add(-n, HALF_PI_2, fused_multiply_add(-n, HALF_PI_1, wide))


@inlined
def sine_and_cosine(angle):
    """sin and cos of an angle of at most pi/4."""
    r = F(angle)
    z = r * r
    return r + r * z * polynomial(z, SIN), F(1) - (F(0.5) * z - z * z * polynomial(z, COS))


@inlined
def sin_float32(x):
    n, r = reduce_angle_float32(x)
    sine, cosine = sine_and_cosine(r)
    return select(x == F(0), x, turned(quarter_turns(n), sine, cosine))


@inlined
def cos_float32(x):
    n, r = reduce_angle_float32(x)
    sine, cosine = sine_and_cosine(r)
    return turned(quarter_turns(n + 1.0), sine, cosine)


@inlined
def far_angle_float32(x):
    return (absolute(x) > LARGEST_ANGLE) & (absolute(x) < INF)


@inlined
def exact_sin_float32(x):
    return F(math.sin(D(x)))


@inlined
def exact_cos_float32(x):
    return F(math.cos(D(x)))


@inlined
def pow_float32(x, y):
    """2**(y log2 x) in float64, to 36 bits of the logarithm: float32's denormals are normal there, its powers too."""
    size = absolute(x)
    inner = D(select((size == F(0)) | (size == INF), F(1), size))
    f = mantissa_of(inner) - 1.0
    s = f / (2.0 + f)
    z = s * s
    logarithm = exponent_of(inner) + LOG2_E_64 * (2.0 * s + s * z * polynomial(z, QUICK_LOG))
    product = D(y) * logarithm
    bounded = select(product > 200.0, 200.0, select(product < -200.0, -200.0, product))
    n = round_half_even(bounded)
    r = (bounded - n) * LN2
    power = (1.0 + (r + r * r * polynomial(r, QUICK_EXP))) * two_to_the(n)
    return finish_pow(x, y, size, F(power), F(1))


@inlined
def rsqrt_float32(x):
    return F(1) / square_root(x)
