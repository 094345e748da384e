"""Words of memory that several threads change: reading, writing, adding and swapping them as one indivisible step.

An address is an int. Every operation is sequentially consistent: all threads see all of them in one order.

>>> cell = np.zeros(1, np.int64)
>>> @njit
... def add_twice(address):
...     return atomic_add(address, 5), atomic_add(address, 5)
>>> add_twice(cell.ctypes.data), int(cell[0])
((0, 5), 10)
"""

from __future__ import annotations

import numpy as np  # noqa: F401 (the example's)
from llvmlite import ir
from numba import njit, types  # noqa: F401 (the example's)
from numba.core import cgutils
from numba.extending import intrinsic

from minitorch_compile.inductor.machine import current

ORDER = "seq_cst"
_WORD = ir.IntType(64)


def _pointer(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.inttoptr(address, _WORD.as_pointer())


@intrinsic
def atomic_load(typing_context, address):
    """The 64-bit integer at an address."""

    def code(context, builder, signature, values):
        return builder.load_atomic(_pointer(builder, values[0]), ORDER, 8)

    return types.int64(types.int64), code


@intrinsic
def atomic_store(typing_context, address, value):
    """Puts a 64-bit integer at an address."""

    def code(context, builder, signature, values):
        builder.store_atomic(values[1], _pointer(builder, values[0]), ORDER, 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic
def atomic_add(typing_context, address, value):
    """Adds to the integer at an address; what it was before."""

    def code(context, builder, signature, values):
        return builder.atomic_rmw("add", _pointer(builder, values[0]), values[1], ORDER)

    return types.int64(types.int64, types.int64), code


@intrinsic
def compare_and_swap(typing_context, address, expected, value):
    """Puts `value` at an address if `expected` is there; whether it was."""

    def code(context, builder, signature, values):
        pair = builder.cmpxchg(_pointer(builder, values[0]), values[1], values[2], ORDER, ORDER)
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), code


@intrinsic
def pause(typing_context):
    """Tells the processor that this thread is waiting in a loop."""

    def code(context, builder, signature, values):
        if current().triple.startswith("x86_64"):
            function = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), code
