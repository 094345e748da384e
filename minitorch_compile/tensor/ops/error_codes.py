"""Factorizations that say in numbers where they failed, `linalg.inv_ex` and its like: `info` is 0 for each matrix, or
counts from 1 at which step it had no way on. What stands in the result of such a matrix says nothing.

>>> from minitorch_compile.tensor import tensor
>>> A = tensor([[[2.0, 0.0], [0.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]]])
>>> linalg_inv_ex(A).info, linalg_lu_factor_ex(A).info
(tensor([0, 2], dtype=torch.int32), tensor([0, 2], dtype=torch.int32))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.numerics.dtype import int32
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.checked_values import checked
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import arange, eye, full
from minitorch_compile.tensor.ops.matrix_kernels import (
    NO_INVERSE,
    NOT_DEFINITE,
    SINGULAR,
    LinAlgError,
    _failing_minor,
    _linalg_cholesky,
    _linalg_lu_factor,
    check_square,
    linalg_inv,
)
from minitorch_compile.tensor.ops.pointwise import where
from minitorch_compile.tensor.ops.reduction import amin
from minitorch_compile.tensor.ops.triangles import tril, triu
from minitorch_compile.tensor.ops.view import diagonal, unsqueeze

ZERO_PIVOT = (
    "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the"
    " factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


def zero_pivot(factors: Any) -> Any:
    """The first zero on the diagonal of U, counted from 1, of what LU factorization gives; 0 if there is none."""
    zeros = diagonal(factors, 0, -2, -1) == 0
    count = zeros.sizes[-1]
    if count == 0:
        return full(tuple(zeros.sizes[:-1]), 0, int32)
    first = amin(where(zeros, arange(1, count + 1), count + 1), -1)
    return to_copy(where(first > count, 0, first), int32)


def without_failure(value: Any, info: Any, name: str, text: str, error: type[Exception] = LinAlgError) -> Any:
    """`value`, if `info`, which has a number for each of its items or rows, is 0 everywhere; else the error. It names
    the first matrix that failed."""
    if not info.is_fake:
        codes = info.array.reshape(-1)
        failed = codes.nonzero()[0]
        if len(failed):
            which = f"(Batch element {failed[0]}): " if info.sizes else ""
            raise error(f"{name}: {which}{text.format(codes[failed[0]])}")
        return value
    fine = info == 0
    return checked(value, fine if len(value.sizes) == len(info.sizes) else unsqueeze(fine, -1).expand(value.sizes))


def _regular(A: Any, info: Any) -> Any:
    """The matrices; the identity in place of those that failed."""
    return where(_for_matrices(info) == 0, A, eye(A.sizes[-1], dtype=A.dtype))


def _for_matrices(info: Any) -> Any:
    return unsqueeze(unsqueeze(info, -1), -1)


def factored(A: Any, pivot: bool) -> Any:
    """(LU, pivots). NotImplementedError without pivots."""
    if not pivot:
        raise NotImplementedError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU: leave pivot=False out"
        )
    return _linalg_lu_factor(A)


@composite(torch=False)
def linalg_lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """(LU, pivots, info): as linalg.lu_factor; info counts from 1 the first zero on the diagonal of U, or is 0."""
    factors, pivots = factored(A, pivot)
    info = zero_pivot(factors)
    if check_errors:
        info = without_failure(info, info, "torch.linalg.lu_factor_ex", ZERO_PIVOT, RuntimeError)
    return return_types.linalg_lu_factor_ex(factors, pivots, info)


@composite(torch=False)
def linalg_inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """(inverse, info): as linalg.inv; info counts from 1 the first zero on the diagonal of U in A = P L U, or is 0."""
    check_square("linalg.inv", A)
    info = zero_pivot(_linalg_lu_factor(A)[0])
    if check_errors:
        info = without_failure(info, info, "linalg.inv_ex", NO_INVERSE)
    inverse = where(_for_matrices(info) == 0, linalg_inv(_regular(A, info)), float("inf"))
    return return_types.linalg_inv_ex(inverse, info)


@composite(torch=False)
def linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """(result, info): as linalg.solve; info counts from 1 the first zero on the diagonal of U in A = P L U, or is 0."""
    from minitorch_compile.tensor.ops.linear_algebra import linalg_solve

    check_square("linalg.solve", A)
    info = zero_pivot(_linalg_lu_factor(A)[0])
    if check_errors:
        info = without_failure(info, info, "torch.linalg.solve_ex", SINGULAR)
    solved = linalg_solve(_regular(A, info), B, left=left)
    vectors = len(solved.sizes) == len(A.sizes) - 1
    is_solved = (unsqueeze(info, -1) if vectors else _for_matrices(info)) == 0
    return return_types.linalg_solve_ex(where(is_solved, solved, float("inf")), info)


@composite(torch=False)
def linalg_cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """(L, info): as linalg.cholesky; info is the order of the first leading minor that is not positive, or 0."""
    check_square("linalg.cholesky", A)
    info = _failing_minor(A, upper)
    if check_errors:
        info = without_failure(info, info, "linalg.cholesky_ex", NOT_DEFINITE)
    found = _linalg_cholesky(_regular(A, info), upper)
    return return_types.linalg_cholesky_ex(where(_for_matrices(info) == 0, found, triu(A) if upper else tril(A)), info)
