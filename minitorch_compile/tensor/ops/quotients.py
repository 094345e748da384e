"""Quotients, remainders and powers of NumPy arrays, with PyTorch's rounding and without NumPy's slow paths.

NumPy's floor_divide and remainder take floats one by one (60 ns each); here they are a handful of vectorised steps
around `fmod`, which is exact. Powers with a small integer exponent are products.

>>> import numpy as np
>>> x = np.array([-7.0, 7.0])
>>> floored(x, 2.0), remainder(x, 2.0), truncated(np.array([-7, 7]), 2), power(x, 3)
(array([-4.,  3.]), array([1., 1.]), array([-3,  3]), array([-343.,  343.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.op import Array, Scalar

Operand = Array | Scalar


def check_division(name: str, dividend: Operand, divisor: Operand) -> None:
    """RuntimeError for bools, and for integers divided by zero."""
    kind = np.result_type(dividend, divisor).kind
    if kind == "b":
        raise RuntimeError(f'{name}: "{name}" is implemented for numbers, got bool tensors; call .int() first')
    if kind in "iu" and not np.all(divisor) and np.broadcast(dividend, divisor).size:
        raise RuntimeError(f"{name}: ZeroDivisionError: an integer was divided by zero")


def truncated(dividend: Operand, divisor: Operand) -> Any:
    """The quotient rounded toward 0."""
    if np.result_type(dividend, divisor).kind == "f":
        return np.trunc(np.divide(dividend, divisor))
    quotient = np.floor_divide(dividend, divisor)
    return quotient + ((quotient < 0) & (quotient * divisor != dividend))


def floored(dividend: Operand, divisor: Operand) -> Any:
    """The quotient rounded down: exactly, also where the quotient of floats would be rounded up to an integer."""
    if np.result_type(dividend, divisor).kind != "f":
        return np.floor_divide(dividend, divisor)
    rest = np.fmod(dividend, divisor)
    exact = np.divide(dividend, divisor)
    quotient = np.rint((dividend - rest) / divisor - _differ_in_sign(rest, divisor))
    quotient = np.where(quotient == 0, np.copysign(quotient, exact), quotient)
    return np.where(np.equal(divisor, 0), exact, quotient)


def remainder(dividend: Operand, divisor: Operand) -> Any:
    """What `floored` leaves: has the sign of the divisor."""
    if np.result_type(dividend, divisor).kind != "f":
        return np.remainder(dividend, divisor)
    rest = np.fmod(dividend, divisor)
    return np.where(_differ_in_sign(rest, divisor), rest + divisor, rest)


def _differ_in_sign(rest: Any, divisor: Operand) -> Any:
    """Where truncation left a rest on the other side of 0 than the divisor is."""
    return (rest != 0) & ((rest < 0) != np.less(divisor, 0))


def power(base: Operand, exponent: Operand) -> Any:
    """base to the power of exponent. RuntimeError for integers to a negative number's power, and for bool arrays."""
    kind = np.result_type(base, exponent).kind
    if kind == "b":
        if isinstance(exponent, np.ndarray) or not isinstance(base, np.ndarray):
            raise NotImplementedError('pow: "pow" is implemented for numbers, got bool tensors; call .int() first')
        return base if exponent else np.ones_like(base)
    if kind == "i" and np.any(np.less(exponent, 0)):
        if not isinstance(exponent, np.ndarray):
            raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
        return np.where(exponent < 0, _inverse_power(base, exponent), np.power(base, np.maximum(exponent, 0)))
    if isinstance(base, np.ndarray) and not isinstance(exponent, np.ndarray) and exponent in (3, 4):
        square = base * base
        return square * (base if exponent == 3 else square)
    return np.power(base, exponent)


def _inverse_power(base: Operand, exponent: Array) -> Any:
    """1 and -1 are their own inverses; the inverse of any other integer is nearer to 0 than 1 is."""
    return np.where(np.equal(base, -1), 1 - 2 * (exponent & 1), np.equal(base, 1))
