"""Elementwise functions that kernels call and that are neither one instruction nor an elementary function.

Those that serve other targets as well are in `portable_functions.py`.

>>> quick_quotient(-7, 2), quick_remainder(-7, 2), quick_truncated_remainder(-7, 2), quick_quotient(1, 0)
(-3, 1, -1, 0)
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types

from minitorch_compile.inductor.ir.extern_call import INDEX_ERROR, RUNTIME_ERROR
from minitorch_compile.inductor.kernels.vecmath.float64 import inlined
from minitorch_compile.inductor.runtime.native import Emit, copy_sign, instruction, same_type, select
from minitorch_compile.tensor.random.philox import MULTIPLIERS, ROUNDS, WEYL, philox

MULTIPLIER_0, MULTIPLIER_1 = (int(m) for m in MULTIPLIERS)
WEYL_0, WEYL_1 = WEYL


@instruction(same_type, lambda builder, x, y: builder.udiv(x, y))
def quotient(x, y):
    """x // y for an x that is not negative."""
    return x // y


@instruction(same_type, lambda builder, x, y: builder.urem(x, y))
def remainder(x, y):
    """x % y for an x that is not negative."""
    return x % y


@instruction(same_type, lambda builder, x, y: builder.frem(x, y))
def truncated_float_remainder(x, y):
    """x - y * trunc(x / y) for floats, exact, with the sign of x (C's fmod)."""
    return np.fmod(x, y)


# ------------------------------------------------------------------------------------------------ numbers


@inlined
def float_remainder(x, y):
    """x - y * floor(x / y), with the sign of y, computed without rounding the quotient."""
    rest = truncated_float_remainder(x, y)
    zero = rest - rest  # of the type of x; NaN stays NaN
    shifted = select((rest < zero) != (y < zero), rest + y, rest)
    return select(rest == zero, copy_sign(rest, y), shifted)


# ------------------------------------------------------------------------------------------------ quick division

# Up to here, float64 holds an integer exactly, and the rounded quotient by another, its fraction dropped, is exact.
LARGEST_NUMERATOR = 2**52


@inlined
def far_numerator(x):
    """Whether an integer is so large that the quick functions below get its quotients wrong."""
    return (x > LARGEST_NUMERATOR) | (x < -LARGEST_NUMERATOR)


@inlined
def quick_quotient(x, y):
    """x / y with the fraction dropped; 0 if y is 0. By a division of floats: processors have no other for vectors."""
    zero = np.int64(0)
    divisor = select(y == 0, np.int64(1), np.int64(y))
    return select(y == 0, zero, np.int64(np.float64(x) / np.float64(divisor)))


@inlined
def quick_truncated_remainder(x, y):
    return select(y == 0, np.int64(0), np.int64(x) - quick_quotient(x, y) * np.int64(y))


@inlined
def quick_remainder(x, y):
    """x % y with the sign of y; 0 if y is 0."""
    rest, divisor = quick_truncated_remainder(x, y), np.int64(y)
    return select((rest != 0) & ((rest < 0) != (divisor < 0)), rest + divisor, rest)


# ------------------------------------------------------------------------------------------------ computed indices


@inlined
def wrapped_index(value, size, status):
    """`value` as an index below `size`, counted from the end if negative; out of range: 0, and `status` says so."""
    place = select(value < 0, value + size, value)
    if place < 0 or place >= size:
        status[0], status[1], status[2] = INDEX_ERROR, value, size
        return 0
    return place


@inlined
def from_the_end(value, size):
    """A negative index counts from the end."""
    return select(value < 0, value + size, value)


@inlined
def index_inside(place, size):
    """The place, or 0 if it is not one of `size`."""
    zero = place - place
    return select((place < zero) | (place >= size), zero, place)


@inlined
def checked_index(value, size, status):
    """`value` as an index below `size`; out of range, or negative: 0, and `status` says so."""
    if value < 0 or value >= size:
        status[0], status[1], status[2] = RUNTIME_ERROR, value, size
        return 0
    return value


# ------------------------------------------------------------------------------------------------ random numbers


def _emit_philox(builder: ir.IRBuilder, seed: ir.Value, counter: ir.Value) -> ir.Value:
    """The first two words of Philox4x32-10, as one 64-bit integer: word 1 above word 0. See tensor/random/philox.py."""
    wide = ir.IntType(64)
    low, half = ir.Constant(wide, 0xFFFFFFFF), ir.Constant(wide, 32)
    key0, key1 = builder.and_(seed, low), builder.lshr(seed, half)
    x0, x1 = builder.and_(counter, low), builder.lshr(counter, half)
    x2 = x3 = ir.Constant(wide, 0)
    for _ in range(ROUNDS):
        product0 = builder.mul(x0, ir.Constant(wide, MULTIPLIER_0))
        product1 = builder.mul(x2, ir.Constant(wide, MULTIPLIER_1))
        x0 = builder.xor(builder.xor(builder.lshr(product1, half), x1), key0)
        x2 = builder.xor(builder.xor(builder.lshr(product0, half), x3), key1)
        x1, x3 = builder.and_(product1, low), builder.and_(product0, low)
        key0 = builder.and_(builder.add(key0, ir.Constant(wide, WEYL_0)), low)
        key1 = builder.and_(builder.add(key1, ir.Constant(wide, WEYL_1)), low)
    return builder.or_(x0, builder.shl(x1, half))


@instruction(lambda seed, counter: types.uint64, _emit_philox)
def philox_words(seed, counter):
    words = philox(int(seed), np.array([counter], np.uint64))
    return words[0][0] | words[1][0] << np.uint64(32)


def _bits_to_unit(bits: int, word: ir.Type, result: ir.Type) -> Emit:
    def emit(builder: ir.IRBuilder, words: ir.Value) -> ir.Value:
        if bits == 24:
            kept = builder.lshr(builder.trunc(words, word), ir.Constant(word, 8))
            return builder.fmul(builder.sitofp(kept, result), ir.Constant(result, 2.0**-24))
        low, high = builder.and_(words, ir.Constant(word, 0xFFFFFFFF)), builder.lshr(words, ir.Constant(word, 32))
        upper = builder.sitofp(builder.lshr(low, ir.Constant(word, 5)), result)
        lower = builder.sitofp(builder.lshr(high, ir.Constant(word, 6)), result)
        total = builder.fadd(builder.fmul(upper, ir.Constant(result, 67108864.0)), lower)
        return builder.fmul(total, ir.Constant(result, 2.0**-53))

    return emit


@instruction(lambda words: types.float32, _bits_to_unit(24, ir.IntType(32), ir.FloatType()))
def unit_float32(words):
    """24 random bits as a number in [0, 1)."""
    return np.float32((int(words) & 0xFFFFFFFF) >> 8) * np.float32(2.0**-24)


@instruction(lambda words: types.float64, _bits_to_unit(53, ir.IntType(64), ir.DoubleType()))
def unit_float64(words):
    """53 random bits as a number in [0, 1)."""
    low, high = int(words) & 0xFFFFFFFF, int(words) >> 32
    return ((low >> 5) * 67108864.0 + (high >> 6)) * 2.0**-53


@inlined
def philox_float32(seed, counter):
    return unit_float32(philox_words(seed, counter))


@inlined
def philox_float64(seed, counter):
    return unit_float64(philox_words(seed, counter))
