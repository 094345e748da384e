"""The prim that puts elements in order.

>>> from minitorch_compile.tensor import tensor
>>> sort(tensor([2.0, 3.0, 1.0]), 0, False)
(tensor([1., 2., 3.]), tensor([2, 0, 1]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.prims.prim import ORDERED, check_dim, check_tensor, describe, prim, refuse
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def _sort_rule(name: str, x: Any, dim: int, descending: Any) -> tuple[TensorBase, TensorBase]:
    check_tensor(name, "x", x, ORDERED)
    check_dim(name, "dim", dim, x)
    if not isinstance(descending, bool):
        raise refuse(name, "descending", "a bool", describe(descending))
    return empty_fake(x.sizes, None, x.dtype), empty_fake(x.sizes, None, int64)


@prim("sorting", _sort_rule, dtypes="bool, integers, floats; places are int64", sizes="those of x, twice")
def sort(x: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    """The elements along `dim` in order, and the int64 indices where they stood. NaN is the largest; equals keep their
    order."""
    places = ops.argsort.kernel(x, dim, descending)
    return np.take_along_axis(x, places, dim), places
