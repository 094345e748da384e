"""Matrix products.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.addmm, empty_fake((4,)), empty_fake((2, 3)), empty_fake((3, 4))).compact())
x, mat1, mat2 -> add(mm(mat1, mat2), broadcast_in_dim(x, (2, 4), (1,)))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import as_mask, broadcast_to, converted, number_like
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import bool_, int64


@decomposes(ops.mm)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The prim."""
    return _product(prims.mm, a, b)


@decomposes(ops.bmm)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The prim."""
    return _product(prims.bmm, a, b)


def _product(prim: Any, a: Tensor, b: Tensor) -> Tensor:
    """Of bools: where any pair of elements is True."""
    if a.dtype is not bool_:
        return prim(a, b)
    return as_mask(prim(converted(a, int64), converted(b, int64)))


@decomposes(ops.addmm)
def _(input: Tensor, mat1: Tensor, mat2: Tensor, beta: float, alpha: float) -> Tensor:
    """alpha * (mat1 @ mat2) + beta * input."""
    product = _scaled(ops.mm(mat1, mat2), alpha)
    if beta == 0:
        return product
    return ops.add(product, broadcast_to(_scaled(input, beta), product.sizes))


def _scaled(x: Tensor, factor: float) -> Tensor:
    return x if factor == 1 else ops.mul(x, number_like(x, factor))
