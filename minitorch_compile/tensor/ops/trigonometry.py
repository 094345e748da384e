"""Angles: the circular and hyperbolic functions beside sin, cos and tanh, and their inverses.

>>> from minitorch_compile.tensor import tensor
>>> atan(tensor([0.0, 1.0])), rad2deg(tensor(3.141592653589793)), sinc(tensor([0.0, 0.5]))
(tensor([0.0000, 0.7854]), tensor(180.), tensor([1.0000, 0.6366]))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.declare import alias, composite, pointwise
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import INT_TO_FLOAT
from minitorch_compile.tensor.ops.pointwise import atan2, div, eq, mul, sin, where


@pointwise(INT_TO_FLOAT)
def tan(input: Array) -> Array:
    """The tangent of an angle in radians. Integers give the default dtype.

    >>> torch.tan(torch.tensor([0.0, 0.7854]))
    tensor([0.0000, 1.0000])
    """
    return np.tan(input)


@pointwise(INT_TO_FLOAT)
def asin(input: Array) -> Array:
    """The angle in [-pi/2, pi/2] with that sine; NaN outside [-1, 1]."""
    return np.arcsin(input)


@pointwise(INT_TO_FLOAT)
def acos(input: Array) -> Array:
    """The angle in [0, pi] with that cosine; NaN outside [-1, 1]."""
    return np.arccos(input)


@pointwise(INT_TO_FLOAT)
def atan(input: Array) -> Array:
    """The angle in (-pi/2, pi/2) with that tangent."""
    return np.arctan(input)


@pointwise(INT_TO_FLOAT)
def sinh(input: Array) -> Array:
    """(exp(x) - exp(-x)) / 2."""
    return np.sinh(input)


@pointwise(INT_TO_FLOAT)
def cosh(input: Array) -> Array:
    """(exp(x) + exp(-x)) / 2."""
    return np.cosh(input)


@pointwise(INT_TO_FLOAT)
def asinh(input: Array) -> Array:
    """The number with that hyperbolic sine."""
    return np.arcsinh(input)


@pointwise(INT_TO_FLOAT)
def acosh(input: Array) -> Array:
    """The non-negative number with that hyperbolic cosine; NaN below 1."""
    return np.arccosh(input)


@pointwise(INT_TO_FLOAT)
def atanh(input: Array) -> Array:
    """The number with that hyperbolic tangent; NaN outside [-1, 1]."""
    return np.arctanh(input)


@pointwise()
def hypot(input: Array, other: Array) -> Array:
    """The length sqrt(x^2 + y^2), without overflow on the way. RuntimeError for integers."""
    if np.result_type(input, other).kind != "f":
        raise NotImplementedError(f'hypot: "hypot" is implemented for floating-point tensors, got {input.dtype}')
    return np.hypot(input, other)


@composite(methods=True, inplace=True, inplace_function=True)
def sinc(input: Tensor) -> Any:
    """sin(pi x) / (pi x), and 1 at 0."""
    at_zero = eq(input, 0)
    angle = where(at_zero, 1.0, mul(input, math.pi))
    return where(at_zero, 1.0, div(sin(angle), angle))


@composite(methods=True, inplace=True, inplace_function=True)
def deg2rad(input: Tensor) -> Any:
    """Degrees to radians. NotImplementedError for complex numbers."""
    complex_support.refuse_complex("deg2rad", input.dtype)
    return mul(input, math.pi / 180)


@composite(methods=True, inplace=True, inplace_function=True)
def rad2deg(input: Tensor) -> Any:
    """Radians to degrees. NotImplementedError for complex numbers."""
    complex_support.refuse_complex("rad2deg", input.dtype)
    return mul(input, 180 / math.pi)


arcsin = alias("arcsin", asin)
arccos = alias("arccos", acos)
arctan = alias("arctan", atan)
arctan2 = alias("arctan2", atan2)
arcsinh = alias("arcsinh", asinh)
arccosh = alias("arccosh", acosh)
arctanh = alias("arctanh", atanh)
