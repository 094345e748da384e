"""atan2, which looks at both of its arguments: a quotient of at most 1, a polynomial, then the octant.

With t = min(|x|, |y|) / max(|x|, |y|), atan t is a polynomial up to tan(pi/8), and pi/4 + atan((t - 1) / (t + 1))
beyond. What is left of pi/4, pi/2 and pi after rounding is added as well.

>>> math.isclose(atan2_float64(1.0, -1.0), 3 * math.pi / 4), atan2_float64(-0.0, -1.0) == -math.pi
(True, True)
"""

from __future__ import annotations

import math

from minitorch_compile.inductor.kernels.vecmath import float32, float64
from minitorch_compile.inductor.kernels.vecmath.float32 import F
from minitorch_compile.inductor.kernels.vecmath.float64 import inlined
from minitorch_compile.inductor.runtime.native import absolute, copy_sign, polynomial, select

INF, INF32 = math.inf, F(math.inf)
TAN_EIGHTH, TAN_EIGHTH32 = 0.41421356237309503, F(0.41421357)
PI, HALF_PI, QUARTER_PI = math.pi, math.pi / 2, math.pi / 4
PI_REST, HALF_PI_REST, QUARTER_PI_REST = 1.2246467991473532e-16, 6.123233995736766e-17, 3.061616997868383e-17
PI32, HALF_PI32, QUARTER_PI32 = F(PI), F(HALF_PI), F(QUARTER_PI)
PI_REST32, HALF_PI_REST32, QUARTER_PI_REST32 = F(-8.742278e-08), F(-4.371139e-08), F(-2.1855695e-08)
ATAN, ATAN32 = float64.ATAN, float32.ATAN


@inlined
def atan2_float64(y, x):
    """The angle of the point (x, y), between -pi and pi; the signs of zeros count."""
    a, b = absolute(x), absolute(y)
    steep = b > a
    small, large = select(steep, a, b), select(steep, b, a)
    t = select(small == INF, 1.0, select(large == 0.0, 0.0, small / large))
    beyond = t > TAN_EIGHTH
    u = select(beyond, (t - 1.0) / (t + 1.0), t)
    z = u * u
    angle = u + (u * z * polynomial(z, ATAN) + select(beyond, QUARTER_PI_REST, 0.0))
    angle = select(beyond, QUARTER_PI + angle, angle)
    angle = select(steep, HALF_PI - (angle - HALF_PI_REST), angle)
    angle = select(copy_sign(1.0, x) < 0.0, PI - (angle - PI_REST), angle)
    return select((x != x) | (y != y), x + y, copy_sign(angle, y))


@inlined
def atan2_float32(y, x):
    a, b = absolute(x), absolute(y)
    steep = b > a
    small, large = select(steep, a, b), select(steep, b, a)
    t = select(small == INF32, F(1), select(large == F(0), F(0), small / large))
    beyond = t > TAN_EIGHTH32
    u = select(beyond, (t - F(1)) / (t + F(1)), t)
    z = u * u
    angle = u + (u * z * polynomial(z, ATAN32) + select(beyond, QUARTER_PI_REST32, F(0)))
    angle = select(beyond, QUARTER_PI32 + angle, angle)
    angle = select(steep, HALF_PI32 - (angle - HALF_PI_REST32), angle)
    angle = select(copy_sign(F(1), x) < F(0), PI32 - (angle - PI_REST32), angle)
    return select((x != x) | (y != y), x + y, copy_sign(angle, y))
