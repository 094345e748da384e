"""New arrays whose dimensions lie in memory in a given order.

>>> import numpy as np
>>> wrap_as(np.zeros((2, 3)), (1, 2)).strides
(1, 2)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.tensor_base import TensorBase, wrap


def wrap_as(result: np.ndarray, strides: Sequence[int]) -> TensorBase:
    """A tensor of these values with just these strides (in elements): copied only if they lie otherwise in memory.

    The strides of size-1 dimensions make no difference to memory, but programs can read them, so they are kept as
    asked.
    """
    if result.flags.c_contiguous and contiguous_strides(result.shape) == strides:
        return wrap(result)
    if not _lies_so(result, strides) and result.size:
        ordered = empty_like_strides(result.shape, strides, result.dtype)
        if not _lies_so(ordered, strides):  # there are gaps between the elements
            ordered = _empty_with_gaps(result.shape, strides, result.dtype)
        np.copyto(ordered, result)
        result = ordered
    tensor = wrap(result)
    tensor.strides = tuple(strides)
    return tensor


def _lies_so(array: np.ndarray, strides: Sequence[int]) -> bool:
    return all(n == 1 or s * array.itemsize == b for n, s, b in zip(array.shape, strides, array.strides, strict=True))


def _empty_with_gaps(sizes: Sequence[int], strides: Sequence[int], element: np.dtype) -> np.ndarray:
    span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return np.lib.stride_tricks.as_strided(np.empty(span, element), sizes, [s * element.itemsize for s in strides])


def empty_like_strides(sizes: Sequence[int], strides: Sequence[int], element: np.dtype) -> np.ndarray:
    """An uninitialised array whose dimensions lie in memory in the order that `strides` (in elements) ask for."""
    order = sorted(range(len(sizes)), key=lambda d: (-strides[d], d))
    base = np.empty([sizes[d] for d in order], element)
    return base.transpose(np.argsort(order)) if order else base
