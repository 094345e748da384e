"""Rows of a table whose gradient is sparse: only the rows that were used have one.

>>> from minitorch_compile import nn, tensor
>>> table = nn.Embedding(1000, 2, sparse=True)
>>> table(tensor([5, 5, 7])).sum().backward()
>>> table.weight.grad.coalesce().indices(), table.weight.grad.coalesce().values()
(tensor([[5, 7]]), tensor([[2., 2.],
        [1., 1.]]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.autograd.function import Function
from minitorch_compile.control import disable
from minitorch_compile.sparse.sparse_tensor import CooTensor
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import wrap


class Embedding(Function):
    """(weight, places) -> rows."""

    @staticmethod
    def forward(ctx: Any, weight: Any, places: Any, padding: int | None) -> Any:
        ctx.places, ctx.padding, ctx.sizes = places, padding, weight.sizes
        return ops.embedding(places, weight, padding)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        flat = ctx.places.array.reshape(-1).astype(np.int64)
        values = ops.reshape(grad, (len(flat), ctx.sizes[1]))
        if ctx.padding is not None:
            kept = np.nonzero(flat != ctx.padding % ctx.sizes[0])[0]
            flat, values = flat[kept], ops.index_select(values, 0, wrap(kept.astype(np.int64)))
        return CooTensor(wrap(flat.reshape(1, -1)), values, ctx.sizes), None, None


@disable(reason="a sparse gradient has as many entries as there are different places, which is not known beforehand")
def sparse_rows(input: Any, weight: Any, padding_idx: int | None) -> Any:
    """The rows; a compiled function breaks its graph here."""
    return Embedding.apply(weight, input, padding_idx)
