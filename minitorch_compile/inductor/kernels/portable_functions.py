"""Elementwise functions that are written once for all targets: Numba compiles the same text for CPUs and for GPUs.

A prim on elements for which a target has no operator and no quicker function of its own is spelled as a call of its
function here; so a new prim needs one function, and the targets are told nothing.

>>> truncated_quotient(-7, 2), integer_remainder(-7, 2), truncated_remainder(-7, 2), truncated_quotient(1, 0)
(-3, 1, -1, 0)
>>> FOR_INTEGERS["div"], [integer_power(3, n) for n in (4, 0, -1)]
('truncated_quotient', [81, 1, 0])

Functions of floats compute in the type that they get: a literal such as 2.0 would be a float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.inductor.kernels.vecmath.float64 import inlined

# For each prim: the name of its function.
FOR_FLOATS: dict[str, str] = {}
FOR_INTEGERS: dict[str, str] = {}


def computes(prim: str, names: dict[str, str]) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a function of elements, and enters it as the one of that prim; `names` is one of the tables above."""

    def enter(function: Callable[..., Any]) -> Any:
        names[prim] = function.__name__
        return inlined(function)

    return enter


@computes("div", FOR_INTEGERS)
def truncated_quotient(x, y):
    """x / y with the fraction dropped; 0 if y is 0."""
    if y == 0:
        return 0
    if y == -1:
        return -x
    down = x // y
    return down + 1 if down < 0 and down * y != x else down


@computes("remainder", FOR_INTEGERS)
def integer_remainder(x, y):
    """x % y with the sign of y; 0 if y is 0."""
    return 0 if y == 0 or y == -1 else x % y


@computes("fmod", FOR_INTEGERS)
def truncated_remainder(x, y):
    """What truncated_quotient leaves, with the sign of x; 0 if y is 0."""
    if y == 0 or y == -1:
        return 0
    rest = x % y
    return rest - y if rest != 0 and (rest < 0) != (x < 0) else rest


@computes("gcd", FOR_INTEGERS)
def greatest_common_divisor(x, y):
    """The largest number that divides both, by Euclid's algorithm; not negative."""
    while y != 0:
        rest = x % y
        x = y
        y = rest
    return abs(x)


@computes("pow", FOR_INTEGERS)
def integer_power(x, y):
    """x multiplied y times, by repeated squaring; 0 for a negative y (prims.pow refuses those)."""
    result = 1 if y >= 0 else 0
    while y > 0:
        if y & 1:
            result *= x
        x *= x
        y >>= 1
    return result
