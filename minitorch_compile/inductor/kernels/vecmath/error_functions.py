"""The error function's complement and inverse in float32, as vector code; in float64 they are calls of SciPy.

>>> from numba import njit
>>> @njit
... def there_and_back(x):
...     return erf_inv_float32(F(1) - erfc_float32(x))
>>> abs(there_and_back(F(0.5)) - 0.5) < 1e-6, there_and_back(F(-20))
(True, -inf)
"""

from __future__ import annotations

import math

import numpy as np

from minitorch_compile.inductor.kernels.vecmath.float32 import ERF_SMALL, exp_float32, float32s, log_float32
from minitorch_compile.inductor.kernels.vecmath.float64 import inlined
from minitorch_compile.inductor.runtime.native import (
    absolute,
    copy_sign,
    fused_multiply_add,
    polynomial,
    select,
    square_root,
)

F = np.float32
INF = F(math.inf)
LARGEST = F(10.25)  # from here on, erfc is less than half of the smallest float32

# erfc(x) exp(x**2) in t = (x - 3) / (x + 3), on 0 <= x <= 10.3
ERFC = float32s(
    0.179001153, -0.326233566, 0.2456038, -0.150115788, 0.0716658756, -0.0243942216, 0.00426881388, 0.000715649046,
    -0.000594489567, 2.90573425e-05, 5.59916152e-05,
)  # fmt: skip
# erf_inv(x) / x for w = -log(1 - x**2): in w - 2.5 up to w = 5, and in sqrt(w) - 3 beyond
ERF_INV_NEAR = float32s(
    1.50140941, 0.24664028, -0.00417738687, -0.0012527419, 0.000218344445, -4.9633436e-06, -3.46270576e-06,
    4.66169411e-07, 2.32327242e-08, -8.79095197e-09,
)  # fmt: skip
ERF_INV_FAR = float32s(
    2.83297682, 1.00167489, 0.009445237, -0.00763685117, 0.00568738068, -0.00359926722, 0.00148419163, -5.39165121e-05,
    -0.000309050462, 0.00011432555,
)  # fmt: skip


@inlined
def erfc_float32(x):
    """1 - erf up to 3/4, exp(-x**2) times a polynomial beyond; what rounding x**2 loses is put back."""
    size = absolute(x)
    bounded = select(size > LARGEST, LARGEST, size)
    square = bounded * bounded
    lost = fused_multiply_add(bounded, bounded, -square)
    power = exp_float32(-square)
    tail = (power - power * lost) * polynomial((bounded - F(3)) / (bounded + F(3)), ERFC)
    near = F(1) - (x + x * polynomial(x * x, ERF_SMALL))
    return select(size < F(0.75), near, select(x < F(0), F(2) - tail, tail))


@inlined
def erf_inv_float32(x):
    """x times a function of -log(1 - x**2), which grows evenly where erf_inv goes to infinity (M. Giles, 2010)."""
    w = -log_float32((F(1) - x) * (F(1) + x))
    far = polynomial(square_root(w) - F(3), ERF_INV_FAR)
    result = x * select(w < F(5), polynomial(w - F(2.5), ERF_INV_NEAR), far)
    return select(absolute(x) == F(1), copy_sign(INF, x), result)
