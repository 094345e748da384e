"""Numbers as Numba computes with them on a device: the type of a result; what overflow, a zero divisor and NaN give.

A value is a NumPy scalar, the same for all threads of a block, or a vector with a number for each thread. Literals are
int64 and float64, whole numbers are computed in 64 bits, `float32` stays `float32` among its own.

>>> binary(ast.Add, np.int32(2**31 - 1), np.int32(1)), binary(ast.Mult, np.float32(3), np.float32(0.1)).dtype
(np.int64(2147483648), dtype('float32'))
>>> with np.errstate(all="ignore"):
...     print(binary(ast.FloorDiv, typed(7), typed(0)), binary(ast.Div, typed(1.0), typed(0.0)))
0 inf
>>> convert(np.array([300.7, np.nan, 1e30]), np.dtype("int32")).tolist(), convert(np.int64(300), np.dtype("uint8"))
([300, 0, 2147483647], np.uint8(44))
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

Value = Any  # a scalar or a vector of NumPy's, a tuple of values, an array of the device, or an object of Python's

BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)


def typed(value: Value) -> Value:
    """A number of Python's as one of NumPy's; everything else as it is."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value) if -(2**63) <= value < 2**63 else np.uint64(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, complex):
        return np.complex128(value)
    return value


def is_number(value: Value) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def dtype_of(name: Value) -> np.dtype[Any] | None:
    """The dtype that a NumPy type, a Numba type or its name means; None for anything else."""
    if isinstance(name, np.dtype):
        return name
    if isinstance(name, type):
        return np.dtype(name) if issubclass(name, np.generic) or name in (bool, int, float, complex) else None
    if isinstance(name, str) or hasattr(name, "cast_python_value"):  # a type of Numba's
        text = str(name)
        return np.dtype({"boolean": "bool", "byte": "uint8"}.get(text, text)) if hasattr(np, text) else None
    return None


def wide(value: Value) -> Value:
    """A whole number in 64 bits."""
    if value.dtype.kind in "ib" and value.dtype.itemsize < 8:
        return value.astype(np.int64)
    return value.astype(np.uint64) if value.dtype.kind == "u" and value.dtype.itemsize < 8 else value


def widened(left: Value, right: Value) -> tuple[Value, Value]:
    """Operands of integer arithmetic in 64 bits, with a sign if either has one; others as they are."""
    if left.dtype.kind not in "iub" or right.dtype.kind not in "iub":
        return left, right
    small_and_unsigned = [v.dtype.kind == "u" and v.dtype.itemsize < 8 for v in (left, right)]
    if small_and_unsigned[0] and right.dtype.kind != "u":
        left = left.astype(np.int64)
    if small_and_unsigned[1] and left.dtype.kind != "u":
        right = right.astype(np.int64)
    return wide(left), wide(right)


def power(left: Value, right: Value) -> Value:
    """C's pow: NumPy's scalars, and its operator, take a square root for 0.5, which differs at -inf."""
    result = np.power(np.atleast_1d(left), np.atleast_1d(right))
    return result if np.ndim(left) or np.ndim(right) else result[0]


def whole_power(value: Value, exponent: int) -> Value:
    """value ** 2 and its like: for an exponent that stands in the program, Numba multiplies, in the type of the value.

    >>> whole_power(np.float32(0.1), 2).dtype, whole_power(np.int32(-3), 3), whole_power(np.int64(2), -1)
    (dtype('float32'), np.int64(-27), np.float64(0.5))
    """
    result, square = None, wide(value)
    left = abs(exponent)
    while left:
        if left & 1:
            result = square if result is None else result * square
        square, left = square * square, left >> 1
    if result is None:
        return np.ones_like(wide(value))
    return result if exponent > 0 else 1 / result


BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide, ast.Mod: np.remainder, ast.Pow: power, ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or, ast.BitXor: np.bitwise_xor, ast.LShift: np.left_shift, ast.RShift: np.right_shift,
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: np.equal, ast.NotEq: np.not_equal, ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}  # fmt: skip


def binary(operator: type[ast.operator], left: Value, right: Value) -> Value:
    """left operator right."""
    if issubclass(operator, BITWISE) and left.dtype.kind == right.dtype.kind == "b":
        return BINARY[operator](left, right)
    left, right = widened(left, right)
    if issubclass(operator, BITWISE) and left.dtype != right.dtype:  # NumPy has no `uint64 & int64`
        left, right = left.astype(np.uint64), right.astype(np.uint64)
    return BINARY[operator](left, right)


def unary(operator: type[ast.unaryop], value: Value) -> Value:
    if issubclass(operator, ast.Not):
        return np.logical_not(truth(value))
    value = wide(value)
    if issubclass(operator, ast.USub):
        return np.negative(value)
    return np.invert(value) if issubclass(operator, ast.Invert) else value


def truth(value: Value) -> Value:
    """What `if` makes of a value."""
    if not is_number(value):
        return np.bool_(bool(value))
    return value if value.dtype.kind == "b" else value != 0


def convert(value: Value, dtype: np.dtype[Any]) -> Value:
    """The value in another type. A float that no integer of the type stands for gives the nearest one.

    NaN gives 0 in 32 bits, and in 64 bits the highest one alone: that is what an H100 does.
    """
    value = typed(value)
    if value.dtype.kind != "f" or dtype.kind not in "iu":
        return value.astype(dtype, copy=False) if isinstance(value, np.ndarray) else value.astype(dtype)
    if dtype.itemsize < 4:  # through a register of 32 bits
        return convert(convert(value, np.dtype(f"{dtype.kind}4")), dtype)
    limits = np.iinfo(dtype)
    above, below, nan = value >= float(limits.max), value <= float(limits.min), value != value
    whole = np.where(above | below | nan, 0, value).astype(dtype)
    result = np.where(above, limits.max, np.where(below, limits.min, whole)).astype(dtype)
    if dtype.itemsize == 8:
        result = np.where(nan, np.int64(-(2**63)).astype(dtype), result)
    return result if isinstance(value, np.ndarray) else result[()]


def of_parts(real: Value, imag: Value) -> Value:
    """`complex(real, imag)`: of two float32 a complex64."""
    narrow = real.dtype == imag.dtype == np.float32
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), np.complex64 if narrow else np.complex128)
    result.real, result.imag = real, imag
    return result[()]


def of_floats(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of floats that whole numbers come to as float64."""
    return lambda *values: function(*(v.astype(np.float64) if v.dtype.kind in "iub" else v for v in values))


def log_gamma(value: Value) -> Value:
    """C's lgamma: SciPy's, but for an infinite one at minus infinity."""
    return np.where(np.isinf(value), np.inf, special.gammaln(value)).astype(value.dtype)[()]


def smaller(left: Value, right: Value) -> Value:
    left, right = widened(left, right)
    return np.where(right < left, right, left)


def larger(left: Value, right: Value) -> Value:
    left, right = widened(left, right)
    return np.where(right > left, right, left)


def folded(combine: Callable[[Value, Value], Value]) -> Callable[..., Value]:
    """min and max of two or more."""

    def fold(*values: Value) -> Value:
        result = values[0]
        for value in values[1:]:
            result = combine(result, value)
        return result

    return fold


def rounded(value: Value, digits: Value = None) -> Value:
    """Python's `round`."""
    if digits is not None:
        return np.round(value, int(digits))
    return convert(np.rint(value), np.dtype(np.int64))


# What a kernel may call that is neither the device's nor its own. Any ufunc of NumPy's may be called besides.
FUNCTIONS: dict[Any, Callable[..., Value]] = {
    **{getattr(math, name): of_floats(getattr(np, name)) for name in (
        "exp", "expm1", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "fabs",
        "floor", "ceil", "trunc", "fmod", "copysign", "hypot", "degrees", "radians", "ldexp", "isnan", "isinf",
        "isfinite",
    )},
    **{getattr(math, name): of_floats(getattr(np, f"arc{name[1:]}")) for name in (
        "asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2",
    )},
    math.log: of_floats(np.log), math.pow: of_floats(power), math.erf: of_floats(special.erf),
    math.erfc: of_floats(special.erfc), math.gamma: of_floats(special.gamma), math.lgamma: of_floats(log_gamma),
    math.remainder: of_floats(lambda x, y: x - y * np.rint(x / y)), abs: lambda x: np.abs(wide(x)), round: rounded,
    min: folded(smaller), max: folded(larger), pow: lambda x, y: binary(ast.Pow, x, y),
}  # fmt: skip
