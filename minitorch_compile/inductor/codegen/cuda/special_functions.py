"""Special functions on the GPU: NVIDIA's libdevice has most of them, in float64. At infinity PyTorch's Bessel functions
are NaN, where libdevice's are 0.

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def series(x):
...     x[simulated.threadIdx.x] = digamma(x[simulated.threadIdx.x])
>>> x = np.array([1.0, 0.5, -1.5, 20.0])
>>> run = simulate(series)[1, 4](x)
>>> np.round(x, 12).tolist()
[-0.577215664902, -1.963510026021, 0.703156640645, 2.970523992242]
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda
from numba.cuda import libdevice

from minitorch_compile.inductor.codegen.cuda.device_functions import of_float64, of_one, of_two, trunc

LARGE = 10.0  # from here on, six terms of digamma's series give all digits of a float64


def nan_at_infinity(function):
    """One of libdevice's Bessel functions, as PyTorch has it."""

    @cuda.jit(device=True)
    def call(x):
        return math.nan if math.isinf(x) else function(np.float64(x))

    return call


erfc, lgamma = map(of_one, (math.erfc, math.lgamma))
erfcx, erf_inv, ndtri = map(of_float64, (libdevice.erfcx, libdevice.erfinv, libdevice.normcdfinv))
bessel_j0, bessel_j1 = map(nan_at_infinity, (libdevice.j0, libdevice.j1))
bessel_y0, bessel_y1 = map(nan_at_infinity, (libdevice.y0, libdevice.y1))
# The bits of floats as integers, which is what the device compares and swaps; and back.
bits_of_float32, bits_of_float64 = map(of_one, (libdevice.float_as_int, libdevice.double_as_longlong))
float32_of_bits, float64_of_bits = map(of_one, (libdevice.int_as_float, libdevice.longlong_as_double))
next_float32, next_float64 = map(of_two, (libdevice.nextafterf, libdevice.nextafter))


@cuda.jit(device=True)
def digamma(x):
    """The slope of lgamma: mirrored to positive numbers, moved up by steps of one, then the series for large ones."""
    number = np.float64(x)
    if number == 0.0:
        return math.copysign(math.inf, -number)
    result = 0.0
    if number < 0.0:
        fraction = number - trunc(number)
        if fraction == 0.0 or math.isinf(number):
            return math.nan
        result = -math.pi / math.tan(math.pi * fraction)
        number = 1.0 - number
    while number < LARGE:
        result -= 1.0 / number
        number += 1.0
    s = 1.0 / (number * number)
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760))))))
    return result + math.log(number) - 0.5 / number - tail
