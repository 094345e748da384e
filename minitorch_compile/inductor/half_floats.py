"""Numbers of two bytes in kernels: stored as their bits, computed with in float32.

float16 has 5 bits of exponent and 10 of fraction; the processor converts it. bfloat16 is the upper half of a float32: a
shift makes a float32 of it, and rounding is an addition: what would be lost carries into what stays, and a tie goes to
the even one because its last bit is added, too.

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
from minitorch_compile.inductor.native import instruction

SHORT, WORD, FLOAT = ir.IntType(16), ir.IntType(32), ir.FloatType()
QUIET_NAN = 0x7FC0  # of bfloat16


def has_float16() -> bool:
    """Whether the processor that Numba compiles for converts float16; without, LLVM would call a library for it."""
    return current().can("float16")


def _extend_bfloat16(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    return builder.bitcast(builder.shl(builder.zext(bits, WORD), ir.Constant(WORD, 16)), FLOAT)


def _round_to_bfloat16(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    bits = builder.bitcast(x, WORD)
    last = builder.and_(builder.lshr(bits, ir.Constant(WORD, 16)), ir.Constant(WORD, 1))
    carried = builder.add(bits, builder.add(last, ir.Constant(WORD, 0x7FFF)))
    rounded = builder.trunc(builder.lshr(carried, ir.Constant(WORD, 16)), SHORT)
    return builder.select(builder.fcmp_unordered("uno", x, x), ir.Constant(SHORT, QUIET_NAN), rounded)


@instruction(lambda bits: types.float32, _extend_bfloat16)
def float32_of_bfloat16(bits):
    """The number whose bfloat16 bits these are."""
    return np.uint32(int(bits) << 16).view(np.float32)


@instruction(lambda x: types.uint16, _round_to_bfloat16)
def bfloat16_of_float32(x):
    """The bits of the nearest bfloat16, the even one of two."""
    return np.float32(x).astype(ml_dtypes.bfloat16).view(np.uint16)


@instruction(
    lambda bits: types.float32, lambda builder, bits: builder.fpext(builder.bitcast(bits, ir.HalfType()), FLOAT)
)
def float32_of_float16(bits):
    return np.uint16(bits).view(np.float16).astype(np.float32)


@instruction(lambda x: types.uint16, lambda builder, x: builder.bitcast(builder.fptrunc(x, ir.HalfType()), SHORT))
def float16_of_float32(x):
    """The bits of the nearest float16, the even one of two; infinity from 65520 on."""
    return np.float32(x).astype(np.float16).view(np.uint16)
