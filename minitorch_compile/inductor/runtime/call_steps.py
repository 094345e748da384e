"""What a native call's list of kernels is made of, beside kernels, numbers and names of arrays.

Kernels that are `InTurns` do one block of their common range after the other, each kernel what the one before it has
just finished; what goes from one to the next may be a `ScratchBlock`, of which memory holds only the block at hand.

>>> Chunks(extent=1000, length=256)
Chunks(extent=1000, length=256)
>>> from numba import types
>>> from minitorch_compile.inductor.runtime.kernel_function import kernel
>>> from minitorch_compile.inductor.runtime.native_call import NativeCall, np
>>> @kernel("doctest_add_in_turns", types.float64, types.float64, types.float64)
... def add(lo, hi, x, y, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + y[i]
>>> double = ScratchBlock(0, "float64", 8, 3)
>>> in_turns = NativeCall(
...     tensors=("x", "out"),
...     scratch=16,
...     steps=[InTurns(3, 2, (add, 3, "x", "x", double), (add, 3, double, double, "out"))],
... )
>>> x, out = np.arange(3.0), np.empty(3)
>>> in_turns((x, out)); out
array([0., 4., 8.])
"""

from __future__ import annotations

from typing import Any, NamedTuple

Kernel = tuple[Any, ...]


class Part(NamedTuple):
    """An array `offset` bytes into a named one; `element` is its dtype, for those who run without Numba."""

    name: str
    offset: int
    element: str


class Chunks(NamedTuple):
    """The range [0, extent), in pieces of `length` that may run at the same time."""

    extent: int
    length: int


class ScratchBlock(NamedTuple):
    """An array of which scratch memory holds, from `offset` on, only what belongs to the block at hand.

    Kernels address it as if all of it were there: it has `nbytes` for each of `extent` positions of the range.
    """

    offset: int
    element: str
    nbytes: int
    extent: int


class InTurns:
    """Kernels that take turns at the blocks of the range [0, extent), `length` positions each.

    Each of `kernels` is (function, how far its own range goes, arguments...). A kernel may count several steps for one
    position, or one for several, as long as blocks begin and end at whole steps. Blocks may run at the same time.
    """

    def __init__(self, extent: int, length: int, *kernels: Kernel) -> None:
        self.extent, self.length, self.kernels = extent, length, kernels


CallStep = Kernel | InTurns
