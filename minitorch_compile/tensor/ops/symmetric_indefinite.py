"""LDL: symmetric and Hermitian matrices as P L D L^T P^T, where D has blocks of one or two rows on its diagonal.

Unlike Cholesky's it needs no positive-definite matrix. Only the lower half of a matrix is read.

>>> from minitorch_compile.tensor import tensor
>>> A = tensor([[0.0, 2.0], [2.0, 0.0]])
>>> LD, pivots = linalg_ldl_factor(A)
>>> pivots                                                             # one block of two rows
tensor([-2, -2], dtype=torch.int32)
>>> linalg_ldl_solve(LD, pivots, tensor([[4.0], [6.0]]))
tensor([[3.],
        [2.]])

Source: LAPACK's sytrf, hetrf and sytrs (Bunch and Kaufman 1977).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import INTEGER, int32
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.error_codes import without_failure
from minitorch_compile.tensor.ops.matrix_kernels import check_square, column_major, each_matrix, lapack
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("linalg", torch=False, rows=True)
def _linalg_ldl(A: Array, hermitian: bool) -> tuple[Array, ...]:
    """(LD, pivots, info): L below the diagonal and D on it, a row's partner in a swap, where D has a block of zeros."""
    if not A.size:
        return A.copy(), np.zeros(A.shape[:-1], np.int32), np.zeros(A.shape[:-2], np.int32)
    routine = "hetrf" if hermitian and A.dtype.kind == "c" else "sytrf"

    def factor(a: Array) -> tuple[Any, ...]:
        factors, pivots, info = lapack(routine, a.dtype)(a, lower=True)
        return np.tril(factors), pivots.astype(np.int32), np.int32(info)

    factors, pivots, info = each_matrix(factor, A)
    return factors, pivots, info


@_linalg_ldl.shape_rule
def _ldl_rule(A: TensorBase, hermitian: bool) -> tuple[TensorBase, TensorBase, TensorBase]:
    check_square("torch.linalg.ldl_factor_ex", A)
    return column_major(A.sizes, A.dtype), empty_fake(A.sizes[:-1], None, int32), empty_fake(A.sizes[:-2], None, int32)


@composite(torch=False)
def linalg_ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """(LD, pivots, info) of symmetric matrices, or Hermitian ones if `hermitian`: as linalg.ldl_factor; info counts
    from 1 the block of D that is zero, or is 0. It has no derivative, as in PyTorch."""
    LD, pivots, info = _linalg_ldl(A, hermitian)
    if check_errors:
        info = without_failure(info, info, "torch.linalg.ldl_factor_ex", "D[{0},{0}] is zero", RuntimeError)
    return return_types.linalg_ldl_factor_ex(LD, pivots, info)


@composite(torch=False)
def linalg_ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """(LD, pivots) of symmetric matrices, or Hermitian ones if `hermitian`: L and the blocks of D in one matrix; and
    for each row the one it was swapped with, from 1, negative where a block has two rows.

    RuntimeError if D has a block of zeros.
    """
    LD, pivots, info = _linalg_ldl(A, hermitian)
    text = "D[{0},{0}] is zero, and ldl_solve would divide by it; linalg.ldl_factor_ex doesn't mind"
    return return_types.linalg_ldl_factor(
        LD, without_failure(pivots, info, "torch.linalg.ldl_factor", text, RuntimeError)
    )


# ------------------------------------------------------------------------------------------------------------- solving


@kernel_op("linalg", torch=False, rows=True)
def _linalg_ldl_solve(LD: Array, pivots: Array, B: Array, hermitian: bool) -> Array:
    """The X with A X = B, for stacks of the same length."""

    def solve(factors: Array, partners: Array, b: Array) -> tuple[Array]:
        return (_substituted(factors, partners[0], b, hermitian),)

    return each_matrix(solve, LD, pivots[..., None, :], B)[0] if B.size else B.copy()


def _blocks(pivots: Array) -> list[tuple[int, int, int, int]]:
    """(first row, behind the last, the row that was swapped, with which) of each block of D."""
    found, row = [], 0
    while row < len(pivots):
        height = 1 if pivots[row] > 0 else 2
        last = row + height - 1
        found.append((row, row + height, last, abs(int(pivots[last])) - 1))
        row += height
    return found


def _substituted(factors: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """L and D are undone from the top, L^T from the bottom; each block after its swap of rows."""
    x, blocks = b.copy(), _blocks(pivots)
    for start, end, row, partner in blocks:
        x[[row, partner]] = x[[partner, row]]
        x[end:] -= factors[end:, start:end] @ x[start:end]
        half = factors[start:end, start:end]
        above = np.tril(half, -1).T
        x[start:end] = np.linalg.solve(half + (above.conj() if hermitian else above), x[start:end])
    for start, end, row, partner in reversed(blocks):
        below = factors[end:, start:end].T
        x[start:end] -= (below.conj() if hermitian else below) @ x[end:]
        x[[row, partner]] = x[[partner, row]]
    return x


@_linalg_ldl_solve.shape_rule
def _ldl_solve_rule(LD: TensorBase, pivots: TensorBase, B: TensorBase, hermitian: bool) -> TensorBase:
    check_square("torch.linalg.ldl_solve", LD)
    return column_major(B.sizes, B.dtype)


@composite(torch=False)
def linalg_ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Any:
    """The X with A X = `B`, where `LD` and `pivots` are what linalg.ldl_factor made of A; `hermitian` as there. It has
    no derivative, as in PyTorch.

    RuntimeError for sizes or dtypes that don't fit.
    """
    name = "torch.linalg.ldl_solve"
    if len(B.sizes) < 2:
        raise RuntimeError(f"{name}: Expected B to have at least 2 dimensions, got sizes {list(B.sizes)}; unsqueeze it")
    if tuple(pivots.sizes) != tuple(LD.sizes[:-1]):
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape"
            f" {list(pivots.sizes)} instead"
        )
    if pivots.dtype.category != INTEGER:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype}")
    if LD.dtype is not B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype} and A of type {LD.dtype} instead."
        )
    if B.sizes[-2] != LD.sizes[-1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {LD.sizes[-1]} by {LD.sizes[-1]} but each b matrix"
            f" is {B.sizes[-2]} by {B.sizes[-1]}"
        )
    batch = broadcast_sizes(LD.sizes[:-2], B.sizes[:-2])
    LD, B = (x.expand((*batch, *x.sizes[-2:])) for x in (LD, B))
    return _linalg_ldl_solve(LD, pivots.expand((*batch, pivots.sizes[-1])), B, hermitian)
