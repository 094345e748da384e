"""Writing where a view looks, without writing: the whole with another diagonal, the whole with windows added.

Derivatives of views and the functional form of in-place operations both need it.

>>> from minitorch_compile.tensor import ones, zeros
>>> with_diagonal(zeros(2, 3), ones(2), 1, 0, 1).tolist(), add_windows(zeros(4), ones(3, 2), 0, 2, 1)
([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], tensor([1., 2., 2., 1.]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.ops.creation import arange
from minitorch_compile.tensor.ops.indexing import index_put
from minitorch_compile.tensor.ops.reshaping import movedim
from minitorch_compile.tensor.ops.view import select, unsqueeze


def diagonal_places(length: int, offset: int) -> tuple[Any, Any]:
    """The rows and the columns of a diagonal."""
    along = arange(length)
    return (along, along + offset) if offset >= 0 else (along - offset, along)


def with_diagonal(base: Tensor, new: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    """`base` with `new` in place of base.diagonal(offset, dim1, dim2)."""
    ndim = len(base.sizes)
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    rows, columns = diagonal_places(new.sizes[-1], offset)
    in_front = movedim(base, (first, second), (0, 1))
    put = index_put(in_front, [rows, columns], movedim(new, -1, 0))
    return movedim(put, (0, 1), (first, second))


def window_places(count: int, size: int, step: int) -> Any:
    """For each window and each place in it the index in the whole: (count, size)."""
    return unsqueeze(arange(count) * step, 1) + arange(size)


def add_windows(base: Tensor, windows: Tensor, dimension: int, size: int, step: int, accumulate: bool = True) -> Any:
    """`base` with the windows added, or stored, where base.unfold(dimension, size, step) looks."""
    if not base.sizes:
        return base + select(windows, 0, 0) if accumulate else select(windows, 0, 0)
    at = wrap_dim(dimension, len(base.sizes))
    in_front = movedim(base, at, 0)
    values = movedim(windows, (at, -1), (0, 1))
    put = index_put(in_front, [window_places(windows.sizes[at], size, step)], values, accumulate)
    return movedim(put, 0, at)
