"""The elementary functions in float64.

The method is the same for all: bring the argument to a small range, evaluate a polynomial there, undo the reduction.
The coefficients minimise the largest relative error on the range (Remez's algorithm; `tools/fit_polynomials.py` makes
them).

>>> abs(log_of_parts(1.0, 0.0) - math.log(2)) < 1e-16
True
"""

from __future__ import annotations

import math

import numpy as np

from minitorch_compile.inductor.runtime.inlined_code import kept_njit
from minitorch_compile.inductor.runtime.native import (
    absolute,
    copy_sign,
    exponent_of,
    floor,
    fused_multiply_add,
    mantissa_of,
    maximum,
    polynomial,
    round_half_even,
    select,
    square_root,
    two_to_the,
)

inlined = kept_njit(forceinline=True, error_model="numpy", fastmath={"contract"})

INF, NAN = math.inf, math.nan
LOG2_E, TWO_OVER_PI = 1.4426950408889634, 0.6366197723675814
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # 32 bits, and the rest: n * LN2_HIGH is exact
HALF_PI_1, HALF_PI_2, HALF_PI_3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
LARGEST_ANGLE = 2.0**28  # up to here, three parts of pi/2 leave an angle as precise as a float64
SMALLEST_NORMAL = 2.0**-1022
SCALE_UP, SCALE_UP_EXPONENT = 2.0**54, 54.0

# (exp(r) - 1 - r) / r**2 on |r| <= ln(2) / 2
EXP = (
    0.5, 0.16666666666666677, 0.04166666666666651, 0.008333333333321724, 0.0013888888888961934,
    0.00019841269885890518, 2.480158717314753e-05, 2.7557244443870423e-06, 2.7557402260441265e-07,
    2.5108956294128134e-08, 2.087541839858696e-09,
)  # fmt: skip
# (2 atanh(s) - 2 s) / s**3 in z = s**2, on s <= (sqrt(2) - 1) / (sqrt(2) + 1)
LOG = (
    0.6666666666666731, 0.3999999999943688, 0.28571428738169835, 0.22222198956911185, 0.18183546222164418,
    0.15314477922339548, 0.1479195731634595,
)  # fmt: skip
# the same without its first term, for pow
LOG_TAIL = (
    0.40000000000005925, 0.28571428569166973, 0.2222222263668385, 0.181817763581583, 0.1538706421634928,
    0.13250651930357935, 0.13246939992466475,
)  # fmt: skip
# LOG and EXP with fewer terms, for float32's pow
QUICK_LOG = (
    0.6666666566528994, 0.40000331703871933, 0.2853749351339407, 0.23579097152774506,
)  # fmt: skip
QUICK_EXP = (
    0.5000000043977995, 0.16666666372387437, 0.04166636142960849, 0.008333388981938425, 0.0013940595913697017,
    0.00019846067055321354,
)  # fmt: skip
# (sin(r) - r) / r**3 and (cos(r) - 1 + r**2 / 2) / r**4 in z = r**2, on |r| <= pi / 4
SIN = (
    -0.16666666666666632, 0.008333333333322429, -0.00019841269829816972, 2.755731369459626e-06,
    -2.505075847990419e-08, 1.5896814449930455e-10,
)  # fmt: skip
COS = (
    0.0416666666666666, -0.0013888888888874244, 2.4801587289546677e-05, -2.755731436889611e-07,
    2.0875725310713428e-09, -1.1359744550752451e-11,
)  # fmt: skip
# (atan(u) - u) / u**3 in z = u**2, on |u| <= tan(pi / 8)
ATAN = (
    -0.33333333333333204, 0.199999999999549, -0.14285714280316036, 0.11111110789022882, -0.09090897909279912,
    0.07692062796024995, -0.06663132333121476, 0.05848088632954385, -0.05040177667997899, 0.03808617970745264,
    -0.01793034056569863,
)  # fmt: skip
# erf(x) / x - 1 in z = x**2, on x <= 1
ERF_SMALL = (
    0.1283791670955126, -0.3761263890318375, 0.11283791670954857, -0.0268661706450729, 0.005223977624780882,
    -0.0008548326978742751, 0.00012055331036916258, -1.4925593507312619e-05, 1.6460972824822208e-06,
    -1.6350025317943156e-07, 1.4657880562563488e-08, -1.1365668999040741e-09, 5.945267200292168e-11,
)  # fmt: skip
# erfc(x) * exp(x**2) in t = (x - 3) / (x + 3), on 1 <= x <= 6
ERF_LARGE = (
    0.17900115118139004, -0.32623356004316445, 0.24560380170772406, -0.15011593654693406, 0.0716658374312376,
    -0.024392490000475248, 0.004269232736406014, 0.0007083061082459466, -0.0005949975692953861,
    5.022444150798882e-05, 7.163206381578291e-05, -6.434881638238513e-06, -6.577430159021447e-06,
)  # fmt: skip


@inlined
def exp_float64(x):
    """e**x: x = n ln 2 + r, and 2**n is set in the exponent, in two halves so that denormal results come out right."""
    x = select(x > 710.0, 710.0, select(x < -746.0, -746.0, x))
    n = round_half_even(x * LOG2_E)
    r = fused_multiply_add(-n, LN2_LOW, fused_multiply_add(-n, LN2_HIGH, x))
    power = 1.0 + (r + r * r * polynomial(r, EXP))
    half = floor(n * 0.5)
    return power * two_to_the(half) * two_to_the(n - half)


@inlined
def expm1_float64(x):
    """e**x - 1 = 2**n (e**r - 1) + (2**n - 1), where e**r - 1 comes from the polynomial without cancellation."""
    bounded = select(x > 710.0, 710.0, select(x < -40.0, -40.0, x))
    n = round_half_even(bounded * LOG2_E)
    r = fused_multiply_add(-n, LN2_LOW, fused_multiply_add(-n, LN2_HIGH, bounded))
    small = r + r * r * polynomial(r, EXP)
    half = two_to_the(n - 1.0)  # 2**n itself overflows at the upper end
    result = 2.0 * (half * small + (half - 0.5))
    return select(x == 0.0, x, result)  # keeps the sign of -0.0


@inlined
def log_of_parts(e, f):
    """e ln 2 + log(1 + f): with s = f / (2 + f), log(1 + f) = 2 atanh s."""
    s = f / (2.0 + f)
    z, half_square = s * s, 0.5 * f * f
    correction = s * (half_square + z * polynomial(z, LOG)) + e * LN2_LOW
    return e * LN2_HIGH - ((half_square - correction) - f)


@inlined
def log_float64(x):
    """x = m 2**e with m near 1; a denormal x is scaled up first."""
    denormal = x < SMALLEST_NORMAL
    scaled = x * select(denormal, SCALE_UP, 1.0)
    e = exponent_of(scaled) - select(denormal, SCALE_UP_EXPONENT, 0.0)
    result = log_of_parts(e, mantissa_of(scaled) - 1.0)
    result = select(x > 0.0, result, select(x == 0.0, -INF, NAN))
    return select(x == INF, x, result)


@inlined
def log1p_float64(x):
    """log(1 + x): what 1 + x loses by rounding is put back into the small part."""
    u = 1.0 + x
    lost = select(absolute(x) < 1.0, x - (u - 1.0), 1.0 - (u - x))
    e = exponent_of(u)
    f = (mantissa_of(u) - 1.0) + lost * two_to_the(maximum(-e, -1000.0))
    result = log_of_parts(e, f)
    result = select(x > -1.0, result, select(x == -1.0, -INF, NAN))
    return select((x == INF) | (x == 0.0), x, result)


@inlined
def tanh_float64(x):
    """-t / (t + 2) for t = e**(-2|x|) - 1, which neither overflows nor cancels."""
    t = expm1_float64(-2.0 * absolute(x))
    return copy_sign(-t / (t + 2.0), x)


@inlined
def sigmoid_float64(x):
    """1 / (1 + e**-x), by the exponential that doesn't overflow."""
    e = exp_float64(-absolute(x))
    return select(x < 0.0, e, 1.0) / (1.0 + e)


@inlined
def erf_float64(x):
    """A polynomial up to 1; beyond, 1 - erfc, with erfc = e**(-x**2) times a polynomial."""
    a = absolute(x)
    small = x + x * polynomial(x * x, ERF_SMALL)
    b = select(a > 6.0, 6.0, a)  # from 6 on, erf is 1 to the last bit
    tail = exp_float64(-b * b) * polynomial((b - 3.0) / (b + 3.0), ERF_LARGE)
    return select(a < 1.0, small, copy_sign(1.0 - tail, x))


@inlined
def reduce_angle(x):
    """n and r with x = n pi/2 + r, |r| <= pi/4."""
    n = round_half_even(x * TWO_OVER_PI)
    r = fused_multiply_add(-n, HALF_PI_1, x)
    return n, fused_multiply_add(-n, HALF_PI_3, fused_multiply_add(-n, HALF_PI_2, r))


@inlined
def far_angle_float64(x):
    """Whether x is so large that `reduce_angle` loses it; an infinity has no angle anyway."""
    return (absolute(x) > LARGEST_ANGLE) & (absolute(x) < INF)


@inlined
def exact_sin_float64(x):
    """By the C library, which is right everywhere, and slow."""
    return math.sin(x)


@inlined
def exact_cos_float64(x):
    return math.cos(x)


@inlined
def turn(n, sine, cosine):
    """sin(n pi/2 + r) from sin(r) and cos(r): the quadrant n mod 4 chooses one of them and its sign."""
    half = floor(n * 0.5)
    odd = n - 2.0 * half
    negative = half - 2.0 * floor(half * 0.5)
    value = select(odd != 0.0, cosine, sine)
    return select(negative != 0.0, -value, value)


@inlined
def sin_float64(x):
    n, r = reduce_angle(x)
    z = r * r
    result = turn(n, r + r * z * polynomial(z, SIN), 1.0 - (0.5 * z - z * z * polynomial(z, COS)))
    return select(x == 0.0, x, result)


@inlined
def cos_float64(x):
    n, r = reduce_angle(x)
    z = r * r
    return turn(n + 1.0, r + r * z * polynomial(z, SIN), 1.0 - (0.5 * z - z * z * polynomial(z, COS)))


@inlined
def rsqrt_float64(x):
    return 1.0 / square_root(x)


# ------------------------------------------------------------------------------------------------ pow


@inlined
def two_sum(a, b):
    """a + b as a rounded sum and its error, for |a| >= |b|."""
    total = a + b
    return total, b - (total - a)


@inlined
def log_in_two_parts(x):
    """log x to about 2**-66, as a sum of two floats: pow multiplies it by up to 2**10, and the error with it."""
    denormal = x < SMALLEST_NORMAL
    scaled = x * select(denormal, SCALE_UP, 1.0)
    e = exponent_of(scaled) - select(denormal, SCALE_UP_EXPONENT, 0.0)
    f = mantissa_of(scaled) - 1.0
    d = 2.0 + f
    d_low = f - (d - 2.0)
    s = f / d
    s_low = (fused_multiply_add(-s, d, f) - s * d_low) / d
    z = s * s
    z_low = fused_multiply_add(s, s, -z) + 2.0 * s * s_low
    # 2/3 s**3 in two parts; the higher terms are small enough for one.
    cube = s * z
    cube_low = fused_multiply_add(s, z, -cube) + s * z_low + s_low * z
    third = 0.6666666666666666 * cube
    third_low = (
        fused_multiply_add(0.6666666666666666, cube, -third)
        + 0.6666666666666666 * cube_low
        + 3.700743415417188e-17 * cube
    )
    tail = cube * z * polynomial(z, LOG_TAIL)
    high, low = two_sum(2.0 * s, third)
    low = low + (2.0 * s_low + third_low + tail)
    total, total_low = two_sum(e * LN2_HIGH, high)
    unscaled = e == 0.0
    total, total_low = select(unscaled, high, total), select(unscaled, 0.0, total_low)
    return two_sum(total, total_low + (low + e * LN2_LOW))


@inlined
def pow_float64(x, y):
    """|x|**y = e**(y log |x|); then the sign, and the cases that C's pow defines."""
    a = absolute(x)
    log_high, log_low = log_in_two_parts(select((a == 0.0) | (a == INF), 1.0, a))
    product = y * log_high
    rest = fused_multiply_add(y, log_high, -product) + y * log_low
    bounded = select(product > 710.0, 710.0, select(product < -746.0, -746.0, product))
    rest = select(bounded == product, rest, 0.0)
    n = round_half_even(bounded * LOG2_E)
    r = fused_multiply_add(-n, LN2_LOW, fused_multiply_add(-n, LN2_HIGH, bounded))
    r = r + rest
    half = floor(n * 0.5)
    power = (1.0 + (r + r * r * polynomial(r, EXP))) * two_to_the(half) * two_to_the(n - half)
    return finish_pow(x, y, a, power, np.float64(1))  # not Python's 1.0, which can't be divided by zero


@inlined
def finish_pow(x, y, a, power, one):
    """What the logarithm can't say: zeros, infinities, negative bases, and that 1**NaN and NaN**0 are 1.

    `one` is 1 in the type of the others, from which the constants of that type are made.
    """
    zero = one - one
    infinity = one / zero
    nan = infinity - infinity
    vanishing = (a == zero) == (y > zero)  # 0**positive and inf**negative
    power = select((a == zero) | (a == infinity), select(vanishing, zero, infinity), power)
    power = select((absolute(y) == infinity) & (a != one), select((a < one) == (y < zero), infinity, zero), power)
    half = y * (one / (one + one))
    whole = floor(y) == y
    odd = whole & (floor(half) != half)
    power = select(odd, copy_sign(power, x), power)
    power = select((x < zero) & (x != -infinity) & (absolute(y) != infinity) & ~whole, nan, power)
    power = select((a == one) & (absolute(y) == infinity), one, power)
    power = select((x != x) | (y != y), nan, power)
    return select((y == zero) | (x == one), one, power)
