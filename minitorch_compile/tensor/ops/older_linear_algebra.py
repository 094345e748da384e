"""Parts of factorizations under the names that LAPACK gave them: what `torch.lu`, `geqrf` and their like are used with.

>>> from minitorch_compile.tensor import ops, tensor
>>> A = tensor([[0.0, 2.0], [4.0, 6.0]])
>>> P, L, U = lu_unpack(*ops.linalg_lu_factor(A))
>>> P @ L @ U
tensor([[0., 2.],
        [4., 6.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.numerics.dtype import int32
from minitorch_compile.tensor.ops import return_types
from minitorch_compile.tensor.ops.adjoint import adjoint
from minitorch_compile.tensor.ops.contraction import matmul
from minitorch_compile.tensor.ops.creation import full
from minitorch_compile.tensor.ops.error_codes import linalg_lu_factor_ex
from minitorch_compile.tensor.ops.factorizations import unpacked_factors
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.linear_algebra import linalg_householder_product
from minitorch_compile.tensor.ops.norms import linalg_matrix_norm, linalg_vector_norm
from minitorch_compile.tensor.ops.triangles import tril


class _lu_with_info(NamedTuple):
    LU: Any
    pivots: Any
    infos: Any


@composite(methods=True)
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """(LU, pivots) of `A`, as linalg.lu_factor gives them, of singular matrices as well; with `get_infos` also which
    element of U's diagonal is zero, counted from 1. The older form of linalg.lu_factor_ex; `pivot` must be True.

    >>> LU, pivots = torch.lu(torch.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> LU, pivots
    (tensor([[4., 6.],
            [0., 2.]]), tensor([2, 2], dtype=torch.int32))
    """
    found = linalg_lu_factor_ex(A, pivot=pivot)
    return _lu_with_info(*found) if get_infos else tuple(found[:2])


@composite()
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """(P, L, U) of what `torch.linalg.lu_factor` returns; empty tensors for what is not asked for."""
    if LU_pivots.dtype is not int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. Note: this function"
            " is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    P, L, U = unpacked_factors(LU_data, LU_pivots)
    nothing = full((0,), 0, LU_data.dtype)
    return return_types.lu_unpack(P if unpack_pivots else nothing, *((L, U) if unpack_data else (nothing, nothing)))


@composite(methods=True)
def orgqr(input: Tensor, input2: Tensor) -> Any:
    """torch.linalg.householder_product, by LAPACK's name."""
    return linalg_householder_product(input, input2)


@composite(methods=True)
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Any:
    """Q @ other (or other @ Q, if not `left`), where Q is the whole product of the reflections in `input` and `tau`;
    its adjoint if `transpose`."""
    rows = input.sizes[-2]
    missing = rows - input.sizes[-1]
    whole = tril(input, -1)
    if missing:
        whole = cat([whole, full((*input.sizes[:-1], missing), 0, input.dtype)], -1)
    Q = linalg_householder_product(whole, tau)
    Q = adjoint(Q) if transpose else Q
    return matmul(Q, other) if left else matmul(other, Q)


@composite()
def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Any:
    """The root of the sum of squares, along some dimensions or all."""
    dims = dim if isinstance(dim, int) or len(dim) else None
    return linalg_vector_norm(input, 2, dims, keepdim)


@composite()
def nuclear_norm(input: Tensor, dim: Sequence[int] | bool = (-2, -1), keepdim: bool = False) -> Any:
    """The sum of the singular values of matrices. A bool in place of `dim` is `keepdim`."""
    if isinstance(dim, bool):
        return linalg_matrix_norm(input, "nuc", (-2, -1), dim)
    return linalg_matrix_norm(input, "nuc", tuple(dim), keepdim)
