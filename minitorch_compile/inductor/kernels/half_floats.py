"""Numbers of two bytes in kernels: stored as their bits, computed with in float32.

float16 has 5 bits of exponent and 10 of fraction; most processors convert it. bfloat16 is the upper half of a float32:
a shift makes a float32 of it, and rounding is an addition: what would be lost carries into what stays, and a tie goes
to the even one because its last bit is added, too.

>>> from numba import njit
>>> @njit
... def rounded(x):
...     return float32_of_bfloat16(bfloat16_of_float32(x)), float32_of_float16(float16_of_float32(x))
>>> rounded(np.float32(1.005))
(1.0078125, 1.0048828125)
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from llvmlite import ir
from numba import types

from minitorch_compile.inductor.machine import current
from minitorch_compile.inductor.runtime.native import instruction

SHORT, WORD, FLOAT = ir.IntType(16), ir.IntType(32), ir.FloatType()
QUIET_NAN = 0x7FC0  # of bfloat16


# ------------------------------------------------------------------------------------------------ bfloat16


def _extend_bfloat16(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    return builder.bitcast(builder.shl(builder.zext(bits, WORD), ir.Constant(WORD, 16)), FLOAT)


def _round_to_bfloat16(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    bits = builder.bitcast(x, WORD)
    last = builder.and_(builder.lshr(bits, ir.Constant(WORD, 16)), ir.Constant(WORD, 1))
    carried = builder.add(bits, builder.add(last, ir.Constant(WORD, 0x7FFF)))
    rounded = builder.trunc(builder.lshr(carried, ir.Constant(WORD, 16)), SHORT)
    nan = builder.or_(builder.trunc(builder.lshr(bits, WORD(16)), SHORT), SHORT(QUIET_NAN))  # with the sign of x
    return builder.select(builder.fcmp_unordered("uno", x, x), nan, rounded)


@instruction(lambda bits: types.float32, _extend_bfloat16)
def float32_of_bfloat16(bits):
    """The number whose bfloat16 bits these are."""
    return np.uint32(int(bits) << 16).view(np.float32)


@instruction(lambda x: types.uint16, _round_to_bfloat16)
def bfloat16_of_float32(x):
    """The bits of the nearest bfloat16, the even one of two."""
    return np.float32(x).astype(ml_dtypes.bfloat16).view(np.uint16)


# ------------------------------------------------------------------------------------------------ float16


def _extend_float16(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """By the processor; or by a multiplication: where a float32 has them, the same bits are 2**112 times too small."""
    if current().can("float16"):  # else LLVM would call a function that isn't there
        return builder.fpext(builder.bitcast(bits, ir.HalfType()), FLOAT)
    wide = builder.zext(bits, WORD)
    sign = builder.shl(builder.and_(wide, WORD(0x8000)), WORD(16))
    magnitude = builder.shl(builder.and_(wide, WORD(0x7FFF)), WORD(13))
    scaled = builder.bitcast(builder.fmul(builder.bitcast(magnitude, FLOAT), FLOAT(2.0**112)), WORD)
    is_finite = builder.icmp_unsigned("<", magnitude, WORD(0x0F800000))
    number = builder.select(is_finite, scaled, builder.or_(magnitude, WORD(0x7F800000)))
    return builder.bitcast(builder.or_(number, sign), FLOAT)


def _round_to_float16(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """By the processor; or in integers, where what is lost carries into what stays.

    Below the smallest normal float16, adding 0.5 rounds: the sum's last bit is worth what the least float16 is.
    """
    if current().can("float16"):
        return builder.bitcast(builder.fptrunc(x, ir.HalfType()), SHORT)
    bits = builder.bitcast(x, WORD)
    sign = builder.and_(builder.lshr(bits, WORD(16)), WORD(0x8000))
    magnitude = builder.and_(bits, WORD(0x7FFFFFFF))
    last = builder.and_(builder.lshr(magnitude, WORD(13)), WORD(1))
    moved = builder.sub(builder.add(magnitude, last), WORD((112 << 23) - 0xFFF))  # another bias; half a unit, nearly
    normal = builder.lshr(moved, WORD(13))
    half = FLOAT(0.5)
    small = builder.sub(builder.bitcast(builder.fadd(builder.bitcast(magnitude, FLOAT), half), WORD), WORD(0x3F000000))
    large = builder.select(builder.icmp_unsigned(">", magnitude, WORD(0x7F800000)), WORD(0x7E00), WORD(0x7C00))
    finite = builder.select(builder.icmp_unsigned("<", magnitude, WORD(113 << 23)), small, normal)
    rounded = builder.select(builder.icmp_unsigned("<", magnitude, WORD(143 << 23)), finite, large)
    return builder.trunc(builder.or_(rounded, sign), SHORT)


@instruction(lambda bits: types.float32, _extend_float16)
def float32_of_float16(bits):
    return np.uint16(bits).view(np.float16).astype(np.float32)


@instruction(lambda x: types.uint16, _round_to_float16)
def float16_of_float32(x):
    """The bits of the nearest float16, the even one of two; infinity from 65520 on."""
    return np.float32(x).astype(np.float16).view(np.uint16)
