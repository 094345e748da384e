"""Factorizations of matrices: Cholesky, QR, SVD, eigenvectors, LU, as torch.linalg has them, and torch's older names.

>>> from minitorch_compile.tensor import tensor
>>> A = tensor([[4.0, 0.0], [0.0, 9.0]])
>>> linalg_cholesky(A), linalg_svdvals(A), linalg_eigvalsh(A)
(tensor([[2., 0.],
        [0., 3.]]), tensor([9., 4.]), tensor([4., 9.]))
>>> linalg_lu(A).U
tensor([[4., 0.],
        [0., 9.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import int32
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.adjoint import adjoint
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import arange, eye, full
from minitorch_compile.tensor.ops.error_codes import ZERO_PIVOT, factored, without_failure, zero_pivot
from minitorch_compile.tensor.ops.matrix_kernels import (
    _linalg_cholesky,
    _linalg_eig,
    _linalg_eigh,
    _linalg_qr,
    _linalg_solve_triangular,
    _linalg_svd,
    _permutation_of_pivots,
)
from minitorch_compile.tensor.ops.triangles import tril, triu
from minitorch_compile.tensor.ops.view import transpose


def check_one_dtype(name: str, A: Any, B: Any) -> None:
    """RuntimeError unless both have the same dtype: a system of equations is solved in one."""
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: expected A and B to have the same dtype, but A is {A.dtype} and B is {B.dtype};"
            " convert one of them"
        )


# ------------------------------------------------------------------------------------------------------------- Cholesky


@composite(torch=False)
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Any:
    """The lower triangular L with `A` = L L^H, of Hermitian positive-definite matrices (..., n, n); if `upper`, the
    upper one, with A = U^H U.

    LinAlgError for others.

    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return _linalg_cholesky(A, upper)


@composite(methods=True)
def cholesky(input: Tensor, upper: bool = False) -> Any:
    """The lower triangular factor of positive-definite matrices, or the upper one if `upper`: the older name of
    linalg.cholesky.

    >>> torch.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return linalg_cholesky(input, upper=upper)


@composite(methods=True)
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Any:
    """The X with A X = input, where input2 is the Cholesky factor of A."""
    check_one_dtype("cholesky_solve", input2, input)
    L = adjoint(input2) if upper else input2
    L, B = same_batch(L, input)
    inner = _linalg_solve_triangular(L, B, False, False)
    return _linalg_solve_triangular(adjoint(L), inner, True, False)


def same_batch(A: Any, B: Any) -> tuple[Any, Any]:
    """Both expanded to their common leading dimensions."""
    batch = broadcast_sizes(A.sizes[:-2], B.sizes[:-2])
    return A.expand((*batch, *A.sizes[-2:])), B.expand((*batch, *B.sizes[-2:]))


@composite(methods=True)
def cholesky_inverse(L: Tensor, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is L."""
    return cholesky_solve(eye(L.sizes[-1], dtype=L.dtype), L, upper)


# ------------------------------------------------------------------------------------------------------------- QR, SVD


@composite(torch=False)
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """A = Q R with orthonormal columns Q and upper triangular R. mode: "reduced", "complete" (Q square), or "r" (no
    Q)."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode {mode!r} but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    q, r = _linalg_qr(A, mode == "complete")
    return return_types.linalg_qr(full((0,), 0.0, A.dtype) if mode == "r" else q, r)


@composite(methods=True)
def qr(input: Tensor, some: bool = True) -> Any:
    """torch.qr, the older name of linalg.qr."""
    return return_types.qr(*linalg_qr(input, "reduced" if some else "complete"))


@composite(torch=False)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """A = U diag(S) Vh with orthonormal U and Vh and falling S >= 0. `driver` chooses among GPU algorithms: ignored."""
    return return_types.linalg_svd(*_linalg_svd(A, full_matrices))


@composite(torch=False)
def linalg_svdvals(A: Tensor, *, driver: str | None = None) -> Any:
    """The singular values, falling."""
    return _linalg_svd(A, False)[1]


@composite(methods=True)
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """torch.svd, the older form of linalg.svd: it returns V, not its adjoint."""
    u, s, vh = _linalg_svd(input, not some)
    if compute_uv:
        return return_types.svd(u, s, adjoint(vh))
    *batch, m, n = input.sizes
    return return_types.svd(full((*batch, m, m), 0.0, input.dtype), s, full((*batch, n, n), 0.0, input.dtype))


# -------------------------------------------------------------------------------------------------------- eigenvectors


@composite(torch=False)
def linalg_eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Rising eigenvalues and orthonormal eigenvectors of Hermitian matrices, of which one half is read, L or U."""
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return return_types.linalg_eigh(*_linalg_eigh(A, UPLO.upper() == "U"))


@composite(torch=False)
def linalg_eigvalsh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of Hermitian matrices, rising."""
    return linalg_eigh(A, UPLO).eigenvalues


@composite(torch=False)
def linalg_eig(A: Tensor) -> Any:
    """Complex eigenvalues, in no order, and eigenvectors of norm 1 of any square matrices."""
    return return_types.linalg_eig(*_linalg_eig(A))


@composite(torch=False)
def linalg_eigvals(A: Tensor) -> Any:
    """The complex eigenvalues of square matrices, in no order."""
    return _linalg_eig(A)[0]


# ------------------------------------------------------------------------------------------------------------------- LU


@composite(torch=False)
def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """(LU, pivots): L below the diagonal and U above in one matrix, and the swaps of rows, counted from 1.

    RuntimeError if U has a zero on its diagonal; `pivot` must be True.
    """
    factors, pivots = factored(A, pivot)
    checked = without_failure(pivots, zero_pivot(factors), "torch.linalg.lu_factor", ZERO_PIVOT, RuntimeError)
    return return_types.linalg_lu_factor(factors, checked)


@composite(torch=False)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A = P L U: a permutation, a lower triangular matrix with ones on its diagonal, an upper triangular one."""
    return return_types.linalg_lu(*unpacked_factors(*factored(A, pivot)))


def unpacked_factors(factors: Any, pivots: Any) -> tuple[Any, Any, Any]:
    """(P, L, U) of what lu_factor returns."""
    m, n = factors.sizes[-2:]
    k = min(m, n)
    ones = eye(m, k, dtype=factors.dtype)
    order = _permutation_of_pivots(pivots, m)
    permutation = to_copy(order.unsqueeze(-2) == _counting(m), factors.dtype)
    return permutation, tril(factors[..., :, :k], -1) + ones, triu(factors[..., :k, :])


def _counting(count: int) -> Any:
    return arange(count).unsqueeze(-1)


@composite(torch=False)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Any:
    """The X with A X = B (or X A = B if not left), where LU and pivots are what lu_factor made of A."""
    if not left:
        turned = linalg_lu_solve(LU, pivots, _adjoint(B), adjoint=not adjoint)
        return _adjoint(turned)
    if len(B.sizes) < 2:
        raise RuntimeError(
            "linalg.lu_solve: The input tensor B must have at least 2 dimensions, got sizes"
            f" {list(B.sizes)}; unsqueeze it"
        )
    if pivots.dtype is not int32:
        raise RuntimeError(
            "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32, as lu_factor gives it, got"
            f" {pivots.dtype}"
        )
    check_one_dtype("linalg.lu_solve", LU, B)
    order = _permutation_of_pivots(pivots, LU.sizes[-1])
    permutation = to_copy(order.unsqueeze(-2) == _counting(LU.sizes[-1]), LU.dtype)
    LU, B = same_batch(LU, B)
    if adjoint:  # A^H = U^H L^H P^T
        inner = _linalg_solve_triangular(_adjoint(LU), B, False, False)
        return permutation @ _linalg_solve_triangular(_adjoint(LU), inner, True, True)
    inner = _linalg_solve_triangular(LU, transpose(permutation, -2, -1) @ B, False, True)
    return _linalg_solve_triangular(LU, inner, True, False)


_adjoint = adjoint


@composite(methods=True)
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """torch.lu_solve, the older form of linalg.lu_solve."""
    return linalg_lu_solve(LU_data, LU_pivots, b)
