"""Elementwise ops. The rules see tensors of one dtype and equal sizes: `elementwise` takes care of the rest.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.sigmoid, empty_fake((2,))).compact())
x -> reciprocal(add(full((2,), 1.0, torch.float32), exp(neg(x))))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import as_mask, copied, elementwise, number_like, operands
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_
from minitorch_compile.tensor.numerics.error_function import ONE_OVER_SQRT_2PI, SQRT_HALF
from minitorch_compile.tensor.ops.pointwise import SQRT_2_OVER_PI
from minitorch_compile.tensor.tensor_base import TensorBase

# Ops that are a prim once broadcasting, promotion and numbers are out of the way.
SAME = """
    atan2 bitwise_and bitwise_not bitwise_or bitwise_xor cos eq erf exp expm1 fmod ge gt le log log1p lt maximum
    minimum ne neg reciprocal remainder rsqrt sin sqrt tanh where
"""
for _name in SAME.split():
    elementwise(ops.table[_name])(prims.table[_name])  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------- arithmetic


@elementwise(ops.add)
def _(a: Tensor, b: Tensor, alpha: float) -> Tensor:
    """a + alpha * b; "or" for bool tensors."""
    if a.dtype is bool_:
        return prims.bitwise_or(a, b) if alpha else copied(a)
    return prims.add(a, _times(alpha, b))


@elementwise(ops.sub)
def _(a: Tensor, b: Tensor, alpha: float) -> Tensor:
    """a - alpha * b."""
    return prims.sub(a, _times(alpha, b))


def _times(alpha: float, x: Tensor) -> Tensor:
    return x if alpha == 1 else prims.mul(x, number_like(x, alpha))


@elementwise(ops.mul)
def _(a: Tensor, b: Tensor) -> Tensor:
    """a * b; "and" for bool tensors."""
    return prims.bitwise_and(a, b) if a.dtype is bool_ else prims.mul(a, b)


@elementwise(ops.square)
def _(x: Tensor) -> Tensor:
    """x * x."""
    return ops.mul(x, x)


@elementwise(ops.floor_divide)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The quotient rounded down: exactly, also where a / b would round up to the next integer."""
    return _floor_divide_floats(a, b) if a.dtype.category == FLOATING else floor_divide_integers(a, b)


@elementwise(ops.div)
def _(a: Tensor, b: Tensor, rounding_mode: str | None) -> Tensor:
    """The quotient, rounded down or toward 0 if asked."""
    if rounding_mode == "floor":
        return ops.floor_divide(a, b)
    quotient = prims.div(a, b)  # of integers: truncated already
    return prims.trunc(quotient) if rounding_mode == "trunc" and a.dtype.category == FLOATING else quotient


def floor_divide_integers(a: Tensor, b: Tensor) -> Tensor:
    """The quotient rounded down, of divisors that are not 0."""
    return prims.sub(prims.div(a, b), prims.convert_element_type(_rounds_up(prims.fmod(a, b), b), a.dtype))


def _floor_divide_floats(a: Tensor, b: Tensor) -> Tensor:
    """The remainder is taken off first, so that the quotient is an integer up to rounding (as Python's // does)."""
    zero, rest = number_like(a, 0.0), prims.fmod(a, b)
    toward_zero = prims.div(prims.sub(a, rest), b)
    quotient = prims.sub(toward_zero, prims.convert_element_type(_rounds_up(rest, b), a.dtype))
    signed_zero = prims.mul(prims.div(a, b), zero)
    whole = prims.where(prims.eq(quotient, zero), signed_zero, prims.round(quotient))
    return prims.where(prims.eq(b, zero), prims.div(a, b), whole)


def _rounds_up(rest: Tensor, divisor: Tensor) -> Tensor:
    """Where rounding a quotient toward zero, which leaves `rest`, rounds it up: it is negative and not whole."""
    zero = number_like(rest, 0)
    signs_differ = prims.ne(prims.lt(rest, zero), prims.lt(divisor, zero))
    return prims.bitwise_and(prims.ne(rest, zero), signs_differ)


SMALL_POWERS = (-1, 0, 1, 2, 3, 4)  # as products these are faster than pow, and as exact


@decomposes(ops.pow)
def _(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """input ** exponent; small integer exponents become products, and 1/2 the square root."""
    base, power = operands(ops.pow, (input, exponent))
    if type(exponent) is float and exponent == 0.5:
        return prims.sqrt(base)
    if (
        type(exponent) in (int, float)
        and exponent in SMALL_POWERS
        and (exponent >= 0 or base.dtype.category == FLOATING)
    ):
        return _small_power(base, int(exponent))
    if base.dtype is bool_:
        return copied(base) if exponent else number_like(base, 1)
    if isinstance(exponent, TensorBase) and base.dtype.category < FLOATING and base.dtype.is_signed:
        return _integer_power(base, power)
    return prims.pow(base, power)


def _integer_power(base: Tensor, power: Tensor) -> Tensor:
    """Integers to negative powers are 0, unless they are 1 or -1."""
    zero, one = number_like(base, 0), number_like(base, 1)
    is_one, is_minus_one = prims.eq(base, one), prims.eq(base, number_like(base, -1))
    odd = prims.bitwise_and(power, one)
    alternating = prims.sub(one, prims.add(odd, odd))
    inverse = prims.where(is_minus_one, alternating, prims.where(is_one, one, zero))
    return prims.where(prims.lt(power, zero), inverse, prims.pow(base, prims.maximum(power, zero)))


def _small_power(x: Tensor, n: int) -> Tensor:
    if n == -1:
        return prims.reciprocal(x)
    if n < 2:
        return copied(x) if n else number_like(x, 1)
    square = prims.mul(x, x)
    return {2: lambda: square, 3: lambda: prims.mul(square, x), 4: lambda: prims.mul(square, square)}[n]()


@elementwise(ops.abs)
def _(x: Tensor) -> Tensor:
    """The magnitude; a bool is its own."""
    return copied(x) if x.dtype is bool_ else prims.abs(x)


@elementwise(ops.sign)
def _(x: Tensor) -> Tensor:
    """(x > 0) - (x < 0), so 0 for NaN; a bool is its own."""
    if x.dtype is bool_:
        return copied(x)
    above, below = prims.gt(x, number_like(x, 0)), prims.lt(x, number_like(x, 0))
    return prims.sub(prims.convert_element_type(above, x.dtype), prims.convert_element_type(below, x.dtype))


@elementwise(ops.clamp)
def _(x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    """minimum(maximum(x, low), high)."""
    at_least = x if low is None else prims.maximum(x, low)
    return at_least if high is None else prims.minimum(at_least, high)


def _rounding(op: Any, prim: Any) -> None:
    elementwise(op)(lambda x: prim(x) if x.dtype.category == FLOATING else copied(x))


_rounding(ops.floor, prims.floor)
_rounding(ops.ceil, prims.ceil)
_rounding(ops.trunc, prims.trunc)


@elementwise(ops.round)
def _(x: Tensor, decimals: int) -> Tensor:
    """The nearest integer, of x scaled by a power of ten and back."""
    if x.dtype.category != FLOATING:
        return copied(x)
    if decimals == 0:
        return prims.round(x)
    ten = number_like(x, 10.0 ** abs(decimals))
    there, back = (prims.mul, prims.div) if decimals > 0 else (prims.div, prims.mul)
    return back(prims.round(there(x, ten)), ten)


# ---------------------------------------------------------------------------------------------- activations


@elementwise(ops.relu)
def _(x: Tensor) -> Tensor:
    """max(x, 0)."""
    return prims.maximum(x, number_like(x, 0))


@elementwise(ops.sigmoid)
def _(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)): where exp overflows, the result is 0, as it should be."""
    return prims.reciprocal(prims.add(number_like(x, 1), prims.exp(prims.neg(x))))


@elementwise(ops.silu)
def _(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    return prims.mul(x, ops.sigmoid(x))


@elementwise(ops.gelu)
def _(x: Tensor, approximate: str) -> Tensor:
    """0.5 x (1 + erf(x / sqrt 2)), or with tanh of a cubic in place of erf."""
    if approximate == "tanh":
        cube = prims.mul(prims.mul(x, x), x)
        inner = prims.mul(number_like(x, SQRT_2_OVER_PI), prims.add(x, prims.mul(number_like(x, 0.044715), cube)))
        curve = prims.tanh(inner)
    else:
        curve = prims.erf(prims.mul(x, number_like(x, SQRT_HALF)))
    return prims.mul(prims.mul(number_like(x, 0.5), x), prims.add(number_like(x, 1), curve))


@elementwise(ops.gelu_slope)
def _(x: Tensor) -> Tensor:
    """Phi(x) + x phi(x), with the normal distribution's integral and density."""
    integral = 0.5 * (1 + ops.erf(x * SQRT_HALF))
    return integral + x * ops.exp(-0.5 * x * x) * ONE_OVER_SQRT_2PI


# ---------------------------------------------------------------------------------------------- logic


@elementwise(ops.isnan)
def _(x: Tensor) -> Tensor:
    """x != x: only NaN is not equal to itself."""
    return prims.ne(x, x)


@elementwise(ops.logical_and)
def _(a: Tensor, b: Tensor) -> Tensor:
    """Both are not 0."""
    return prims.bitwise_and(as_mask(a), as_mask(b))


@elementwise(ops.logical_or)
def _(a: Tensor, b: Tensor) -> Tensor:
    """Either is not 0."""
    return prims.bitwise_or(as_mask(a), as_mask(b))


@elementwise(ops.logical_xor)
def _(a: Tensor, b: Tensor) -> Tensor:
    """Exactly one is not 0."""
    return prims.ne(as_mask(a), as_mask(b))


@elementwise(ops.logical_not)
def _(x: Tensor) -> Tensor:
    """x == 0."""
    return prims.bitwise_not(x) if x.dtype is bool_ else prims.eq(x, number_like(x, 0))
