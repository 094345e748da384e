"""torch.svd_lowrank and torch.pca_lowrank: the largest singular values, by products with a few random vectors.

>>> from minitorch_compile.tensor import manual_seed, ops
>>> _ = manual_seed(0)
>>> x = ops.matmul(ops.randn(8, 2), ops.randn(2, 5))  # of rank 2
>>> U, S, V = svd_lowrank(x, q=2)
>>> bool(ops.allclose(U * S @ V.mT, x, atol=1e-5)), tuple(U.shape), tuple(V.shape)
(True, (8, 2), (5, 2))

Source: Halko, Martinsson, Tropp, "Finding structure with randomness", 2009, algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import ops

Triple = tuple[Any, Any, Any]


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Triple:
    """(U, S, V) with U diag(S) V^H near A - M, if that has a rank of about q or less.

    niter: how often the random vectors are multiplied by A^H A; more is more exact. ValueError for q or niter below 0.
    """
    A = A if M is None else A - M.broadcast_to(A.shape)
    if A.shape[-2] < A.shape[-1]:
        V, S, U = svd_lowrank(A.mH, q, niter)
        return U, S, V
    basis = _approximate_basis(A, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = ops.linalg_svd(basis.mH @ A, full_matrices=False)
    return basis @ U, S, Vh.mH


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Triple:
    """The q principal components of the rows of A as columns of V, with their singular values; by default 6 at most.

    center: subtract the mean of the rows first. ValueError unless 0 <= q <= min(sizes) and niter >= 0.
    """
    rows, columns = A.shape[-2:]
    q = min(6, rows, columns) if q is None else q
    if not 0 <= q <= min(rows, columns):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def _approximate_basis(A: Any, q: int, niter: int) -> Any:
    """Orthonormal columns that span most of what the columns of A span."""
    if q < 0 or niter < 0:
        raise ValueError(f"q and niter must be non-negative integers, got {q} and {niter}")
    basis = ops.linalg_qr(A @ ops.randn(A.shape[-1], q, dtype=A.dtype, device=A.device))[0]
    for _ in range(niter):
        across = ops.linalg_qr(A.mH @ basis)[0]
        basis = ops.linalg_qr(A @ across)[0]
    return basis
