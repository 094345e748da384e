"""The block of a large graph is kept for its next call.

glibc gives every block above 32 MiB fresh pages of its own, whatever it is told (`tensor/cpu/heap.py`); the first write
to each page interrupts the program: a fifth of a training step of 56 MB. So the last such block is not freed but waits
in a slot, from which any thread may take it.

>>> slot = np.zeros(1, np.int64)
>>> @njit
... def call_twice(slot, nbytes):
...     first = take_block(slot, nbytes)
...     give_back_block(slot, first, nbytes)
...     second = take_block(slot, nbytes - 1000)
...     give_back_block(slot, second, nbytes)
...     return first == second
>>> call_twice(slot.ctypes.data, LARGEST + 9000), call_twice(slot.ctypes.data, LARGEST + 2000)
(True, True)
"""

from __future__ import annotations

import numpy as np  # noqa: F401 (the example's)
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from minitorch_compile.inductor.runtime.atomics import atomic_load, atomic_store, compare_and_swap
from minitorch_compile.inductor.runtime.raw_memory import allocate, release
from minitorch_compile.tensor.cpu.heap import KEPT, LARGEST

HEADER = 64  # bytes before what is handed out, where the size of the block is noted; keeps it aligned


@intrinsic
def _address_of(typing_context, block):
    def code(context, builder, signature, values):
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(block), code


@intrinsic
def _block_at(typing_context, address):
    def code(context, builder, signature, values):
        return builder.inttoptr(values[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), code


@njit(forceinline=True)
def take_block(slot, nbytes):
    """The address of so much memory: what lies in the slot if it is large enough, else a new block."""
    kept = atomic_load(slot) if nbytes > LARGEST else 0
    if kept != 0 and compare_and_swap(slot, kept, 0):
        if atomic_load(kept) >= nbytes:
            return kept + HEADER
        release(_block_at(kept))
    start = _address_of(allocate(nbytes + HEADER))
    atomic_store(start, nbytes)
    return start + HEADER


@njit(forceinline=True)
def give_back_block(slot, address, nbytes):
    """Puts a large block into the slot if that is empty, else frees it."""
    start = address - HEADER
    if not (LARGEST < nbytes <= KEPT and compare_and_swap(slot, 0, start)):
        release(_block_at(start))
