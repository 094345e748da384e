"""Vector norms as sums; the algorithms of LAPACK stay calls of their kernels.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops._vector_norm, empty_fake((3,)), 0, False, 1.0).compact())
x -> sum(abs(x), (0,))
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import converted
from minitorch_compile.tensor import Tensor, ops


@decomposes(ops._vector_norm)
def _(x: Tensor, dim: int | Sequence[int] | None, keepdim: bool, ord: float) -> Tensor:
    """(sum |x|^ord)^(1/ord), with the shortcuts for ord 0, 1, 2 and infinity.

    The squares of numbers beyond 1e19 overflow in float32, here as in PyTorch's kernels.
    """
    x = ops.abs(x) if x.dtype.is_complex else x
    if math.isinf(ord):
        return (ops.amax if ord > 0 else ops.amin)(ops.abs(x), dim, keepdim)
    if ord == 0:
        return ops.sum(converted(x != 0, x.dtype), dim, keepdim)
    if ord == 1:
        return ops.sum(ops.abs(x), dim, keepdim)
    if ord == 2:
        return ops.sqrt(ops.sum(ops.square(x), dim, keepdim))
    return ops.pow(ops.sum(ops.pow(ops.abs(x), ord), dim, keepdim), 1 / ord)
