"""Device functions that CUDA kernels call: elementwise functions, and the reduction of a block of threads.

They import under both CUDA packages for Numba, and under Numba's simulator (`NUMBA_ENABLE_CUDASIM=1`), where a kernel
is run by Python threads. There NumPy's functions take the place of CUDA's, since Python's `math` raises where a GPU
returns inf.

>>> from numba import config
>>> SIMULATED == bool(config.ENABLE_CUDASIM)
True
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import config, cuda

from minitorch_compile.inductor.kernels import portable_functions

SIMULATED = bool(config.ENABLE_CUDASIM)
library: Any = np if SIMULATED else math

_exp, _expm1, _log, _log1p, _sqrt = library.exp, library.expm1, library.log, library.log1p, library.sqrt
_sin, _cos, _tanh, _fmod, _copysign = library.sin, library.cos, library.tanh, library.fmod, library.copysign
_atan2 = np.arctan2 if SIMULATED else math.atan2
# NumPy takes (-inf) ** 0.5 for a square root if both are scalars, C's pow doesn't; arrays behave.
_pow = (lambda x, y: np.power(np.array([x]), np.array([y]))[0]) if SIMULATED else math.pow

NO_FRACTION = 2.0**52  # from here on, a float64 is a whole number


@cuda.jit(device=True)
def exp(x):
    return _exp(x)


@cuda.jit(device=True)
def expm1(x):
    return _expm1(x)


@cuda.jit(device=True)
def log(x):
    return _log(x)


@cuda.jit(device=True)
def log1p(x):
    return _log1p(x)


@cuda.jit(device=True)
def square_root(x):
    return _sqrt(x)


@cuda.jit(device=True)
def sin(x):
    return _sin(x)


@cuda.jit(device=True)
def cos(x):
    return _cos(x)


@cuda.jit(device=True)
def tanh(x):
    return _tanh(x)


@cuda.jit(device=True)
def erf(x):
    return math.erf(x)


@cuda.jit(device=True)
def power(x, y):
    return _pow(x, y)


@cuda.jit(device=True)
def atan2(y, x):
    return _atan2(y, x)


@cuda.jit(device=True)
def maximum(x, y):
    """The larger one; NaN if either is NaN."""
    return x if x > y or x != x else y


@cuda.jit(device=True)
def minimum(x, y):
    return x if x < y or x != x else y


@cuda.jit(device=True)
def select(condition, x, y):
    return x if condition else y


@cuda.jit(device=True)
def sign_bit(x):
    """Whether x is negative, -0.0 or a NaN whose sign is set."""
    return _copysign(1.0, np.float64(x)) < 0.0


@cuda.jit(device=True)
def trunc(x):
    """x without its fraction, as a float64."""
    number = np.float64(x)
    return _copysign(np.float64(np.int64(number)), number) if abs(number) < NO_FRACTION else number


@cuda.jit(device=True)
def floor(x):
    down = trunc(x)
    return down - 1.0 if down > x else down


@cuda.jit(device=True)
def ceil(x):
    up = trunc(x)
    return _copysign(up + 1.0 if up < x else up, np.float64(x)) if abs(up) < NO_FRACTION else up


@cuda.jit(device=True)
def round_half_even(x):
    """The nearest whole number, halves to the even one: adding 1.5 * 2**52 leaves no room for a fraction."""
    number = np.float64(x)
    shift = 1.5 * NO_FRACTION
    return _copysign((number + shift) - shift, number) if abs(number) < NO_FRACTION / 2 else number


@cuda.jit(device=True)
def truncated_float_remainder(x, y):
    return _fmod(x, y)


@cuda.jit(device=True)
def float_remainder(x, y):
    """x - y * floor(x / y), with the sign of y."""
    rest = _fmod(x, y)
    if rest == 0:
        return _copysign(rest, y)
    return rest + y if (rest < 0) != (y < 0) else rest


@cuda.jit(device=True)
def wrapped_index(value, size, status):
    """`value` as an index below `size`, counted from the end if negative; out of range: 0, and `status` says so."""
    place = value + size if value < 0 else value
    if place < 0 or place >= size:
        status[0], status[1], status[2] = 1, value, size
        return 0
    return place


@cuda.jit(device=True)
def checked_index(value, size, status):
    if value < 0 or value >= size:
        status[0], status[1], status[2] = 2, value, size
        return 0
    return value


# The functions that CPU kernels call, too.
for _name in (*portable_functions.FOR_FLOATS.values(), *portable_functions.FOR_INTEGERS.values()):
    globals()[_name] = cuda.jit(device=True)(vars(portable_functions)[_name].py_func)
