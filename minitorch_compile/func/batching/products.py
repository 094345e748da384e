"""Matrix products, linear algebra and joining of a batch.

>>> import minitorch_compile as torch
>>> x, weights = torch.ones(5, 3), torch.ones(4, 3, 2)
>>> torch.func.vmap(torch.mm, in_dims=(None, 0))(x, weights).shape           # each example has a weight of its own
torch.Size([4, 5, 2])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch, with_ones
from minitorch_compile.func.batching.pointwise import aligned
from minitorch_compile.func.batching.reductions import shifted
from minitorch_compile.func.batching.rules import batching_rule
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op


@batching_rule("mm")
def mm(batch: Batch, op: Op, input: Any, mat2: Any) -> Any:
    """With one second matrix for all, the rows of all examples make one tall matrix."""
    if batch.holds(mat2) or input.dim() != 2:
        return ops.bmm(batch.spread(input), batch.spread(mat2))
    rows = ops.reshape(input.value, (batch.size * input.sizes[0], input.sizes[1]))
    return ops.reshape(op(rows, mat2), (batch.size, input.sizes[0], mat2.sizes[1]))


@batching_rule("bmm")
def bmm(batch: Batch, op: Op, input: Any, mat2: Any) -> Any:
    x, y = batch.spread(input), batch.spread(mat2)
    product = op(ops.flatten(x, 0, 1), ops.flatten(y, 0, 1))
    return ops.reshape(product, (*x.sizes[:2], *product.sizes[1:]))


@batching_rule("addmm")
def addmm(batch: Batch, op: Op, input: Any, mat1: Any, mat2: Any, beta: float, alpha: float) -> Any:
    if batch.holds(mat1) or batch.holds(mat2):
        product = mm(batch, ops.mm, mat1, mat2)
    else:
        product = ops.unsqueeze(ops.mm(mat1, mat2), 0)
    scaled = product if alpha == 1 else ops.mul(product, alpha)
    start = aligned(batch, input, 2)
    return scaled if beta == 0 else ops.add(scaled, start if beta == 1 else ops.mul(start, beta))


@batching_rule("_linalg_solve", "_linalg_solve_triangular")
def solved(batch: Batch, op: Op, A: Any, B: Any, *rest: Any) -> Any:
    if B.dim() == A.dim() - 1:  # a vector for each matrix
        return ops.squeeze(op(batch.spread(A), ops.unsqueeze(batch.spread(B), -1), *rest), -1)
    ndim = max(A.dim(), B.dim())
    matrices = (with_ones(batch.spread(x), ndim - x.dim()) for x in (A, B))
    return op(*matrices, *rest)


@batching_rule("cat")
def cat(batch: Batch, op: Op, tensors: Any, dim: int) -> Any:
    """Vectors without elements join anything, as in PyTorch."""
    joined = [x for x in tensors if x.dim() != 1 or x.sizes[0] > 0] or tensors[:1]
    return op([batch.spread(x) for x in joined], shifted(dim, joined[0].dim())[0])


@batching_rule("split_with_sizes_copy")
def split(batch: Batch, op: Op, input: Any, split_sizes: Any, dim: int) -> Any:
    return op(input.value, split_sizes, shifted(dim, input.dim())[0])
