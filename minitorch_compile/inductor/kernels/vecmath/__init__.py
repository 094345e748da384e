"""Elementary functions that vectorise: no branch, no table, no call, so LLVM turns a loop over them into vector code.

Numba without Intel's SVML calls the scalar C library for `exp` and its kin, ten times slower than NumPy. Each
function here is a few multiplications and additions, compiled into the kernel that uses it. `ULP_BOUNDS` states for
each how far from the exact result it may be, in units in the last place; the tests check it.

>>> from numba import njit
>>> import numpy as np
>>> @njit
... def run(x):
...     return np.array([exp_float32(value) for value in x])
>>> run(np.array([0, 1, -np.inf, np.inf, np.nan], np.float32))
array([1.       , 2.7182817, 0.       ,       inf,       nan], dtype=float32)
"""

from __future__ import annotations

from minitorch_compile.inductor.kernels.vecmath import float32, float64
from minitorch_compile.inductor.kernels.vecmath.angles import atan2_float32, atan2_float64
from minitorch_compile.inductor.kernels.vecmath.error_functions import erf_inv_float32, erfc_float32
from minitorch_compile.inductor.kernels.vecmath.float32 import (
    cos_float32,
    erf_float32,
    exact_cos_float32,
    exact_sin_float32,
    exp_float32,
    expm1_float32,
    far_angle_float32,
    log1p_float32,
    log_float32,
    pow_float32,
    rsqrt_float32,
    sigmoid_float32,
    sin_float32,
    tanh_float32,
)
from minitorch_compile.inductor.kernels.vecmath.float64 import (
    cos_float64,
    erf_float64,
    exact_cos_float64,
    exact_sin_float64,
    exp_float64,
    expm1_float64,
    far_angle_float64,
    log1p_float64,
    log_float64,
    pow_float64,
    rsqrt_float64,
    sigmoid_float64,
    sin_float64,
    tanh_float64,
)
from minitorch_compile.inductor.kernels.vecmath.remainders import (
    far_quotient_float32,
    far_quotient_float64,
    fmod_float32,
    fmod_float64,
    remainder_float32,
    remainder_float64,
)

# The error of each function, in units in the last place of its result. sin and cos: for |x| below LARGEST_ANGLE.
ULP_BOUNDS = {
    "exp_float32": 1.0, "expm1_float32": 1.5, "log_float32": 1.0, "log1p_float32": 1.5, "tanh_float32": 2.5,
    "sigmoid_float32": 2.5, "erf_float32": 1.5, "sin_float32": 1.5, "cos_float32": 1.5, "pow_float32": 0.6,
    "rsqrt_float32": 1.5, "atan2_float32": 2.5, "erfc_float32": 4.5, "erf_inv_float32": 3.5,
    "exp_float64": 1.0, "expm1_float64": 2.0, "log_float64": 1.0, "log1p_float64": 1.5, "tanh_float64": 3.0,
    "sigmoid_float64": 2.5, "erf_float64": 1.5, "sin_float64": 1.5, "cos_float64": 1.5, "pow_float64": 2.5,
    "rsqrt_float64": 1.5, "atan2_float64": 2.5,
}  # fmt: skip

# Beyond these, `far_angle` is true, and a kernel asks for a second look with `exact_sin` and `exact_cos`.
LARGEST_ANGLE = {"float32": float(float32.LARGEST_ANGLE), "float64": float64.LARGEST_ANGLE}
