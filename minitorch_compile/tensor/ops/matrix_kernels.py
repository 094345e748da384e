"""Linear algebra on stacks of matrices: the kernels, which are LAPACK's through NumPy and SciPy.

What people call is in `linear_algebra.py` and `factorizations.py`; the names with an underscore are only for those.
Results lie in column-major order, as LAPACK and PyTorch leave them.

>>> from minitorch_compile.tensor import tensor
>>> linalg_inv(tensor([[2.0, 0.0], [0.0, 4.0]]))
tensor([[0.5000, 0.0000],
        [0.0000, 0.2500]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from minitorch_compile.tensor.dispatch.declare import kernel_op
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype, int32, int64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]


class LinAlgError(RuntimeError):
    """A matrix that the algorithm has no answer for: a singular one, one that is not positive-definite, ..."""


# ---------------------------------------------------------------------------------------------------------- the rules


def column_major(sizes: Sequence[int], element: dtype) -> TensorBase:
    """A fake stack of matrices whose columns are contiguous."""
    *batch, rows, columns = sizes
    strides = list(contiguous_strides((*batch, columns, rows)))
    strides[-2:] = reversed(strides[-2:])
    return empty_fake(tuple(sizes), tuple(strides), element)


def check_matrix(name: str, input: TensorBase) -> None:
    """RuntimeError unless `input` is a stack of matrices of float32, float64 or complex numbers."""
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}(): argument 'A' (position 1) must be Tensor, not {type(input).__name__}")
    if len(input.sizes) < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions, got sizes {list(input.sizes)}")
    if input.dtype.category < FLOATING:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {input.dtype}")
    if input.dtype.itemsize < 4:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {input.dtype}; convert with .float()")


def check_square(name: str, input: TensorBase) -> None:
    """The same, and the matrices must be square."""
    check_matrix(name, input)
    rows, columns = input.sizes[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices")


def each_matrix(function: Callable[..., Any], *stacks: Array) -> list[Any]:
    """`function` of the matrices at each place of some stacks, as a list with a stack for each of its results."""
    batch = stacks[0].shape[:-2]
    flat = [stack.reshape(-1, *stack.shape[-2:]) for stack in stacks]
    results = [function(*matrices) for matrices in zip(*flat, strict=True)]
    return [np.stack(parts).reshape((*batch, *np.shape(parts[0]))) for parts in zip(*results, strict=True)]


def lapack(name: str, element: np.dtype) -> Callable[..., Any]:
    """LAPACK's routine for elements of this type: each has four, with a letter for the type in front."""
    return getattr(scipy.linalg.lapack, {"f": "s", "d": "d", "F": "c", "D": "z"}[element.char] + name)


def failed(name: str, routine: str, text: str, A: Array, **options: Any) -> LinAlgError:
    """The error that names the first matrix that LAPACK's routine fails for, and where it does."""
    for number, matrix in enumerate(A.reshape(-1, *A.shape[-2:])):
        code = lapack(routine, A.dtype)(matrix, **options)[-1]
        if code > 0:
            return LinAlgError(f"{name}: {f'(Batch element {number}): ' * (A.ndim > 2)}{text.format(code)}")
    return LinAlgError(f"{name}: {text.format('?')}")


SINGULAR = "The solver failed because the input matrix is singular."
NO_INVERSE = (
    "The diagonal element {0} is zero, the inversion could not be completed because the input matrix is singular."
)
NOT_DEFINITE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order"
    " {0} is not positive-definite)."
)


# ----------------------------------------------------------------------------------------------------- inverse, solve


@kernel_op("linalg", torch=False, rows=True)
def linalg_inv(A: Array) -> Array:
    """The inverse of each matrix. LinAlgError for a singular one."""
    try:
        return np.linalg.inv(A)
    except np.linalg.LinAlgError:
        raise failed("linalg.inv", "getrf", NO_INVERSE, A) from None


@linalg_inv.shape_rule
def _inv_rule(A: TensorBase) -> TensorBase:
    check_square("linalg.inv", A)
    return column_major(A.sizes, A.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_solve(A: Array, B: Array) -> Array:
    """The X with A X = B, for stacks of the same length. LinAlgError for a singular A."""
    try:
        return np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        raise failed("torch.linalg.solve", "getrf", SINGULAR, A) from None


@_linalg_solve.shape_rule
def _solve_rule(A: TensorBase, B: TensorBase) -> TensorBase:
    check_square("linalg.solve", A)
    if A.dtype is not B.dtype:
        raise RuntimeError(f"linalg.solve: Expected A and B to have the same dtype, but found {A.dtype} and {B.dtype}")
    return column_major(B.sizes, B.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_solve_triangular(A: Array, B: Array, upper: bool, unitriangular: bool) -> Array:
    """The X with A X = B, where A is triangular: its other half is not looked at. Infinite where A is singular."""

    def substitute(a: Array, b: Array) -> tuple[Array]:
        if not b.size:
            return (b,)
        if not unitriangular and (np.diagonal(a) == 0).any():
            return (_divided_by_zero(a, b, upper),)
        return (lapack("trtrs", a.dtype)(a, b, lower=not upper, unitdiag=unitriangular)[0],)

    return each_matrix(substitute, A, B)[0] if B.size else B.copy()


def _divided_by_zero(a: Array, b: Array, upper: bool) -> Array:
    """Substitution row by row, which divides by the zeros of the diagonal and gives inf and nan, as LAPACK does."""
    x = b.astype(np.result_type(a, b))
    order = range(len(a))[::-1] if upper else range(len(a))
    for i in order:
        others = a[i, i + 1 :] @ x[i + 1 :] if upper else a[i, :i] @ x[:i]
        x[i] = (x[i] - others) / a[i, i]
    return x


@_linalg_solve_triangular.shape_rule
def _solve_triangular_rule(A: TensorBase, B: TensorBase, upper: bool, unitriangular: bool) -> TensorBase:
    check_square("linalg.solve_triangular", A)
    return column_major(B.sizes, B.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_pinv(A: Array, rtol: float | None, atol: float = 0.0) -> Array:
    """The Moore-Penrose inverse; singular values up to atol, or to rtol times the largest, count as 0."""
    if not A.size:
        return np.zeros_like(np.swapaxes(A, -2, -1))
    u, s, vh = np.linalg.svd(A.conj(), full_matrices=False)
    relative = max(A.shape[-2:]) * np.finfo(A.dtype).eps if rtol is None else rtol
    counts = s > np.maximum(relative * s[..., :1], atol)
    inverse = np.divide(1, s, where=counts, out=np.zeros_like(s))
    return np.asarray(np.swapaxes(vh, -2, -1) @ (inverse[..., np.newaxis] * np.swapaxes(u, -2, -1)))


@_linalg_pinv.shape_rule
def _pinv_rule(A: TensorBase, rtol: float | None, atol: float = 0.0) -> TensorBase:
    check_matrix("linalg.pinv", A)
    return empty_fake((*A.sizes[:-2], A.sizes[-1], A.sizes[-2]), None, A.dtype)


# -------------------------------------------------------------------------------------------------------- determinants


@kernel_op("linalg", torch=False, rows=True)
def linalg_det(A: Array) -> Array:
    """The determinant of each matrix."""
    return np.asarray(np.linalg.det(A), A.dtype)


@linalg_det.shape_rule
def _det_rule(A: TensorBase) -> TensorBase:
    check_square("linalg.det", A)
    return empty_fake(A.sizes[:-2], None, A.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_slogdet(A: Array) -> tuple[Array, ...]:
    """The determinant's sign and the logarithm of its absolute value."""
    sign, logarithm = np.linalg.slogdet(A)
    return np.asarray(sign, A.dtype), np.asarray(logarithm, np.zeros((), A.dtype).real.dtype)


@_linalg_slogdet.shape_rule
def _slogdet_rule(A: TensorBase) -> tuple[TensorBase, TensorBase]:
    check_square("linalg.slogdet", A)
    return empty_fake(A.sizes[:-2], None, A.dtype), empty_fake(A.sizes[:-2], None, A.dtype.to_real())


@kernel_op("linalg", torch=False, rows=True)
def linalg_matrix_exp(A: Array) -> Array:
    """The sum of A^k / k! of each matrix."""
    return np.asarray(scipy.linalg.expm(A), A.dtype) if A.size else A.copy()


@linalg_matrix_exp.shape_rule
def _matrix_exp_rule(A: TensorBase) -> TensorBase:
    check_square("linalg.matrix_exp", A)
    return empty_fake(A.sizes, None, A.dtype)


# ------------------------------------------------------------------------------------------------------ factorizations


@kernel_op("linalg", torch=False, rows=True)
def _linalg_cholesky(A: Array, upper: bool) -> Array:
    """The lower triangular L with A = L L^H, or the upper one with A = U^H U; only that half of A is looked at."""
    try:
        return np.linalg.cholesky(A, upper=upper)
    except np.linalg.LinAlgError:
        raise failed("linalg.cholesky", "potrf", NOT_DEFINITE, A, lower=not upper) from None


@_linalg_cholesky.shape_rule
def _cholesky_rule(A: TensorBase, upper: bool) -> TensorBase:
    check_square("linalg.cholesky", A)
    return column_major(A.sizes, A.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _failing_minor(A: Array, upper: bool) -> Array:
    """The order of the first leading minor of each matrix that is not positive-definite; 0 if all are."""
    if not A.size:
        return np.zeros(A.shape[:-2], np.int32)
    potrf = lapack("potrf", A.dtype)
    return each_matrix(lambda a: (np.int32(potrf(a, lower=not upper)[1]),), A)[0]


@_failing_minor.shape_rule
def _failing_minor_rule(A: TensorBase, upper: bool) -> TensorBase:
    check_square("linalg.cholesky", A)
    return empty_fake(A.sizes[:-2], None, int32)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_qr(A: Array, complete: bool) -> tuple[Array, ...]:
    """Q with orthonormal columns and R upper triangular, A = Q R."""
    return tuple(np.linalg.qr(A, "complete" if complete else "reduced"))


@_linalg_qr.shape_rule
def _qr_rule(A: TensorBase, complete: bool) -> tuple[TensorBase, TensorBase]:
    check_matrix("linalg.qr", A)
    *batch, m, n = A.sizes
    k = m if complete else min(m, n)
    return column_major((*batch, m, k), A.dtype), column_major((*batch, k, n), A.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_svd(A: Array, full_matrices: bool) -> tuple[Array, ...]:
    """A = U diag(S) Vh with orthonormal U and Vh, S falling. LinAlgError for nan and inf."""
    try:
        return tuple(np.linalg.svd(A, full_matrices))
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        ) from None


@_linalg_svd.shape_rule
def _svd_rule(A: TensorBase, full_matrices: bool) -> tuple[TensorBase, TensorBase, TensorBase]:
    check_matrix("linalg.svd", A)
    *batch, m, n = A.sizes
    k = min(m, n)
    left, right = (m, n) if full_matrices else (k, k)
    values = empty_fake((*batch, k), None, A.dtype.to_real())
    return column_major((*batch, m, left), A.dtype), values, column_major((*batch, right, n), A.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_eigh(A: Array, upper: bool) -> tuple[Array, ...]:
    """Rising eigenvalues and orthonormal eigenvectors of Hermitian matrices; only one half of each is looked at."""
    try:
        return tuple(np.linalg.eigh(A, "U" if upper else "L"))
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg.eigh: The algorithm failed to converge because the input is not finite.") from None


@_linalg_eigh.shape_rule
def _eigh_rule(A: TensorBase, upper: bool) -> tuple[TensorBase, TensorBase]:
    check_square("linalg.eigh", A)
    return empty_fake(A.sizes[:-1], None, A.dtype.to_real()), column_major(A.sizes, A.dtype)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_eig(A: Array) -> tuple[Array, ...]:
    """Eigenvalues and eigenvectors of norm 1, always complex."""
    element = np.result_type(A.dtype, np.complex64)
    try:
        values, vectors = np.linalg.eig(A)
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg.eig: The algorithm failed to converge because the input is not finite.") from None
    return values.astype(element), vectors.astype(element)


@_linalg_eig.shape_rule
def _eig_rule(A: TensorBase) -> tuple[TensorBase, TensorBase]:
    check_square("linalg.eig", A)
    element = A.dtype.to_complex()
    return empty_fake(A.sizes[:-1], None, element), column_major(A.sizes, element)


@kernel_op("linalg", torch=False, rows=True)
def _linalg_lu_factor(A: Array) -> tuple[Array, ...]:
    """L (below the diagonal, which is 1) and U in one matrix, and for each row the one it was swapped with, from 1."""
    k = min(A.shape[-2:])
    if not A.size:
        return A.copy(), np.zeros((*A.shape[:-2], k), np.int32)
    factors, pivots = each_matrix(lambda a: lapack("getrf", a.dtype)(a)[:2], A)
    return factors, (pivots + 1).astype(np.int32)


@_linalg_lu_factor.shape_rule
def _lu_factor_rule(A: TensorBase) -> tuple[TensorBase, TensorBase]:
    check_matrix("linalg.lu_factor", A)
    pivots = empty_fake((*A.sizes[:-2], min(A.sizes[-2:])), None, int32)
    return column_major(A.sizes, A.dtype), pivots


@kernel_op("linalg", torch=False, rows=True)
def _permutation_of_pivots(pivots: Array, rows: int) -> Array:
    """The order of rows that successive swaps lead to: row i of the result is row order[i] of the original."""
    order = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    for step in range(pivots.shape[-1]):
        other = pivots[..., step, None].astype(np.int64) - 1
        here, there = order[..., step, None].copy(), np.take_along_axis(order, other, -1)
        order[..., step, None] = there
        np.put_along_axis(order, other, here, -1)
    return order


@_permutation_of_pivots.shape_rule
def _permutation_rule(pivots: TensorBase, rows: int) -> TensorBase:
    return empty_fake((*pivots.sizes[:-1], rows), None, int64)
