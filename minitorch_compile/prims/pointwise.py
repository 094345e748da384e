"""Prims that work element by element.

>>> from minitorch_compile.tensor import tensor
>>> exp(tensor([0.0])), lt(tensor([1]), tensor([2])), convert_element_type(tensor([1.5]), bool_)
(tensor([1.]), tensor([True]), tensor([True]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from minitorch_compile.prims.prim import (
    ANALYTIC,
    ANY,
    BITS,
    FLOATS,
    IN_WORDS,
    NUMBERS,
    ORDERED,
    REALS,
    Kernel,
    Prim,
    check_dtype,
    check_like,
    check_tensor,
    describe,
    prim,
    refuse,
)
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.numerics.dtype import FLOATING, INTEGER, bool_, dtype
from minitorch_compile.tensor.numerics.element_conversion import in_range
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def unary(categories: Sequence[int], result: dtype | None = None) -> Callable[[Kernel], Prim]:
    """A prim of one tensor `x`; the result has its dtype unless one is given."""

    def rule(name: str, x: Any) -> TensorBase:
        check_tensor(name, "x", x, categories)
        return empty_fake(x.sizes, None, result or x.dtype)

    return prim("pointwise", rule, dtypes=_in_words(categories, result), sizes="those of x", result=result)


def binary(categories: Sequence[int], result: dtype | None = None) -> Callable[[Kernel], Prim]:
    """A prim of two tensors `a` and `b` of equal sizes and dtype; the result has that dtype too unless one is given."""

    def rule(name: str, a: Any, b: Any) -> TensorBase:
        check_tensor(name, "a", a, categories)
        check_like(name, "b", b, "a", a)
        return empty_fake(a.sizes, None, result or a.dtype)

    return prim("pointwise", rule, dtypes=_in_words(categories, result), sizes="those of a and b", result=result)


def _in_words(categories: Sequence[int], result: dtype | None) -> str:
    return IN_WORDS[tuple(categories)] + (f" -> {result.name}" if result else "")


# ------------------------------------------------------------------------------------------ one tensor


@unary(NUMBERS)
def neg(x: Array) -> Array:
    """-x."""
    return np.negative(x)


def _abs_rule(name: str, x: Any) -> TensorBase:
    check_tensor(name, "x", x, NUMBERS)
    return empty_fake(x.sizes, None, x.dtype.to_real())


@prim("pointwise", _abs_rule, dtypes="integers, floats, complex -> floats", sizes="those of x")
def abs(x: Array) -> Array:
    """The magnitude. That of a complex number is real."""
    return np.abs(x)


@unary(ANALYTIC)
def exp(x: Array) -> Array:
    """e to the power of x."""
    return np.exp(x)


@unary(ANALYTIC)
def expm1(x: Array) -> Array:
    """exp(x) - 1, exact near 0."""
    return np.expm1(x)


@unary(ANALYTIC)
def log(x: Array) -> Array:
    """The natural logarithm; -inf at 0, NaN below."""
    return np.log(x)


@unary(ANALYTIC)
def log1p(x: Array) -> Array:
    """log(1 + x), exact near 0."""
    return np.log1p(x)


@unary(ANALYTIC)
def sqrt(x: Array) -> Array:
    """The square root; NaN below 0."""
    return np.sqrt(x)


@unary(ANALYTIC)
def rsqrt(x: Array) -> Array:
    """1 / sqrt(x)."""
    return np.reciprocal(np.sqrt(x))


@unary(ANALYTIC)
def reciprocal(x: Array) -> Array:
    """1 / x."""
    return np.reciprocal(x)


@unary(ANALYTIC)
def sin(x: Array) -> Array:
    """The sine of an angle in radians."""
    return np.sin(x)


@unary(ANALYTIC)
def cos(x: Array) -> Array:
    """The cosine of an angle in radians."""
    return np.cos(x)


@unary(ANALYTIC)
def tanh(x: Array) -> Array:
    """The hyperbolic tangent."""
    return np.tanh(x)


@unary(FLOATS)
def erf(x: Array) -> Array:
    """The error function."""
    return scipy.special.erf(x).astype(x.dtype, copy=False)


@unary(FLOATS)
def floor(x: Array) -> Array:
    """The largest integer not above."""
    return np.floor(x)


@unary(FLOATS)
def ceil(x: Array) -> Array:
    """The smallest integer not below."""
    return np.ceil(x)


@unary(FLOATS)
def round(x: Array) -> Array:
    """The nearest integer; halves go to the even one."""
    return np.rint(x)


@unary(FLOATS)
def trunc(x: Array) -> Array:
    """The integer part."""
    return np.trunc(x)


@unary(FLOATS, bool_)
def signbit(x: Array) -> Array:
    """Whether the bit of the sign is set, as in -1, -0.0 and half of the NaNs: no comparison sees the latter two."""
    return np.signbit(x)


@unary(BITS)
def bitwise_not(x: Array) -> Array:
    """Every bit turned over; logical not for bool tensors."""
    return np.invert(x)


# ------------------------------------------------------------------------------------------ two tensors


@binary(NUMBERS)
def add(a: Array, b: Array) -> Array:
    """a + b."""
    return np.add(a, b)


@binary(NUMBERS)
def sub(a: Array, b: Array) -> Array:
    """a - b."""
    return np.subtract(a, b)


@binary(NUMBERS)
def mul(a: Array, b: Array) -> Array:
    """a * b."""
    return np.multiply(a, b)


@binary(NUMBERS)
def div(a: Array, b: Array) -> Array:
    """a / b; the quotient of integers is truncated, and undefined (here 0) if b is 0."""
    if a.dtype.kind in "fc":
        return np.divide(a, b)
    quotient = np.floor_divide(a, b)
    rounded_down = (quotient < 0) & (quotient * b != a)
    return (quotient + rounded_down).astype(a.dtype)


@binary(NUMBERS)
def pow(a: Array, b: Array) -> Array:
    """a to the power of b. RuntimeError for integers to a negative power."""
    if b.dtype.kind == "i" and np.any(b < 0):
        raise RuntimeError("prims.pow: expected b to be non-negative, since a is an integer tensor")
    return np.power(a, b)


@binary(REALS)
def remainder(a: Array, b: Array) -> Array:
    """a - b * floor(a / b): has the sign of b. Undefined (here 0) for integers if b is 0."""
    return np.remainder(a, b)


@binary(REALS)
def fmod(a: Array, b: Array) -> Array:
    """a - b * trunc(a / b): has the sign of a. Undefined (here 0) for integers if b is 0."""
    return np.fmod(a, b)


@binary(ORDERED)
def maximum(a: Array, b: Array) -> Array:
    """The larger one; NaN if either is."""
    return np.maximum(a, b)


@binary(ORDERED)
def minimum(a: Array, b: Array) -> Array:
    """The smaller one; NaN if either is."""
    return np.minimum(a, b)


@binary(FLOATS)
def atan2(a: Array, b: Array) -> Array:
    """The angle of the point (b, a), in (-pi, pi]."""
    return np.arctan2(a, b)


@binary(FLOATS)
def nextafter(a: Array, b: Array) -> Array:
    """The float that comes next after a in the direction of b."""
    return np.nextafter(a, b)


@binary((INTEGER,))
def gcd(a: Array, b: Array) -> Array:
    """The greatest common divisor, not negative; gcd(0, 0) is 0."""
    return np.gcd(a, b)


@binary(BITS)
def bitwise_and(a: Array, b: Array) -> Array:
    """Bits set in both; logical for bool tensors."""
    return np.bitwise_and(a, b)


@binary(BITS)
def bitwise_or(a: Array, b: Array) -> Array:
    """Bits set in either; logical for bool tensors."""
    return np.bitwise_or(a, b)


@binary(BITS)
def bitwise_xor(a: Array, b: Array) -> Array:
    """Bits set in exactly one; logical for bool tensors."""
    return np.bitwise_xor(a, b)


# ------------------------------------------------------------------------------------------ comparison and choice


@binary(ANY, bool_)
def eq(a: Array, b: Array) -> Array:
    """Where equal."""
    return np.equal(a, b)


@binary(ANY, bool_)
def ne(a: Array, b: Array) -> Array:
    """Where different."""
    return np.not_equal(a, b)


@binary(ORDERED, bool_)
def lt(a: Array, b: Array) -> Array:
    """Where a is less."""
    return np.less(a, b)


@binary(ORDERED, bool_)
def le(a: Array, b: Array) -> Array:
    """Where a is less or equal."""
    return np.less_equal(a, b)


@binary(ORDERED, bool_)
def gt(a: Array, b: Array) -> Array:
    """Where a is greater."""
    return np.greater(a, b)


@binary(ORDERED, bool_)
def ge(a: Array, b: Array) -> Array:
    """Where a is greater or equal."""
    return np.greater_equal(a, b)


def _where_rule(name: str, cond: Any, a: Any, b: Any) -> TensorBase:
    check_tensor(name, "a", a)
    check_like(name, "b", b, "a", a)
    check_tensor(name, "cond", cond)
    if cond.dtype is not bool_ or cond.sizes != a.sizes:
        raise refuse(name, "cond", f"a bool tensor of a's sizes {list(a.sizes)}", describe(cond))
    return empty_fake(a.sizes, None, a.dtype)


@prim("pointwise", _where_rule, dtypes="bool for cond, any", sizes="those of a, b and cond")
def where(cond: Array, a: Array, b: Array) -> Array:
    """a where the bool `cond` holds, else b."""
    return np.where(cond, a, b)


def _convert_rule(name: str, x: Any, dtype: Any) -> TensorBase:
    check_tensor(name, "x", x)
    check_dtype(name, "dtype", dtype)
    return empty_fake(x.sizes, None, dtype)


@prim("pointwise", _convert_rule, dtypes="any -> any", sizes="those of x")
def convert_element_type(x: Array, dtype: dtype) -> Array:
    """x in another dtype. Floats become integers by dropping the fraction, complex numbers floats by dropping the
    imaginary part; what isn't 0 becomes True."""
    drops_imaginary = x.dtype.kind == "c" and dtype.category in (INTEGER, FLOATING)
    return in_range(x.real if drops_imaginary else x, dtype.numpy).astype(dtype.numpy)
