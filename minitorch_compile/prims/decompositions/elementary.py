"""The elementary functions beyond the first, written in exp, log, sqrt, sin, cos and the angle of a point.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.tan, empty_fake((2,))).compact())
x -> div(sin(x), cos(x))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.decompositions import complex_numbers
from minitorch_compile.prims.decompositions.pointwise import floor_divide_integers
from minitorch_compile.prims.elementwise import elementwise, number_like
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, int32

# ---------------------------------------------------------------------------------------------- angles


@elementwise(ops.tan)
def _(x: Tensor) -> Tensor:
    """sin / cos."""
    if x.dtype.is_complex:
        return complex_numbers.tan(x)
    return prims.div(prims.sin(x), prims.cos(x))


@elementwise(ops.asin)
def _(x: Tensor) -> Tensor:
    """The angle of the point (sqrt(1 - x^2), x)."""
    if x.dtype.is_complex:
        return complex_numbers.asin(x)
    return prims.atan2(x, _other_side(x))


@elementwise(ops.acos)
def _(x: Tensor) -> Tensor:
    """The angle of the point (x, sqrt(1 - x^2))."""
    if x.dtype.is_complex:
        return complex_numbers.acos(x)
    return prims.atan2(_other_side(x), x)


def _other_side(x: Tensor) -> Tensor:
    """sqrt(1 - x^2), as a product that loses nothing near 1."""
    one = number_like(x, 1)
    return prims.sqrt(prims.mul(prims.sub(one, x), prims.add(one, x)))


@elementwise(ops.atan)
def _(x: Tensor) -> Tensor:
    """The angle of the point (1, x)."""
    if x.dtype.is_complex:
        return complex_numbers.atan(x)
    return prims.atan2(x, number_like(x, 1))


@elementwise(ops.sinh)
def _(x: Tensor) -> Tensor:
    """(t + t / (t + 1)) / 2 for t = exp(|x|) - 1, which is exact near 0."""
    half, one = number_like(x, 0.5), number_like(x, 1)
    if x.dtype.is_complex:
        return prims.mul(half, prims.sub(prims.expm1(x), prims.expm1(prims.neg(x))))
    is_far, size = _before_overflow(prims.abs(x))
    t = prims.expm1(size)
    near = prims.mul(half, prims.add(t, prims.div(t, prims.add(t, one))))
    return _odd(x, prims.where(is_far, prims.mul(prims.mul(t, half), t), near))


@elementwise(ops.cosh)
def _(x: Tensor) -> Tensor:
    """Half the sum of exp(x) and exp(-x)."""
    half = number_like(x, 0.5)
    if x.dtype.is_complex:
        return prims.mul(half, prims.add(prims.exp(x), prims.exp(prims.neg(x))))
    is_far, size = _before_overflow(prims.abs(x))
    e = prims.exp(size)
    near = prims.mul(half, prims.add(e, prims.reciprocal(e)))
    return prims.where(is_far, prims.mul(prims.mul(e, half), e), near)


def _before_overflow(size: Tensor) -> tuple[Tensor, Tensor]:
    """Where exp(size) might overflow before its half does; and the size, there half of it, to be squared."""
    is_far = prims.gt(size, number_like(size, {2: 10, 4: 80}.get(size.dtype.itemsize, 700)))
    return is_far, prims.where(is_far, prims.mul(size, number_like(size, 0.5)), size)


def _odd(x: Tensor, of_size: Tensor) -> Tensor:
    """An odd function from its value at |x|; at a zero, it is the zero with its sign."""
    zero = number_like(x, 0)
    return prims.where(prims.lt(x, zero), prims.neg(of_size), prims.where(prims.eq(x, zero), x, of_size))


@elementwise(ops.asinh)
def _(x: Tensor) -> Tensor:
    """sign(x) log(|x| + sqrt(x^2 + 1)), as log1p for what is near 0; log(2 |x|) where x^2 would overflow."""
    if x.dtype.is_complex:
        return complex_numbers.asinh(x)
    one, size = number_like(x, 1), prims.abs(x)
    square = prims.mul(size, size)
    root = prims.sqrt(prims.add(square, one))
    above = prims.add(size, prims.div(square, prims.add(one, root)))
    return _odd(x, _log1p_or_log_of_twice(above, size))


@elementwise(ops.acosh)
def _(x: Tensor) -> Tensor:
    """log(x + sqrt(x^2 - 1)), as log1p for what is near 1; log(2 x) where x^2 would overflow."""
    if x.dtype.is_complex:
        return complex_numbers.acosh(x)
    over = prims.sub(x, number_like(x, 1))
    root = prims.sqrt(prims.mul(over, prims.add(over, number_like(x, 2))))
    return _log1p_or_log_of_twice(prims.add(over, root), x)


def _log1p_or_log_of_twice(above: Tensor, size: Tensor) -> Tensor:
    """log1p(above), but log(2 size) for numbers so large that a 1 beside their square is lost: by one logarithm."""
    is_large = prims.gt(size, number_like(size, {2: 1e2, 4: 1e9}.get(size.dtype.itemsize, 1e16)))
    logarithm = prims.log1p(prims.where(is_large, prims.sub(size, number_like(size, 1)), above))
    return prims.where(is_large, prims.add(logarithm, number_like(size, math.log(2))), logarithm)


@elementwise(ops.atanh)
def _(x: Tensor) -> Tensor:
    """Half of log((1 + |x|) / (1 - |x|)), as log1p, which is exact near 0."""
    if x.dtype.is_complex:
        return complex_numbers.atanh(x)
    one, size = number_like(x, 1), prims.abs(x)
    over = prims.div(prims.mul(number_like(x, 2), size), prims.sub(one, size))
    return _odd(x, prims.mul(number_like(x, 0.5), prims.log1p(over)))


@elementwise(ops.hypot)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The longer side times sqrt(1 + (shorter / longer)^2); infinite if a side is, 0 if both are."""
    zero, one, infinite = number_like(a, 0), number_like(a, 1), number_like(a, math.inf)
    a, b = prims.abs(a), prims.abs(b)
    longer, shorter = prims.maximum(a, b), prims.minimum(a, b)
    ratio = prims.div(shorter, longer)
    length = prims.mul(longer, prims.sqrt(prims.add(one, prims.mul(ratio, ratio))))
    is_infinite = prims.bitwise_or(prims.eq(a, infinite), prims.eq(b, infinite))
    return prims.where(is_infinite, infinite, prims.where(prims.eq(longer, zero), longer, length))


# ---------------------------------------------------------------------------------------------- logarithms


@elementwise(ops.exp2)
def _(x: Tensor) -> Tensor:
    """2 to the power of x: exact for integers."""
    return prims.pow(number_like(x, 2), x)


@elementwise(ops.log2)
def _(x: Tensor) -> Tensor:
    """log(x) / log(2)."""
    return _times(prims.log(x), 1 / math.log(2))


@elementwise(ops.log10)
def _(x: Tensor) -> Tensor:
    """log(x) / log(10)."""
    return _times(prims.log(x), 1 / math.log(10))


def _times(x: Tensor, factor: float) -> Tensor:
    """Of a complex number each part by itself: infinity times the factor's imaginary zero would be NaN."""
    if not x.dtype.is_complex:
        return prims.mul(x, number_like(x, factor))
    return prims.complex(_times(prims.real(x), factor), _times(prims.imag(x), factor))


@elementwise(ops.logaddexp)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The larger one, and log1p(exp(-difference)) on top."""
    return _log_sum(a, b, lambda d: prims.log1p(prims.exp(d)), math.log(2))


@elementwise(ops.logaddexp2)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The larger one, and log2(1 + 2^-difference) on top."""
    to_base_2 = number_like(a, 1 / math.log(2))
    power = lambda d: prims.pow(number_like(d, 2), d)
    return _log_sum(a, b, lambda d: prims.mul(to_base_2, prims.log1p(power(d))), 1.0)


def _log_sum(a: Tensor, b: Tensor, on_top: Any, of_equals: float) -> Tensor:
    """Equal arguments, which may be infinite, have no difference to go by."""
    difference = prims.neg(prims.abs(prims.sub(a, b)))
    total = prims.add(prims.maximum(a, b), on_top(difference))
    return prims.where(prims.eq(a, b), prims.add(a, number_like(a, of_equals)), total)


@elementwise(ops.xlogy)
def _(a: Tensor, b: Tensor) -> Tensor:
    """a * log(b)."""
    return _zero_times(a, b, prims.log(b))


@elementwise(ops.special_xlog1py)
def _(a: Tensor, b: Tensor) -> Tensor:
    """a * log1p(b)."""
    return _zero_times(a, b, prims.log1p(b))


def _zero_times(factor: Tensor, argument: Tensor, logarithm: Tensor) -> Tensor:
    """The product, but 0 where the factor is, unless the logarithm's argument is NaN."""
    flat = prims.bitwise_and(prims.eq(factor, number_like(factor, 0)), prims.eq(argument, argument))
    return prims.where(flat, number_like(factor, 0), prims.mul(factor, logarithm))


@elementwise(ops.logit)
def _(x: Tensor, eps: float | None) -> Tensor:
    """log(x / (1 - x)), of x clamped to [eps, 1 - eps]."""
    one = number_like(x, 1)
    if eps is not None:
        bound = number_like(x, eps)
        x = prims.minimum(prims.maximum(x, bound), prims.sub(one, bound))
    return prims.log(prims.div(x, prims.sub(one, x)))


# ---------------------------------------------------------------------------------------------- parts of floats


@elementwise(ops.isinf)
def _(x: Tensor) -> Tensor:
    """|x| == inf."""
    if x.dtype.is_complex:
        return prims.bitwise_or(ops.isinf(prims.real(x)), ops.isinf(prims.imag(x)))
    if x.dtype.category != FLOATING:
        return prims.full(tuple(x.sizes), False, bool_)
    return prims.eq(prims.abs(x), number_like(x, math.inf))


@elementwise(ops.isfinite)
def _(x: Tensor) -> Tensor:
    """|x| < inf, which NaN isn't."""
    if x.dtype.is_complex:
        return prims.bitwise_and(ops.isfinite(prims.real(x)), ops.isfinite(prims.imag(x)))
    if x.dtype.category != FLOATING:
        return prims.full(tuple(x.sizes), True, bool_)
    return prims.lt(prims.abs(x), number_like(x, math.inf))


@elementwise(ops.isreal)
def _(x: Tensor) -> Tensor:
    """True, but for complex numbers off the real line."""
    if x.dtype.is_complex:
        return prims.eq(prims.imag(x), number_like(prims.imag(x), 0))
    return prims.full(tuple(x.sizes), True, bool_)


@elementwise(ops.signbit)
def _(x: Tensor) -> Tensor:
    """The bit of the sign; of integers, x < 0."""
    if x.dtype is bool_:
        return prims.full(tuple(x.sizes), False, bool_)
    return prims.signbit(x) if x.dtype.category == FLOATING else prims.lt(x, number_like(x, 0))


@elementwise(ops.nextafter)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The prim."""
    return prims.nextafter(a, b)


@elementwise(ops.copysign)
def _(a: Tensor, b: Tensor) -> Tensor:
    """|a|, negated where the sign of b is negative."""
    return _with_sign_of(b, prims.abs(a))


def _with_sign_of(x: Tensor, size: Tensor) -> Tensor:
    return prims.where(ops.signbit(x), prims.neg(size), size)


@decomposes(ops.frexp_parts)
def _(x: Tensor) -> tuple[Tensor, Tensor]:
    """The exponent from log2, corrected where rounding put it off by one; the mantissa is what it leaves."""
    zero, one, half = (number_like(x, value) for value in (0, 1, 0.5))
    special = prims.bitwise_or(prims.eq(x, zero), prims.bitwise_not(ops.isfinite(x)))
    size = prims.where(special, one, prims.abs(x))
    exponent = prims.add(prims.floor(ops.log2(size)), one)
    mantissa = _divided_by_power_of_2(size, exponent)
    for too_far, step, factor in ((prims.ge(mantissa, one), 1, 0.5), (prims.lt(mantissa, half), -1, 2)):
        exponent = prims.where(too_far, prims.add(exponent, number_like(x, step)), exponent)
        mantissa = prims.where(too_far, prims.mul(mantissa, number_like(x, factor)), mantissa)
    exponent = prims.where(special, zero, exponent)
    return (
        prims.where(special, x, _with_sign_of(x, mantissa)),
        prims.convert_element_type(exponent, int32),
    )


def _divided_by_power_of_2(x: Tensor, exponent: Tensor) -> Tensor:
    """x / 2 ** exponent in two steps, since the power itself may leave the range of floats."""
    half = prims.floor(prims.mul(exponent, number_like(exponent, 0.5)))
    rest = prims.sub(exponent, half)
    two = number_like(x, 2)
    return prims.div(prims.div(x, prims.pow(two, half)), prims.pow(two, rest))


# ---------------------------------------------------------------------------------------------- of three tensors


@elementwise(ops.lerp)
def _(x: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """From the nearer end."""
    difference = prims.sub(end, x)
    from_start = prims.add(x, prims.mul(weight, difference))
    from_end = prims.sub(end, prims.mul(difference, prims.sub(number_like(weight, 1), weight)))
    size = prims.abs(weight)
    return prims.where(prims.lt(size, number_like(size, 0.5)), from_start, from_end)


@elementwise(ops.addcmul)
def _(x: Tensor, a: Tensor, b: Tensor, value: float) -> Tensor:
    """x + value * a * b."""
    product = prims.mul(a, b)
    return prims.add(x, product if value == 1 else prims.mul(number_like(x, value), product))


@elementwise(ops.addcdiv)
def _(x: Tensor, a: Tensor, b: Tensor, value: float) -> Tensor:
    """x + value * a / b."""
    return prims.add(x, prims.div(prims.mul(number_like(x, value), a), b))


@elementwise(ops.fmax)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The maximum, or the one that isn't NaN."""
    return _unless_nan(prims.maximum, a, b)


@elementwise(ops.fmin)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The minimum, or the one that isn't NaN."""
    return _unless_nan(prims.minimum, a, b)


def _unless_nan(prim: Any, a: Tensor, b: Tensor) -> Tensor:
    if a.dtype.category != FLOATING:
        return prim(a, b)
    return prims.where(prims.ne(a, a), b, prims.where(prims.ne(b, b), a, prim(a, b)))


# ---------------------------------------------------------------------------------------------- integers


@elementwise(ops.bitwise_left_shift)
def _(a: Tensor, b: Tensor) -> Tensor:
    """a * 2^b, whose overflow loses the same bits; 0 for shifts that no dtype has the bits for."""
    far, power = _power_of_2(a, b)
    return prims.where(far, number_like(a, 0), prims.mul(a, power))


@elementwise(ops.bitwise_right_shift)
def _(a: Tensor, b: Tensor) -> Tensor:
    """a / 2^b, rounded down; where 2^b leaves the dtype only the sign is left."""
    far, power = _power_of_2(a, b)
    zero = number_like(a, 0)
    if not a.dtype.is_signed:
        return prims.where(far, zero, prims.div(a, power))
    is_top_bit = prims.lt(power, zero)
    far = prims.bitwise_or(far, is_top_bit)
    sign_left = prims.where(prims.lt(a, zero), number_like(a, -1), zero)
    safe = prims.where(is_top_bit, number_like(a, 1), power)
    return prims.where(far, sign_left, floor_divide_integers(a, safe))


def _power_of_2(like: Tensor, by: Tensor) -> tuple[Tensor, Tensor]:
    """Where a shift leaves the dtype, and 2 to the power of the others."""
    zero, bits = number_like(like, 0), number_like(like, like.dtype.itemsize * 8)
    far = prims.bitwise_or(prims.lt(by, zero), prims.ge(by, bits))
    return far, prims.pow(number_like(like, 2), prims.where(far, zero, by))


@elementwise(ops.gcd)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The prim."""
    return prims.gcd(a, b)


@elementwise(ops.lcm)
def _(a: Tensor, b: Tensor) -> Tensor:
    """|a / gcd(a, b)| |b|: the quotient first, so that no product overflows unless the result does."""
    divisor = prims.maximum(prims.gcd(a, b), number_like(a, 1))
    return prims.mul(prims.abs(prims.div(a, divisor)), prims.abs(b))
