"""bfloat16: float32 without the last 16 bits of its fraction. NumPy has no arithmetic for it, so ops borrow float32's.

A kernel gets float32 arrays in place of bfloat16 ones, and its result is rounded once, as PyTorch's kernels do.

>>> import numpy as np
>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.tensor.dtype import bfloat16
>>> x = tensor([1.0, 3.0], dtype=bfloat16)
>>> widened(x.array), x / 3
(array([1., 3.], dtype=float32), tensor([0.3340, 1.0000], dtype=torch.bfloat16))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dtype import bfloat16, dtype

WIDE = np.dtype(np.float32)


def widened(array: np.ndarray) -> np.ndarray:
    """The array, in float32 if it is of bfloat16."""
    return array.astype(WIDE) if array.dtype == bfloat16.numpy else array


def rounded(result: Any, element: dtype) -> np.ndarray:
    """A result as an array, rounded to bfloat16 if that is the dtype it should have."""
    array = np.asarray(result)
    return array.astype(bfloat16.numpy) if element is bfloat16 and array.dtype != bfloat16.numpy else array


def computes_in(element: dtype) -> np.dtype:
    """The NumPy dtype that kernels compute in for tensors of this dtype."""
    return WIDE if element is bfloat16 else element.numpy
