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

from minitorch_compile.inductor.codegen.cuda.device_functions import trunc

LARGE = 10.0  # from here on, six terms of digamma's series give all digits of a float64


@cuda.jit(device=True)
def erfc(x):
    return math.erfc(x)


@cuda.jit(device=True)
def lgamma(x):
    return math.lgamma(x)


@cuda.jit(device=True)
def erfcx(x):
    return libdevice.erfcx(np.float64(x))


@cuda.jit(device=True)
def erf_inv(x):
    return libdevice.erfinv(np.float64(x))


@cuda.jit(device=True)
def ndtri(x):
    return libdevice.normcdfinv(np.float64(x))


@cuda.jit(device=True)
def bessel_j0(x):
    return math.nan if math.isinf(x) else libdevice.j0(np.float64(x))


@cuda.jit(device=True)
def bessel_j1(x):
    return math.nan if math.isinf(x) else libdevice.j1(np.float64(x))


@cuda.jit(device=True)
def bessel_y0(x):
    return math.nan if math.isinf(x) else libdevice.y0(np.float64(x))


@cuda.jit(device=True)
def bessel_y1(x):
    return math.nan if math.isinf(x) else libdevice.y1(np.float64(x))


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
