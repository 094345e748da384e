"""What LAPACK does, as prims; and inverses, determinants and the like as what follows from a factorization.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> [node.target.name for node in decomposed(ops.linalg_inv, empty_fake((2, 2))).find_nodes(op="call_function")][-1]
'solve'
"""

from __future__ import annotations

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes, refuses
from minitorch_compile.prims.elementwise import broadcast_to, number_like
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import int32


@decomposes(ops._linalg_solve)
def _(a: Tensor, b: Tensor) -> Tensor:
    """The prim."""
    return prims.solve(a, b)


@decomposes(ops._linalg_solve_triangular)
def _(a: Tensor, b: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    """The prim."""
    return prims.solve_triangular(a, b, upper, unitriangular)


@decomposes(ops.linalg_inv)
def _(a: Tensor) -> Tensor:
    """The x with a x = 1."""
    return prims.solve(a, broadcast_to(ops.eye(a.sizes[-1], dtype=a.dtype), a.sizes))


@decomposes(ops.linalg_matrix_exp)
def _(a: Tensor) -> Tensor:
    """The prim."""
    return prims.matrix_exp(a)


@decomposes(ops._linalg_cholesky)
def _(a: Tensor, upper: bool) -> Tensor:
    """The prim; of the adjoint, and its adjoint, where the upper half counts."""
    return _adjoint(prims.cholesky(_adjoint(a))) if upper else prims.cholesky(a)


@decomposes(ops._linalg_qr)
def _(a: Tensor, complete: bool) -> tuple[Tensor, Tensor]:
    """The prim."""
    return prims.qr(a, complete)


@decomposes(ops._linalg_svd)
def _(a: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The prim."""
    return prims.svd(a, full_matrices)


@decomposes(ops._linalg_eigh)
def _(a: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """The prim."""
    return prims.eigh(a, upper)


@decomposes(ops._linalg_eig)
def _(a: Tensor) -> tuple[Tensor, Tensor]:
    """The prim."""
    return prims.eig(a)


@decomposes(ops._linalg_lu_factor)
def _(a: Tensor) -> tuple[Tensor, Tensor]:
    """The prim."""
    return prims.lu_factor(a)


@decomposes(ops._permutation_of_pivots)
def _(pivots: Tensor, rows: int) -> Tensor:
    """The prim."""
    return prims.permutation_of_pivots(pivots, rows)


@decomposes(ops._linalg_pinv)
def _(a: Tensor, rtol: float | None, atol: float = 0.0) -> Tensor:
    """V diag(1 / S) U^H, without the singular values that are next to nothing beside the largest."""
    if 0 in a.sizes:
        return prims.full((*a.sizes[:-2], a.sizes[-1], a.sizes[-2]), 0, a.dtype)
    from minitorch_compile.tensor.numerics.numeric_limits import finfo

    u, s, vh = prims.svd(a, False)
    limit = max(a.sizes[-2:]) * finfo(a.dtype.to_real()).eps if rtol is None else rtol
    counts = s > ops.clamp(ops.amax(s, -1, True) * limit, atol)
    inverse = ops.where(counts, ops.reciprocal(ops.where(counts, s, 1.0)), 0.0)
    return ops.matmul(_adjoint(vh) * ops.unsqueeze(inverse, -2), _adjoint(u))


@decomposes(ops.linalg_det)
def _(a: Tensor) -> Tensor:
    """The product of the diagonal of U, and the other sign for each swap of rows."""
    factors, pivots = prims.lu_factor(a)
    return ops.prod(ops.diagonal(factors, 0, -2, -1), -1) * _sign_of_swaps(pivots, a)


@decomposes(ops._linalg_slogdet)
def _(a: Tensor) -> tuple[Tensor, Tensor]:
    """The signs of the diagonal of U multiplied, their logarithms added."""
    factors, pivots = prims.lu_factor(a)
    diagonal = ops.diagonal(factors, 0, -2, -1)
    size = ops.abs(diagonal)
    signs = ops.where(size == 0, number_like(diagonal, 0), diagonal / ops.where(size == 0, number_like(size, 1), size))
    return ops.prod(signs, -1) * _sign_of_swaps(pivots, a), ops.sum(ops.log(size), -1)


def _sign_of_swaps(pivots: Tensor, like: Tensor) -> Tensor:
    """-1 for an odd number of rows that were swapped with another."""
    swapped = ops.ne(pivots, ops.arange(1, pivots.sizes[-1] + 1, dtype=int32))
    return ops.to_copy(1 - 2 * (ops.sum(swapped, -1) % 2), like.dtype)


def _adjoint(a: Tensor) -> Tensor:
    """The transposed matrices, of conjugate numbers."""
    turned = ops.transpose(a, -2, -1)
    return ops.conj_physical(turned) if a.dtype.is_complex else turned


refuses(
    ops._linalg_ldl,
    ops._linalg_ldl_solve,
    ops._failing_minor,
    because="an algorithm whose steps depend on the numbers that it meets; PyTorch keeps LAPACK's call whole as well",
)
