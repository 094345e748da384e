"""Functions of complex numbers on the GPU. They compute in float64, so that a complex64 result is rounded once.

Where a formula would meet infinity times zero, C99's Annex G says what is meant, which NumPy and PyTorch follow.

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def roots(x):
...     x[simulated.threadIdx.x] = square_root(x[simulated.threadIdx.x])
>>> x = np.array([-4.0, 2j, 3 - 4j, 0])
>>> run = simulate(roots)[1, 4](x)
>>> np.round(x, 12).tolist()
[2j, (1+1j), (2-1j), 0j]
"""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

MOST_STEPS = 100  # of products that a power with a whole exponent is made of: NumPy's


@cuda.jit(device=True)
def of_parts(x, y):
    return complex(np.float64(x), np.float64(y))


@cuda.jit(device=True)
def absolute(z):
    return math.hypot(np.float64(z.real), np.float64(z.imag))


@cuda.jit(device=True)
def product(a, b):
    x, y, u, v = np.float64(a.real), np.float64(a.imag), np.float64(b.real), np.float64(b.imag)
    return of_parts(x * u - y * v, x * v + y * u)


@cuda.jit(device=True)
def quotient(a, b):
    """By the ratio of the divisor's smaller part to its larger one, so that no square overflows (Smith 1962)."""
    x, y, u, v = np.float64(a.real), np.float64(a.imag), np.float64(b.real), np.float64(b.imag)
    if u == 0.0 and v == 0.0:
        return of_parts(x / abs(u), y / abs(v))
    if abs(u) >= abs(v):
        ratio = v / u
        scale = 1.0 / (u + v * ratio)
        return of_parts((x + y * ratio) * scale, (y - x * ratio) * scale)
    ratio = u / v
    scale = 1.0 / (v + u * ratio)
    return of_parts((x * ratio + y) * scale, (y * ratio - x) * scale)


@cuda.jit(device=True)
def reciprocal(z):
    return quotient(of_parts(1.0, 0.0), z)


@cuda.jit(device=True)
def exp(z):
    x, y = np.float64(z.real), np.float64(z.imag)
    if y == 0.0:
        return of_parts(math.exp(x), y)
    if math.isinf(x) and (math.isinf(y) or y != y):
        return of_parts(math.inf, math.nan) if x > 0.0 else of_parts(0.0, 0.0)
    size = math.exp(x)
    return of_parts(size * math.cos(y), size * math.sin(y))


@cuda.jit(device=True)
def expm1(z):
    """exp(z) - 1, where 1 - cos y is 2 sin(y / 2)^2."""
    x, y = np.float64(z.real), np.float64(z.imag)
    half = math.sin(y / 2.0)
    return of_parts(math.expm1(x) * math.cos(y) - 2.0 * half * half, math.exp(x) * math.sin(y))


@cuda.jit(device=True)
def log(z):
    """Near the unit circle, log1p of (|x| - 1) (|x| + 1) + y^2 keeps what the square root would round away."""
    x, y = abs(np.float64(z.real)), abs(np.float64(z.imag))
    large, small = max(x, y), min(x, y)
    size = math.hypot(x, y)
    if 0.5 < size < 2.0:
        length = 0.5 * math.log1p((large - 1.0) * (large + 1.0) + small * small)
    else:
        length = math.log(size)
    return of_parts(length, math.atan2(np.float64(z.imag), np.float64(z.real)))


@cuda.jit(device=True)
def log1p(z):
    return log(of_parts(np.float64(z.real) + 1.0, z.imag))


@cuda.jit(device=True)
def square_root(z):
    """The root in the right half-plane: what is larger of its parts is computed first, the other by dividing."""
    x, y = np.float64(z.real), np.float64(z.imag)
    if x == 0.0 and y == 0.0:
        return of_parts(0.0, y)
    if math.isinf(y):
        return of_parts(math.inf, y)
    if math.isinf(x) and y == y:
        return of_parts(x, math.copysign(0.0, y)) if x > 0.0 else of_parts(0.0, math.copysign(math.inf, y))
    scale = 0.25 if max(abs(x), abs(y)) > 1e300 else 1.0
    root = math.sqrt((abs(x) * scale + math.hypot(x * scale, y * scale)) / 2.0) / math.sqrt(scale)
    other = abs(y) / (2.0 * root)
    return of_parts(root, math.copysign(other, y)) if x >= 0.0 else of_parts(other, math.copysign(root, y))


@cuda.jit(device=True)
def reciprocal_root(z):
    return reciprocal(square_root(z))


@cuda.jit(device=True)
def sin(z):
    x, y = np.float64(z.real), np.float64(z.imag)
    if y == 0.0:
        return of_parts(math.sin(x), y)
    if x == 0.0:
        return of_parts(x, math.sinh(y))
    return of_parts(math.sin(x) * math.cosh(y), math.cos(x) * math.sinh(y))


@cuda.jit(device=True)
def cos(z):
    x, y = np.float64(z.real), np.float64(z.imag)
    if y == 0.0:
        return of_parts(math.cos(x), -x * y)
    if x == 0.0:
        return of_parts(math.cosh(y), -x * y)
    return of_parts(math.cos(x) * math.cosh(y), -math.sin(x) * math.sinh(y))


@cuda.jit(device=True)
def tanh(z):
    """Kahan's: from tan y and sinh x, neither of which cancels; beyond 22, tanh x is 1 in all its digits."""
    x, y = np.float64(z.real), np.float64(z.imag)
    if abs(x) > 22.0:
        if math.isinf(y) or y != y:
            return of_parts(math.copysign(1.0, x), 0.0)
        small = math.exp(-abs(x))
        return of_parts(math.copysign(1.0, x), 4.0 * math.sin(y) * math.cos(y) * small * small)
    tangent, sine = math.tan(y), math.sinh(x)
    beta, rho = 1.0 + tangent * tangent, math.sqrt(1.0 + sine * sine)
    below = 1.0 + beta * sine * sine
    return of_parts(beta * rho * sine / below, tangent / below)


@cuda.jit(device=True)
def power(a, b):
    """Products for small whole exponents, else exp(b log a)."""
    u, v = np.float64(b.real), np.float64(b.imag)
    if u == 0.0 and v == 0.0:
        return of_parts(1.0, 0.0)
    if a.real == 0.0 and a.imag == 0.0:
        return of_parts(0.0, 0.0) if u > 0.0 else of_parts(math.nan, math.nan)
    if v == 0.0 and abs(u) < MOST_STEPS and u == math.floor(u):
        left = np.int64(abs(u))
        result, square = of_parts(1.0, 0.0), of_parts(a.real, a.imag)
        while left > 0:
            if left % 2 == 1:
                result = product(result, square)
            square = product(square, square)
            left //= 2
        return reciprocal(result) if u < 0.0 else result
    return exp(product(b, log(a)))
