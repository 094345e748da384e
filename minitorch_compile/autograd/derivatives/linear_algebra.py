"""Derivatives of linear algebra, in the mathematics' own letters: G is the incoming gradient, A^H the adjoint of A.

>>> from minitorch_compile.tensor import ops, tensor
>>> from minitorch_compile.autograd import grad
>>> A = tensor([[2.0, 0.0], [0.0, 4.0]], requires_grad=True)
>>> grad(ops.linalg_det(A), A)              # the matrix of cofactors
(tensor([[4., 0.],
        [0., 2.]]),)

Source: Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); for rectangular matrices and the pseudo-inverse, worked out from the same differentials.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.autograd.derivative_table import (
    Gradients,
    Layout,
    Unused,
    derivative,
    not_differentiable,
)
from minitorch_compile.tensor import Tensor, is_grad_enabled, ops
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.ops.adjoint import adjoint
from minitorch_compile.tensor.ops.factorizations import unpacked_factors

not_differentiable(ops._permutation_of_pivots, ops._failing_minor, because="whole numbers")


def _scaled_rows(A: Any, factors: Any) -> Any:
    """diag(factors) A."""
    return A * ops.unsqueeze(factors, -1)


def _scaled_columns(A: Any, factors: Any) -> Any:
    """A diag(factors)."""
    return A * ops.unsqueeze(factors, -2)


def _identity(like: Any) -> Any:
    """The identity of the size of a square matrix."""
    return ops.eye(like.sizes[-1], dtype=like.dtype)


def _diagonal_matrix(values: Any) -> Any:
    return _scaled_rows(_identity_of(values), values)


def _identity_of(values: Any) -> Any:
    return ops.eye(values.sizes[-1], dtype=values.dtype)


# ------------------------------------------------------------------------------------------------------ inverse, solve


@derivative(ops.linalg_inv)
def _(G: Tensor, Y: Tensor, A: Unused) -> Gradients:
    """dY = -Y dA Y."""
    return -(adjoint(Y) @ G @ adjoint(Y))


@derivative(ops._linalg_solve)
def _(G: Tensor, X: Tensor, A: Tensor, B: Unused) -> Gradients:
    """A dX = dB - dA X."""
    by_right = ops._linalg_solve(adjoint(A), G)
    return lambda: -(by_right @ adjoint(X)), by_right


@derivative(ops._linalg_solve_triangular)
def _(G: Tensor, X: Tensor, A: Tensor, B: Unused, upper: bool, unitriangular: bool) -> Gradients:
    """The same, and what lies outside of the triangle has no say."""
    by_right = ops._linalg_solve_triangular(adjoint(A), G, not upper, unitriangular)

    def by_left() -> Any:
        dense = -(by_right @ adjoint(X))
        return ops.triu(dense, int(unitriangular)) if upper else ops.tril(dense, -int(unitriangular))

    return by_left, by_right


@derivative(ops._linalg_pinv)
def _(G: Tensor, P: Tensor, A: Tensor, rtol: float | None, atol: float = 0.0) -> Gradients:
    """dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P."""
    Ph, Gh = adjoint(P), adjoint(G)
    inner = Gh @ P @ Ph
    outer = Ph @ P @ Gh
    return -(Ph @ G @ Ph) + (inner - A @ (P @ inner)) + (outer - outer @ P @ A)


# -------------------------------------------------------------------------------------------------------- determinants


@derivative(ops.linalg_det)
def _(G: Tensor, det: Tensor, A: Tensor) -> Gradients:
    """The matrix of cofactors: det(A) A^-H, or, where A is singular, from the singular values."""
    G, conjugate = ops.unsqueeze(ops.unsqueeze(G, -1), -1), ops.unsqueeze(ops.unsqueeze(ops.conj(det), -1), -1)
    if det.is_fake:  # a graph has no branch: what is right for every matrix, unless derivatives of it are wanted
        use_cofactors = not is_grad_enabled()
    else:
        use_cofactors = not stacks.modes and bool((det.array == 0).any())
    if use_cofactors:
        return G * _cofactors(A)
    return G * conjugate * adjoint(ops.linalg_inv(A))


def _cofactors(A: Any) -> Any:
    """det(U) det(Vh) U diag(product of the other singular values) Vh, conjugated as the gradient is."""
    u, s, vh = ops._linalg_svd(A, True)
    count = s.sizes[-1]
    hidden = ops.where(ops.eye(count, dtype=s.dtype) == 1, ops.full((), 1.0, s.dtype), ops.unsqueeze(s, -2))
    others = ops.prod(hidden, -1)
    sign = ops.linalg_det(ops.detach(u)) * ops.linalg_det(ops.detach(vh))
    return ops.unsqueeze(ops.unsqueeze(ops.conj(sign), -1), -1) * (_scaled_columns(u, others) @ vh)


@derivative(ops._linalg_slogdet)
def _(G: tuple[Tensor, Tensor], out: tuple[Tensor, Unused], A: Tensor) -> Gradients:
    """d log|det A| = Re w and d sign = i sign Im w, with w = tr(A^-1 dA), which is real for real matrices."""
    by_sign, by_log = G
    by_trace = 0 if by_log is None else by_log
    if by_sign is not None and A.dtype.is_complex:
        by_trace = by_trace - 1j * ops.imag(ops.conj(by_sign) * out[0])
    if not isinstance(by_trace, Tensor):
        return ops.zeros_like(A)
    return ops.unsqueeze(ops.unsqueeze(by_trace, -1), -1) * adjoint(ops.linalg_inv(A))


@derivative(ops.linalg_matrix_exp)
def _(G: Tensor, out: Unused, A: Tensor) -> Gradients:
    """exp of [[A^H, G], [0, A^H]] has the gradient in its upper right corner."""
    n, Ah = A.sizes[-1], adjoint(A)
    blocks = ops.cat([ops.cat([Ah, G], -1), ops.cat([ops.zeros_like(Ah), Ah], -1)], -2)
    return ops.linalg_matrix_exp(blocks)[..., :n, n:]


# ------------------------------------------------------------------------------------------------------ factorizations


@derivative(ops._linalg_cholesky)
def _(G: Tensor, L: Tensor, A: Unused, upper: bool) -> Gradients:
    """L^-H phi(L^H G) L^-1, made Hermitian; phi takes the lower triangle and half of the diagonal."""
    if upper:
        G, L = adjoint(G), adjoint(L)
    phi = _half_diagonal(ops.tril(adjoint(L) @ G))
    left = ops._linalg_solve_triangular(adjoint(L), phi, True, False)
    both = adjoint(ops._linalg_solve_triangular(adjoint(L), adjoint(left), True, False))
    return (both + adjoint(both)) / 2


def _half_diagonal(A: Any) -> Any:
    return A * (1 - _identity(A) / 2)


@derivative(ops._linalg_qr)
def _(G: tuple[Tensor, Tensor], out: tuple[Tensor, Tensor], A: Tensor, complete: bool) -> Gradients:
    (Q, R), (m, n) = out, A.sizes[-2:]
    if complete and m > n:
        raise NotImplementedError(
            "linalg.qr: with mode='complete' and more rows than columns, Q has columns that A does not determine; use"
            " mode='reduced'"
        )
    by_q = ops.zeros_like(Q) if G[0] is None else G[0]
    by_r = ops.zeros_like(R) if G[1] is None else G[1]
    if m >= n:
        return _through_qr(by_q, by_r, Q, R)
    # A = [X Y] and R = [U V]: Q and U factorize X, and V = Q^H Y.
    beyond = by_r[..., m:]
    by_x = _through_qr(by_q + A[..., m:] @ adjoint(beyond), by_r[..., :m], Q, R[..., :m])
    return ops.cat([by_x, Q @ beyond], -1)


def _through_qr(by_q: Any, by_r: Any, Q: Any, R: Any) -> Any:
    """(gQ + Q sym(M)) R^-H with M = R gR^H - gQ^H Q, whose lower triangle is mirrored."""
    M = R @ adjoint(by_r) - adjoint(by_q) @ Q
    lower = _half_diagonal(ops.tril(M))
    mirrored = lower + adjoint(lower)
    return adjoint(ops._linalg_solve_triangular(R, adjoint(by_q + Q @ mirrored), True, False))


@derivative(ops._linalg_svd)
def _(
    G: tuple[Tensor, Tensor, Tensor], out: tuple[Tensor, Tensor, Tensor], A: Layout, full_matrices: bool
) -> Gradients:
    """Infinite where two singular values are equal, unless only S has a gradient."""
    (by_u, by_s, by_vh), (U, S, Vh) = G, out
    k = S.sizes[-1]
    U, Vh = U[..., :k], Vh[..., :k, :]
    inner = ops.zeros_like(_diagonal_matrix(S)) if by_s is None else _diagonal_matrix(by_s)
    outside: list[Any] = []
    squares = ops.square(S)
    gaps = ops.unsqueeze(squares, -2) - ops.unsqueeze(squares, -1) + _identity_of(S)
    if by_u is not None:
        by_u = by_u[..., :k]
        inner = inner + _scaled_columns(_skew(adjoint(U) @ by_u) / gaps, S)
        if U.sizes[-2] > k:
            outside.append(_scaled_columns(by_u - U @ (adjoint(U) @ by_u), 1 / S) @ Vh)
    if by_vh is not None:
        by_vh = by_vh[..., :k, :]
        inner = inner + _scaled_rows(_skew(Vh @ adjoint(by_vh)) / gaps, S)
        if Vh.sizes[-1] > k:
            outside.append(U @ _scaled_rows(by_vh - (by_vh @ adjoint(Vh)) @ Vh, 1 / S))
    if by_u is not None and U.dtype.is_complex:
        inner = inner + 1j * _scaled_columns(_identity_of(S) * ops.imag(adjoint(U) @ by_u), 1 / S)
    total = U @ ops.to(inner, U.dtype) @ Vh
    for part in outside:
        total = total + part
    return total


def _skew(A: Any) -> Any:
    return A - adjoint(A)


@derivative(ops._linalg_eigh)
def _(G: tuple[Tensor, Tensor], out: tuple[Tensor, Tensor], A: Unused, upper: bool) -> Gradients:
    """V (diag(gL) + V^H gV / (L_j - L_i)) V^H, made Hermitian as A is."""
    (by_values, by_vectors), (values, V) = G, out
    inner = 0 if by_values is None else _diagonal_matrix(by_values)
    if by_vectors is not None:
        gaps = ops.unsqueeze(values, -2) - ops.unsqueeze(values, -1)
        off_diagonal = 1 - _identity_of(values)
        inner = inner + (adjoint(V) @ by_vectors) * off_diagonal / (gaps + _identity_of(values))
    total = V @ ops.to(inner, V.dtype) @ adjoint(V)
    return (total + adjoint(total)) / 2


@derivative(ops._linalg_eig)
def _(G: tuple[Tensor, Tensor], out: tuple[Tensor, Tensor], A: Layout) -> Gradients:
    """V^-H (diag(gL) + (V^H gV - V^H V Re diag(V^H gV)) / conj(L_j - L_i)) V^H: the vectors keep their norm."""
    (by_values, by_vectors), (values, V) = G, out
    inner = 0 if by_values is None else _diagonal_matrix(by_values)
    if by_vectors is not None:
        identity = _identity_of(values)
        turned = adjoint(V) @ by_vectors
        along = ops.sum(ops.real(turned) * ops.real(identity), -1)
        turned = turned - _scaled_columns(adjoint(V) @ V, along)
        gaps = ops.conj(ops.unsqueeze(values, -2) - ops.unsqueeze(values, -1))
        inner = inner + turned * (1 - identity) / (gaps + identity)
    total = ops._linalg_solve(adjoint(V), inner @ adjoint(V))
    return total if A.dtype.is_complex else ops.real(total)


@derivative(ops._linalg_ldl)
def _(G: tuple[Tensor, None, None], out: Unused, A: Unused, hermitian: Any) -> Gradients:
    """None, as in PyTorch."""
    raise NotImplementedError("derivative for linalg_ldl_factor_ex is not implemented, as in PyTorch: use lu_factor")


@derivative(ops._linalg_ldl_solve)
def _(G: Tensor, out: Unused, LD: Unused, pivots: Unused, B: Unused, hermitian: Any) -> Gradients:
    """None, as in PyTorch."""
    raise NotImplementedError("derivative for linalg_ldl_solve is not implemented, as in PyTorch: use linalg.solve")


@derivative(ops._linalg_lu_factor)
def _(G: tuple[Tensor, None], out: tuple[Tensor, Tensor], A: Layout) -> Gradients:
    """P L^-H (strictly lower part of L^H gL + upper part of gU U^H) U^-H, for the square that both factors have.

    Of a tall matrix the lines of L below that square follow from it: their gradients gL' give gL' U^-H there, and take
    L'^H gL' from the upper part. Of a wide one the columns of U beside it, likewise: L^-H gU', and gU' U'^H.
    """
    k = min(A.sizes[-2:])
    permutation, L, U = unpacked_factors(*out)
    lower, upper, by = L[..., :k, :], U[..., :, :k], G[0][..., :k, :k]
    below, beside = G[0][..., k:, :k], G[0][..., :k, k:]
    by_lower = adjoint(lower) @ ops.tril(by, -1) - beside @ adjoint(U[..., :, k:])
    by_upper = ops.triu(by) @ adjoint(upper) - adjoint(L[..., k:, :]) @ below
    inner = ops.cat([ops.tril(by_lower, -1) + ops.triu(by_upper), below], -2)
    inner = adjoint(ops._linalg_solve_triangular(upper, adjoint(inner), True, False))
    top = ops.cat([inner[..., :k, :], beside], -1)
    top = ops._linalg_solve_triangular(adjoint(lower), top, True, True)
    return permutation @ (ops.cat([top, inner[..., k:, :]], -2) if A.sizes[-2] > k else top)
