"""Arithmetic on positions: a number cut into a row and a place in it.

Positions are counted in 64 bits, but a GPU divides numbers of 32 bits several times as fast, and few arrays have more
than 2**31 elements.

>>> from minitorch_compile.cuda_simulator import cuda as simulated, simulate
>>> @simulated.jit
... def rows(x):
...     x[simulated.threadIdx.x], place = split(simulated.threadIdx.x, 3)
>>> import numpy as np
>>> x = np.zeros(8, np.int64)
>>> run = simulate(rows)[1, 8](x)
>>> x.tolist()
[0, 0, 0, 1, 1, 1, 2, 2]
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

WORD, LONG = ir.IntType(32), ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def split(typing: Any, number: Any, size: Any) -> Any:
    """(number // size, number % size) of two that are below 2**31, and not negative."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        short, divisor = (builder.trunc(argument, WORD) for argument in arguments)
        quotient = builder.udiv(short, divisor)
        remainder = builder.sub(short, builder.mul(quotient, divisor))
        parts = [builder.zext(part, LONG) for part in (quotient, remainder)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(types.int64, 2)(types.int64, types.int64), generate


split.simulated_as = "indices.split"
