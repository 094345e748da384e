"""geqrf: the QR factorization as LAPACK keeps it, one reflection a column.

>>> from minitorch_compile.tensor import tensor
>>> a, tau = geqrf(tensor([[3.0, 1.0], [4.0, 2.0]]))
>>> a
tensor([[-5.0000, -2.2000],
        [ 0.5000,  0.4000]])

Source: G. Golub and C. Van Loan, "Matrix Computations", section 5.2; LAPACK's xGEQR2 and xLARFG.
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.adjoint import adjoint
from minitorch_compile.tensor.ops.complex_numbers import conj, imag, real
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import full
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.matrix_kernels import check_matrix
from minitorch_compile.tensor.ops.norms import linalg_vector_norm
from minitorch_compile.tensor.ops.pointwise import where


@composite(methods=True)
def geqrf(input: Tensor) -> Any:
    """The QR factorization as LAPACK keeps it, as a pair `(a, tau)`: R on and above the diagonal of `a`, and below it
    the vectors v_i, whose first number is 1, of the reflections 1 - tau_i v_i v_i^H whose product is Q.

    RuntimeError for what is no matrix, or no batch of matrices, of floats.

    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> a, tau
    (tensor([[-5.0000],
            [ 0.5000]]), tensor([1.6000]))
    """
    check_matrix("geqrf", input)
    m, n = input.sizes[-2:]
    block, corners, taus = input, list[tuple[Any, Any]](), []
    for _ in range(min(m, n)):
        beta, below, tau = _reflection(block[..., 0])
        v = cat([full((*below.sizes[:-1], 1), 1, below.dtype), below], -1).unsqueeze(-1)
        block = block - conj(tau).unsqueeze(-1) * matmul(v, matmul(adjoint(v), block))
        corners.append((cat([beta, below], -1), block[..., :1, 1:]))
        block = block[..., 1:, 1:]
        taus.append(tau)
    for column, row in reversed(corners):
        block = cat([column.unsqueeze(-1), cat([row, block], -2)], -1)
    tau = cat(taus, -1) if taus else full((*input.sizes[:-2], 0), 0, input.dtype)
    return return_types.geqrf(block.mT.contiguous().mT, tau)  # column by column, as LAPACK leaves it


def _reflection(x: Any) -> tuple[Any, Any, Any]:
    """The reflection of vectors x onto their first axis: how long they are there, v without its 1, and tau; tau is 0
    for one that lies there already."""
    alpha, tail = x[..., :1], x[..., 1:]
    lies_there = (tail == 0).all(-1, keepdim=True)
    first = real(alpha) if x.dtype.is_complex else alpha
    if x.dtype.is_complex:
        lies_there = lies_there & (imag(alpha) == 0)
    largest = linalg_vector_norm(x, math.inf, -1, True)
    scale = where((largest > 0) & (largest < math.inf), largest, 1).detach()  # squares may leave the range of floats
    length = linalg_vector_norm(x / scale, 2, -1, True) * scale
    beta = where(lies_there, first, where(first < 0, length, -length))
    divisor = where(lies_there, 1, beta)
    tau = where(lies_there, 0, (beta - alpha) / divisor)
    return to_copy(beta, x.dtype), tail / where(lies_there, 1, alpha - beta), tau
