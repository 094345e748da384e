"""Device functions that CUDA kernels call: elementwise functions, and the reduction of a block of threads.

They import under both CUDA packages for Numba, and run in `minitorch_compile.cuda_simulator`, too.

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def rounded(x):
...     x[simulated.threadIdx.x] = round_half_even(x[simulated.threadIdx.x])
>>> x = np.array([0.5, 1.5, -2.5, 1e300])
>>> run = simulate(rounded)[1, 4](x)
>>> x.tolist()
[0.0, 2.0, -2.0, 1e+300]
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from minitorch_compile.inductor.codegen.cuda.single_instructions import (  # noqa: F401  (kernels call them)
    ceil,
    floor,
    maximum,
    minimum,
    near_exp,
    near_quotient,
    near_reciprocal,
    near_root,
    round_half_even,
    trunc,
)
from minitorch_compile.inductor.kernels import portable_functions

NEARLY_STRAIGHT = np.float32(0.03)  # below which the third term of tanh's series is 1e-7 of it
TINY_DIVISOR, TINY_DIVISORS_SCALE = np.float32(2.0**-100), np.float32(2.0**64)


def of_one(function):
    """A device function that is a function of one number, as Numba or libdevice has it."""

    @cuda.jit(device=True)
    def call(x):
        return function(x)

    return call


def of_two(function):
    """Likewise, of two numbers."""

    @cuda.jit(device=True)
    def call(x, y):
        return function(x, y)

    return call


def of_float64(function):
    """Likewise, of one number that it wants as a float64."""

    @cuda.jit(device=True)
    def call(x):
        return function(np.float64(x))

    return call


exp, expm1, log, log1p, square_root = map(of_one, (math.exp, math.expm1, math.log, math.log1p, math.sqrt))
sin, cos, tanh, erf = map(of_one, (math.sin, math.cos, math.tanh, math.erf))
power, atan2, truncated_float_remainder = map(of_two, (math.pow, math.atan2, math.fmod))


@cuda.jit(device=True)
def select(condition, x, y):
    return x if condition else y


@cuda.jit(device=True)
def scale_of(divisor):
    """What a divisor is to be multiplied by, so that its reciprocal is a float32: more than 1 for tiny ones."""
    return TINY_DIVISORS_SCALE if abs(divisor) < TINY_DIVISOR else np.float32(1.0)


@cuda.jit(device=True)
def mended_quotient(x, scale, divisor, reciprocal):
    """x * scale / divisor, from the reciprocal of the divisor: the product with it, and what that leaves over."""
    number = x * scale
    quotient = number * reciprocal
    left = cuda.fma(-quotient, divisor, number)
    mended = cuda.fma(left, reciprocal, quotient)
    return mended if abs(mended) > 0 else quotient  # an infinite one leaves nothing over, nor has a sum -0.0's sign


@cuda.jit(device=True)
def near_tanh(x):
    """tanh for what is rounded to a float of two bytes; near 0, where 1 - 2 / (1 + exp(2 x)) loses its digits, by two
    terms of its series."""
    small = x - x * x * x * np.float32(1 / 3)
    large = np.float32(1) - np.float32(2) * near_reciprocal(np.float32(1) + near_exp(np.float32(2) * x))
    return small if abs(x) < NEARLY_STRAIGHT else large


@cuda.jit(device=True)
def near_erf(x):
    """erf for what is rounded to a float of two bytes, to 2**-20, and 2**-15 of itself. Its distance from 1 is
    exp(-|x| p(|x|)), so that it keeps its digits where that is small; p was fitted between 0 and 4, and stays positive
    beyond. Near 0 by two terms of erf's series."""
    size = abs(x)
    p = np.float32(6.6114303e-06) * size - np.float32(0.0002437504)
    p = p * size + np.float32(0.003178504)
    p = p * size - np.float32(0.022510473)
    p = p * size + np.float32(0.10458232)
    p = p * size + np.float32(0.63617396)
    p = p * size + np.float32(1.1284145)
    large = math.copysign(np.float32(1) - near_exp(-size * p), x)
    small = x * (np.float32(1.1283792) - np.float32(0.37612638) * x * x)
    return small if size < NEARLY_STRAIGHT else large


@cuda.jit(device=True)
def sign_bit(x):
    """Whether x is negative, -0.0 or a NaN whose sign is set."""
    return math.copysign(1.0, np.float64(x)) < 0.0


@cuda.jit(device=True)
def float_remainder(x, y):
    """x - y * floor(x / y), with the sign of y."""
    rest = math.fmod(x, y)
    if rest == 0:
        return math.copysign(rest, y)
    return rest + y if (rest < 0) != (y < 0) else rest


@cuda.jit(device=True)
def report(status, kind, value, size):
    """Says what is wrong with an index, unless another thread has said so of its own."""
    if cuda.atomic.cas(status, 0, 0, kind) == 0:
        status[1], status[2] = value, size


@cuda.jit(device=True)
def wrapped_index(value, size, status):
    """`value` as an index below `size`, counted from the end if negative; out of range: 0, and `status` says so."""
    place = value + size if value < 0 else value
    if place < 0 or place >= size:
        report(status, 1, value, size)
        return 0
    return place


@cuda.jit(device=True)
def checked_index(value, size, status):
    if value < 0 or value >= size:
        report(status, 2, value, size)
        return 0
    return value


# The functions that CPU kernels call, too.
for _name in (*portable_functions.FOR_FLOATS.values(), *portable_functions.FOR_INTEGERS.values()):
    globals()[_name] = cuda.jit(device=True)(vars(portable_functions)[_name].py_func)
