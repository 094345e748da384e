"""A kernel that isn't made from loops here, such as a matrix product, and the parts of buffers that it is called on.

>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> a, b, c = (Buffer.contiguous(name, (4, 4), float32) for name in "abc")
>>> turned = StridedView(b, (4, 4), (1, 4))
>>> ExternCall("mm", [whole(a), turned], [c])
c: float32[4, 4] = mm(a[4, 4]:[4, 1], b[4, 4]:[1, 4])
>>> matrix_layout(turned)
(True, 4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minitorch_compile.inductor.ir.buffer import Buffer, Ints
from minitorch_compile.inductor.ir.handler import Origin
from minitorch_compile.tensor.memory.strides import contiguous_strides

# What a kernel reports in the first of three integers: an index that is out of range, before the index and the size, or
# that something has to be computed again, with care.
INDEX_ERROR, RUNTIME_ERROR, DOUBT = 1, 2, 3


@dataclass(eq=False)
class StridedView:
    """Part of a buffer, as an extern kernel sees it: sizes, strides and an offset, all in elements."""

    buffer: Buffer
    sizes: Ints
    strides: Ints
    offset: int = 0

    @property
    def is_contiguous(self) -> bool:
        return all(n == 1 or s == c for n, s, c in zip(self.sizes, self.strides, contiguous_strides(self.sizes)))

    def __repr__(self) -> str:
        offset = f" + {self.offset}" if self.offset else ""
        return f"{self.buffer.name}{list(self.sizes)}:{list(self.strides)}{offset}"


@dataclass(eq=False)
class ExternCall:
    """A kernel that isn't made from loops here, such as a matrix product: `outputs = kernel(inputs, parameters)`."""

    kernel: str
    inputs: list[StridedView]
    outputs: list[Buffer]
    parameters: tuple[Any, ...] = ()
    origin: Origin | None = None

    def __repr__(self) -> str:
        results = ", ".join(map(repr, self.outputs))
        arguments = ", ".join(map(repr, [*self.inputs, *self.parameters]))
        return f"{results} = {self.kernel}({arguments})"


def whole(buffer: Buffer) -> StridedView:
    return StridedView(buffer, buffer.sizes, buffer.strides)


def same_layout(view: StridedView, strides: Ints) -> bool:
    """Whether a view has these strides, wherever they matter."""
    return all(size == 1 or a == b for size, a, b in zip(view.sizes, view.strides, strides))


def matrix_layout(view: StridedView) -> tuple[bool, int] | None:
    """How the last two dimensions lie, if BLAS can read them: whether by columns, and the step between rows or columns.

    >>> from minitorch_compile.tensor.numerics.dtype import float32
    >>> x = Buffer.contiguous("x", (4, 8), float32)
    >>> matrix_layout(StridedView(x, (4, 8), (8, 1))), matrix_layout(StridedView(x, (8, 4), (1, 8)))
    ((False, 8), (True, 8))
    >>> matrix_layout(StridedView(x, (4, 4), (8, 2))) is None
    True
    """
    rows, columns = view.sizes[-2:]
    row_stride, column_stride = view.strides[-2:]
    if (columns == 1 or column_stride == 1) and (rows == 1 or row_stride >= columns):
        return False, row_stride if rows > 1 else columns
    if (rows == 1 or row_stride == 1) and (columns == 1 or column_stride >= rows):
        return True, column_stride if columns > 1 else rows
    return None
