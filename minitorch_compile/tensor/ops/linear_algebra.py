"""Inverses, linear systems, determinants and what is computed from them, as torch.linalg has them.

>>> from minitorch_compile.tensor import tensor
>>> A, b = tensor([[3.0, 1.0], [1.0, 2.0]]), tensor([9.0, 8.0])
>>> linalg_solve(A, b), linalg_det(A), linalg_matrix_rank(A)
(tensor([2., 3.]), tensor(5.), tensor(2))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.memory_format import contiguous_format
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.numerics.numeric_limits import finfo
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.adjoint import adjoint
from minitorch_compile.tensor.ops.complex_numbers import resolve_conj
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import eye, full
from minitorch_compile.tensor.ops.factorizations import check_one_dtype, linalg_eigvalsh, linalg_svdvals, same_batch
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.matrix_kernels import (
    _linalg_pinv,
    _linalg_slogdet,
    _linalg_solve,
    _linalg_solve_triangular,
    linalg_det,
    linalg_inv,
    linalg_matrix_exp,
)
from minitorch_compile.tensor.ops.norms import linalg_matrix_norm
from minitorch_compile.tensor.ops.pointwise import abs, log, where
from minitorch_compile.tensor.ops.reduction import amax, sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.scan import cumprod
from minitorch_compile.tensor.ops.triangles import tril
from minitorch_compile.tensor.ops.view import detach, diagonal

# ------------------------------------------------------------------------------------------------------ inverse, solve


@composite(methods=True)
def inverse(input: Tensor) -> Any:
    """The inverse of each square matrix: the older name of linalg.inv. LinAlgError for a singular one.

    >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return linalg_inv(input)


@composite(torch=False)
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Any:
    """The X with `A` X = `B`, or with X A = B if not `left`; B is a matrix, or a vector for each matrix of A.

    LinAlgError for a singular A.

    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    vectors = len(B.sizes) == 1 or (len(B.sizes) == len(A.sizes) - 1 and B.sizes == A.sizes[:-1])
    if not left and not vectors:
        return adjoint(linalg_solve(adjoint(A), adjoint(B)))
    right = B.unsqueeze(-1) if vectors else B
    if right.sizes[-2] != A.sizes[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.sizes[-2]}x{A.sizes[-1]} and"
            f" {right.sizes[-2]}x{right.sizes[-1]})"
        )
    check_one_dtype("linalg.solve", A, B)
    solved = _linalg_solve(*same_batch(A, right))
    return solved.squeeze(-1) if vectors else solved


@composite(torch=False)
def linalg_solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    """The X with `A` X = `B`, or with X A = B if not `left`, where A (..., n, n) is triangular: only its upper part is
    read if `upper`, else its lower one; `unitriangular`: its diagonal counts as ones.

    >>> torch.linalg.solve_triangular(torch.tensor([[2.0, 0.0], [1.0, 1.0]]), torch.tensor([[2.0], [3.0]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    if not left:
        turned = linalg_solve_triangular(adjoint(A), adjoint(B), upper=not upper, unitriangular=unitriangular)
        return resolve_conj(adjoint(turned))
    if B.sizes[-2] != A.sizes[-1]:
        raise RuntimeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B ({A.sizes[-2]}x"
            f"{A.sizes[-1]} and {B.sizes[-2]}x{B.sizes[-1]})"
        )
    check_one_dtype("linalg.solve_triangular", A, B)
    return _linalg_solve_triangular(*same_batch(A, B), upper, unitriangular)


@composite(methods=True)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """torch.triangular_solve, the older form of linalg.solve_triangular."""
    matrix = A.transpose(-2, -1) if transpose else A
    solved = linalg_solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return return_types.triangular_solve(solved, A.mT.clone(memory_format=contiguous_format).mT)


@composite(torch=False)
def linalg_pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None, atol: Any = None) -> Any:
    """The Moore-Penrose inverse of each matrix (..., m, n): (..., n, m).

    rtol, atol: numbers, or tensors of one. Singular values up to rtol times the largest, or to atol, count as 0. rtol
    is max(m, n) * eps unless one of them is given. rcond: an older name of rtol. hermitian: `A` is its own adjoint,
    which the result doesn't need to be told.
    """
    limit = rcond if rtol is None else rtol
    if limit is None and atol is not None and float(atol) > 0:
        limit = 0.0
    return _linalg_pinv(A, None if limit is None else float(limit), 0.0 if atol is None else float(atol))


@composite(methods=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """torch.pinverse, the older name of linalg.pinv."""
    return linalg_pinv(input, rcond)


@composite(torch=False)
def linalg_lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X of smallest norm that minimises |A X - B|, with residuals, the rank of A and its singular values.

    As in PyTorch the residuals are there only for a full-rank A with more rows than columns, and the singular values
    only for the drivers "gelss" and "gelsd".
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"linalg.lstsq: driver should be one of (gels, gelsy, gelsd, gelss), got {driver}")
    vectors = len(B.sizes) == len(A.sizes) - 1
    right = B.unsqueeze(-1) if vectors else B
    solution = matmul(linalg_pinv(A, rcond), right)
    values, rank = linalg_svdvals(detach(A)), linalg_matrix_rank(detach(A), rtol=rcond)
    m, n = A.sizes[-2:]
    empty = full((0,), 0.0, A.dtype)
    full_rank = m > n and not values.is_fake and bool((rank == n).all())
    residuals = sum((matmul(A, solution) - right) ** 2, -2) if full_rank and driver != "gelsy" and driver else empty
    return return_types.linalg_lstsq(
        solution.squeeze(-1) if vectors else solution,
        residuals,
        rank if driver != "gels" else full((0,), 0, int64),
        values if driver in ("gelss", "gelsd") else empty,
    )


# ------------------------------------------------------------------------------------------------ determinant and rank


@composite(methods=True)
def det(input: Tensor) -> Any:
    """The determinant of each square matrix (..., n, n).

    >>> torch.det(torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(6.)
    """
    return linalg_det(input)


@composite(torch=False)
def linalg_slogdet(A: Tensor) -> Any:
    """(sign, logabsdet): the determinant is sign * exp(logabsdet), also where it would overflow."""
    return return_types.linalg_slogdet(*_linalg_slogdet(A))


@composite(methods=True)
def slogdet(input: Tensor) -> Any:
    """torch.slogdet, the older name of linalg.slogdet."""
    return return_types.slogdet(*_linalg_slogdet(input))


@composite(methods=True)
def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant of each square matrix: NaN where that is negative, unless it is complex.

    >>> torch.logdet(torch.tensor([[2.0, 0.0], [0.0, 3.0]]))
    tensor(1.7918)
    """
    sign, logarithm = _linalg_slogdet(input)
    if input.dtype.is_complex:
        return log(sign) + logarithm
    return where(sign == -1, full((), math.nan, input.dtype), logarithm)


@composite(torch=False)
def linalg_matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """How many singular values are above max(atol, rtol * largest): int64. rtol is max(m, n) * eps unless given."""
    A = detach(A)
    values = abs(linalg_eigvalsh(A)) if hermitian else linalg_svdvals(A)
    if values.sizes[-1] == 0:
        return full(tuple(values.sizes[:-1]), 0, int64)
    absolute = tol if tol is not None else (0.0 if atol is None else atol)
    relative = rtol
    if relative is None:
        given = tol is not None or atol is not None
        relative = 0.0 if given else max(A.sizes[-2:]) * finfo(A.dtype).eps
    limit = amax(values, -1, True) * relative
    return sum(to_copy(values > limit.clamp(min=absolute), int64), -1)


@composite(torch=False)
def linalg_cond(A: Tensor, p: Any = None) -> Any:
    """The condition number: the norm of A times that of its inverse; for p = None or 2, by singular values."""
    if p in (None, 2, -2):
        values = linalg_svdvals(A)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return linalg_matrix_norm(A, p) * linalg_matrix_norm(linalg_inv(A), p)


# ------------------------------------------------------------------------------------------------------------ products


@composite(torch=False)
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonal of each matrix: a view."""
    return diagonal(A, offset, dim1, dim2)


@composite(torch=False)
def linalg_vander(x: Tensor, *, N: int | None = None) -> Any:
    """The powers 0, 1, ..., N - 1 of each number, as many as there are numbers unless given."""
    count = x.sizes[-1] if N is None else N
    if count <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {count}")
    ones = full((*x.sizes, 1), 1, x.dtype)
    powers = cumprod(x.unsqueeze(-1).expand((*x.sizes, count - 1)), -1)
    return cat([ones, powers if powers.dtype is x.dtype else to_copy(powers, x.dtype)], -1)


@composite(torch=False)
def linalg_householder_product(A: Tensor, tau: Tensor) -> Any:
    """The first columns of the product of reflections 1 - tau_i v_i v_i^H; below the diagonal A has the v_i."""
    m, n = A.sizes[-2:]
    if m < n or tau.sizes[-1] > n:
        raise RuntimeError(f"linalg.householder_product: expected A with rows >= columns >= tau, got {list(A.sizes)}")
    product = eye(m, dtype=A.dtype).expand((*A.sizes[:-2], m, m))
    vectors = tril(A, -1) + eye(m, n, dtype=A.dtype)
    for i in range(tau.sizes[-1]):
        v = vectors[..., i : i + 1]
        product = product - tau[..., i : i + 1].unsqueeze(-1) * matmul(matmul(product, v), adjoint(v))
    return product[..., :n].mT.contiguous().mT  # column by column, as LAPACK leaves it


@composite(torch=False)
def linalg_multi_dot(tensors: Sequence[Any]) -> Any:
    """The product of matrices, in the order of multiplication that takes the fewest operations; the first and the last
    may be vectors."""
    matrices = list(tensors)
    if len(matrices) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(matrices)}")
    row, column = len(matrices[0].sizes) == 1, len(matrices[-1].sizes) == 1
    if row:
        matrices[0] = matrices[0].unsqueeze(0)
    if column:
        matrices[-1] = matrices[-1].unsqueeze(-1)
    product = _multiplied(matrices, _best_splits([m.sizes[0] for m in matrices] + [matrices[-1].sizes[1]]), 0)
    return product.squeeze(tuple([0] * row + [-1] * column)) if row or column else product


def _best_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """For each run of factors first ... last, after which one to split: the matrix chain problem of every textbook."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            costs = {
                at: cost[first, at] + cost[at + 1, last] + sizes[first] * sizes[at + 1] * sizes[last + 1]
                for at in range(first, last)
            }
            split[first, last] = min(costs, key=costs.__getitem__)
            cost[first, last] = costs[split[first, last]]
    return split


def _multiplied(matrices: Sequence[Any], split: dict[tuple[int, int], int], first: int) -> Any:
    if len(matrices) == 1:
        return matrices[0]
    at = split[first, first + len(matrices) - 1] - first + 1
    return matmul(_multiplied(matrices[:at], split, first), _multiplied(matrices[at:], split, first + at))


@composite(methods=True)
def matrix_exp(input: Tensor) -> Any:
    """The sum of A^k / k! of each matrix."""
    return linalg_matrix_exp(input)


@composite(torch=False)
def linalg_tensorinv(A: Tensor, ind: int = 2) -> Any:
    """The inverse of a tensor as the matrix that its first `ind` dimensions and the rest make."""
    if ind <= 0:
        raise RuntimeError(f"linalg.tensorinv: expected a strictly positive integer for ind, got {ind}")
    rows, columns = tuple(A.sizes[:ind]), tuple(A.sizes[ind:])
    if numel(rows) != numel(columns):
        raise RuntimeError(f"linalg.tensorinv: expected sizes {rows} and {columns} to have the same product")
    return reshape(linalg_inv(reshape(A, (numel(rows), -1))), (*columns, *rows))


@composite(torch=False)
def linalg_tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Any:
    """The X with tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        moved = [d % len(A.sizes) for d in dims]
        A = A.permute((*[d for d in range(len(A.sizes)) if d not in moved], *moved))
    unknown = tuple(A.sizes[len(B.sizes) :])
    matrix = reshape(A, (numel(B.sizes), numel(unknown)))
    return reshape(linalg_solve(matrix, reshape(B, (-1,))), unknown)
