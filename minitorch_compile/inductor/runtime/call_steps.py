"""What a native call's list of kernels is made of, beside kernels, numbers and names of arrays.

>>> Chunks(extent=1000, length=256)
Chunks(extent=1000, length=256)
>>> double = ScratchBlock(offset=0, element="float64", nbytes=8, extent=3)
>>> InTurns(3, 2, ("first", 3, "x", double), ("second", 3, double, "out")).kernels[1]
('second', 3, ScratchBlock(offset=0, element='float64', nbytes=8, extent=3), 'out')
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
