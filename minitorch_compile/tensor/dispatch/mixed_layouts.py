"""Tensors of one dtype that broadcast, or lie in memory in different orders, on their way to a pointwise kernel.

How the result lies is worked out once for each pair of layouts. The kernel sees its operands with the dimensions in the
order of the result's memory. So what it gives lies right, and is not copied.

>>> import numpy as np
>>> from minitorch_compile.tensor.tensor_base import wrap
>>> run_mixed(np.add, wrap(np.zeros((2, 3))).as_view((3, 2), (1, 3), 0), wrap(np.ones((3, 1)))).strides
(1, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.tensor.cpu.numpy_errstate import silence
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import Ints, broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts, wrap_row_major


class _Plan(NamedTuple):
    """How a result lies. `order`: its dimensions from the slowest to the fastest, None if they are that already;
    `back`: where each of these is found then."""

    sizes: Size
    strides: Ints
    order: Ints | None
    back: Ints


@lru_cache(maxsize=4096)
def _plan(*layouts: tuple[Ints, Ints]) -> _Plan:
    sizes = broadcast_sizes(*(sizes for sizes, _ in layouts))
    strides = elementwise_strides(sizes, layouts)
    order = tuple(sorted(range(len(sizes)), key=lambda d: (-strides[d], d)))
    moved = [d for d in order if sizes[d] != 1]
    if 0 in sizes or moved == sorted(moved):
        return _Plan(Size(sizes), strides, None, ())
    return _Plan(Size(sizes), strides, order, tuple(map(order.index, range(len(sizes)))))


def run_mixed(kernel: Callable[..., Any], *operands: TensorBase) -> TensorBase:
    """What the kernel makes of the arrays of some tensors in main memory. RuntimeError if they don't broadcast."""
    sizes, strides, order, back = _plan(*((x.sizes, x.strides) for x in operands))
    arrays = [x.array for x in operands]
    if order is not None:
        arrays = [x.reshape((1,) * (len(order) - x.ndim) + x.shape) if x.ndim < len(order) else x for x in arrays]
        arrays = [x.transpose(order) for x in arrays]
    value = silence.run(kernel, *arrays, order="C") if isinstance(kernel, np.ufunc) else silence.run(kernel, *arrays)
    if type(value) is not np.ndarray or not value.flags.c_contiguous or not value.flags.owndata:
        value = np.array(value, order="C")  # a number, in another order, or an operand itself
    if order is None:
        return wrap_row_major(value, sizes, strides, FROM_NUMPY[value.dtype])
    result: TensorBase = from_parts(Storage(value.reshape(-1)), 0, sizes, strides, FROM_NUMPY[value.dtype], CPU)
    result._array = value.transpose(back)
    return result
