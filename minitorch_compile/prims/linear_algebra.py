"""Prims on matrices that are algorithms of LAPACK: factorizations, systems of equations, the exponential.

Each takes stacks of matrices (..., rows, columns) of float32, float64 or complex numbers, and fails with
`torch.linalg.LinAlgError` where there is no answer.

>>> from minitorch_compile.tensor import tensor
>>> cholesky(tensor([[4.0, 2.0], [2.0, 2.0]]))
tensor([[2., 0.],
        [1., 1.]])
>>> factors, pivots = lu_factor(tensor([[0.0, 2.0], [1.0, 3.0]]))
>>> pivots, permutation_of_pivots(pivots, 2)
(tensor([2, 2], dtype=torch.int32), tensor([1, 0]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.prims.prim import ANALYTIC, check_ints, check_tensor, describe, prim, refuse
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Array
from minitorch_compile.tensor.numerics.dtype import int32, int64
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def _check_matrices(name: str, argument: str, value: Any, square: bool) -> None:
    check_tensor(name, argument, value, ANALYTIC)
    if len(value.sizes) < 2 or value.dtype.itemsize < 4:
        raise refuse(name, argument, "matrices of float32, float64 or complex numbers", describe(value))
    if square and value.sizes[-1] != value.sizes[-2]:
        raise refuse(name, argument, "square matrices", describe(value))


def _like(a: TensorBase, *sizes: int) -> TensorBase:
    """A fake stack of other matrices."""
    return empty_fake((*a.sizes[:-2], *sizes), None, a.dtype)


def _same_rule(name: str, a: Any) -> TensorBase:
    _check_matrices(name, "a", a, square=True)
    return empty_fake(a.sizes, None, a.dtype)


@prim("linalg", _same_rule, dtypes="floats, complex", sizes="[..., n, n], as a")
def cholesky(a: Array) -> Array:
    """The lower triangular L with a = L L^H. Only that half of `a` is looked at. It must be positive-definite."""
    return ops._linalg_cholesky.kernel(a, False)


@prim("linalg", _same_rule, dtypes="floats, complex", sizes="[..., n, n], as a")
def matrix_exp(a: Array) -> Array:
    """The sum of a^k / k! over all k."""
    return ops.linalg_matrix_exp.kernel(a)


def _svd_rule(name: str, a: Any, full_matrices: Any) -> tuple[TensorBase, TensorBase, TensorBase]:
    _check_matrices(name, "a", a, square=False)
    m, n = a.sizes[-2:]
    k = min(m, n)
    left, right = (m, n) if full_matrices else (k, k)
    return _like(a, m, left), empty_fake((*a.sizes[:-2], k), None, a.dtype.to_real()), _like(a, right, n)


@prim(
    "linalg",
    _svd_rule,
    dtypes="floats, complex; S is real",
    sizes="[..., m, k], [..., k], [..., k, n] of [..., m, n], with k = min(m, n), or k = m and k = n if full_matrices",
)
def svd(a: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """(U, S, Vh) with a = U diag(S) Vh, orthonormal U and Vh, and real S, falling.

    `full_matrices`: U and Vh are square."""
    return ops._linalg_svd.kernel(a, full_matrices)


def _qr_rule(name: str, a: Any, complete: Any) -> tuple[TensorBase, TensorBase]:
    _check_matrices(name, "a", a, square=False)
    m, n = a.sizes[-2:]
    k = m if complete else min(m, n)
    return _like(a, m, k), _like(a, k, n)


@prim(
    "linalg",
    _qr_rule,
    dtypes="floats, complex",
    sizes="[..., m, k], [..., k, n] of [..., m, n], with k = min(m, n), or k = m if complete",
)
def qr(a: Array, complete: bool) -> tuple[Array, Array]:
    """(Q, R) with a = Q R, orthonormal columns in Q and upper triangular R; Q square if `complete`."""
    return ops._linalg_qr.kernel(a, complete)


def _eigh_rule(name: str, a: Any, upper: Any) -> tuple[TensorBase, TensorBase]:
    _check_matrices(name, "a", a, square=True)
    return empty_fake(a.sizes[:-1], None, a.dtype.to_real()), _like(a, *a.sizes[-2:])


@prim(
    "linalg", _eigh_rule, dtypes="floats, complex; eigenvalues are real", sizes="[..., n], [..., n, n] of [..., n, n]"
)
def eigh(a: Array, upper: bool) -> tuple[Array, Array]:
    """(eigenvalues, rising; eigenvectors, orthonormal columns) of Hermitian matrices; only one half is looked at."""
    return ops._linalg_eigh.kernel(a, upper)


def _eig_rule(name: str, a: Any) -> tuple[TensorBase, TensorBase]:
    _check_matrices(name, "a", a, square=True)
    element = a.dtype.to_complex()
    return empty_fake(a.sizes[:-1], None, element), empty_fake(a.sizes, None, element)


@prim("linalg", _eig_rule, dtypes="floats, complex -> complex", sizes="[..., n], [..., n, n] of [..., n, n]")
def eig(a: Array) -> tuple[Array, Array]:
    """(eigenvalues, eigenvectors: columns of norm 1) of square matrices, always complex."""
    return ops._linalg_eig.kernel(a)


# ------------------------------------------------------------------------------------------ systems of equations


def _lu_rule(name: str, a: Any) -> tuple[TensorBase, TensorBase]:
    _check_matrices(name, "a", a, square=False)
    return _like(a, *a.sizes[-2:]), empty_fake((*a.sizes[:-2], min(a.sizes[-2:])), None, int32)


@prim(
    "linalg", _lu_rule, dtypes="floats, complex; pivots are int32", sizes="[..., m, n], [..., min(m, n)] of [..., m, n]"
)
def lu_factor(a: Array) -> tuple[Array, Array]:
    """L (below the diagonal, which is 1) and U in one matrix; and for each row the one it was swapped with, from 1."""
    return ops._linalg_lu_factor.kernel(a)


def _permutation_rule(name: str, pivots: Any, rows: int) -> TensorBase:
    check_tensor(name, "pivots", pivots)
    check_ints(name, "(rows,)", (rows,), 1)
    if pivots.dtype is not int32 or not pivots.sizes:
        raise refuse(name, "pivots", "int32 numbers of rows, as lu_factor gives", describe(pivots))
    return empty_fake((*pivots.sizes[:-1], rows), None, int64)


@prim("linalg", _permutation_rule, dtypes="int32 -> int64", sizes="[..., rows] of [..., k]")
def permutation_of_pivots(pivots: Array, rows: int) -> Array:
    """The order of rows that successive swaps lead to: row i of the result is row order[i] of the original."""
    return ops._permutation_of_pivots.kernel(pivots, rows)


def _check_system(name: str, a: Any, b: Any) -> TensorBase:
    _check_matrices(name, "a", a, square=True)
    _check_matrices(name, "b", b, square=False)
    if b.dtype is not a.dtype or b.sizes[:-1] != a.sizes[:-1]:
        raise refuse(name, "b", f"of a's dtype and with {a.sizes[-1]} rows, since a is {describe(a)}", describe(b))
    return _like(a, *b.sizes[-2:])


@prim("linalg", _check_system, dtypes="floats, complex", sizes="those of b")
def solve(a: Array, b: Array) -> Array:
    """The x with a x = b."""
    return ops._linalg_solve.kernel(a, b)


def _triangular_rule(name: str, a: Any, b: Any, upper: Any, unitriangular: Any) -> TensorBase:
    return _check_system(name, a, b)


@prim("linalg", _triangular_rule, dtypes="floats, complex", sizes="those of b")
def solve_triangular(a: Array, b: Array, upper: bool, unitriangular: bool) -> Array:
    """The x with a x = b for triangular a, whose other half isn't looked at; nor is its diagonal if `unitriangular`."""
    return ops._linalg_solve_triangular.kernel(a, b, upper, unitriangular)
