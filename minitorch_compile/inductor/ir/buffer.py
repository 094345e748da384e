"""A buffer: a stretch of memory in a loop graph, with a name, and how positions map into it.

>>> from minitorch_compile.inductor.ir.index import variables
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x = Buffer("x", (4, 8), (1, 4), float32)
>>> x, x.address(variables("i", (4, 8))), x.nbytes
(x: float32[4, 8], strides=[1, 4], i0 + 4*i1, 128)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from minitorch_compile.inductor.ir.index import Index, strided
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import dtype

Ints = tuple[int, ...]
Position = Sequence[Index]
Element = dtype  # the class, where a field of the same name hides it


@dataclass(eq=False)
class Buffer:
    """A stretch of memory, and how positions map into it. `kind` is input, temporary or output."""

    name: str
    sizes: Ints
    strides: Ints
    dtype: dtype
    kind: str = "temporary"

    @staticmethod
    def contiguous(name: str, sizes: Ints, dtype: Element) -> Buffer:
        return Buffer(name, sizes, contiguous_strides(sizes), dtype)

    def address(self, position: Position) -> Index:
        return strided(position, self.strides)

    @property
    def length(self) -> int:
        """Elements from the first to the last one used."""
        return 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides)) if 0 not in self.sizes else 0

    @property
    def nbytes(self) -> int:
        return self.length * self.dtype.itemsize

    def __repr__(self) -> str:
        dense = "" if self.strides == contiguous_strides(self.sizes) else f", strides={list(self.strides)}"
        return f"{self.name}: {self.dtype.name}{list(self.sizes)}{dense}"
