"""What a division leaves, exactly: x - q y in one rounding, which is none, since the result has few enough bits.

The quotient q is the whole part of x / y. Rounding can make it one too large, never more, as long as it is below
2**52; for larger ones (`far_quotient`) the C library's slow loop is asked instead, see `fast_path`.

>>> fmod_float64(-7.5, 2.0), remainder_float64(-7.5, 2.0), fmod_float64(1.0, math.inf)
(-1.5, 0.5, 1.0)
"""

from __future__ import annotations

import math

import numpy as np

from minitorch_compile.inductor.kernels.vecmath.float64 import inlined
from minitorch_compile.inductor.runtime.native import absolute, copy_sign, fused_multiply_add, select, trunc

F, D = np.float32, np.float64
INF = math.inf
LARGEST_QUOTIENT = 2.0**52


@inlined
def fmod_float64(x, y):
    """x - y * trunc(x / y), with the sign of x."""
    rest = fused_multiply_add(-trunc(x / y), y, x)
    passed = ((rest < 0.0) != (x < 0.0)) & (rest != 0.0)  # the quotient was rounded up
    rest = select(passed, rest + copy_sign(y, x), rest)
    rest = select((absolute(y) == INF) & (absolute(x) < INF), x, rest)
    return copy_sign(rest, x)


@inlined
def remainder_float64(x, y):
    """x - y * floor(x / y), with the sign of y."""
    rest = fmod_float64(x, y)
    shifted = select((rest < 0.0) != (y < 0.0), rest + y, rest)
    return select(rest == 0.0, copy_sign(rest, y), shifted)


@inlined
def far_quotient_float64(x, y):
    """Whether the quotient is too large for fmod and remainder to be right."""
    return (absolute(x / y) > LARGEST_QUOTIENT) & (absolute(x) < INF) & (y != 0.0)


@inlined
def fmod_float32(x, y):
    return F(fmod_float64(D(x), D(y)))


@inlined
def remainder_float32(x, y):
    """The shift is rounded once, to float32, as C's would be."""
    rest = fmod_float64(D(x), D(y))
    shifted = select((rest < 0.0) != (D(y) < 0.0), rest + D(y), rest)
    return F(select(rest == 0.0, copy_sign(rest, D(y)), shifted))


@inlined
def far_quotient_float32(x, y):
    return far_quotient_float64(D(x), D(y))
