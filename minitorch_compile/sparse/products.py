"""Products with a sparse matrix, by SciPy's kernels, with gradients for the values and for the other matrix.

>>> from minitorch_compile import ones, sparse_coo_tensor
>>> s = sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], requires_grad=True)
>>> product = times_dense(s, ones(2, 2))
>>> product
tensor([[2., 2.],
        [3., 3.]], grad_fn=<SparseAddmmBackward>)
>>> product.sum().backward(); s.grad._values()
tensor([2., 2.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.autograd.function import Function
from minitorch_compile.sparse.sparse_tensor import CooTensor, SparseTensor
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import wrap

NARROW = ("float16", "bfloat16", "bool")  # which SciPy has no products of


def as_scipy(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, sizes: Any) -> Any:
    """SciPy's matrix of these entries, row by row."""
    from scipy import sparse  # comes late: a program without sparse tensors need not wait for it

    values = values.astype(np.float32) if values.dtype.name in NARROW else values
    return sparse.csr_matrix((values, (rows, columns)), shape=sizes)


def _by_coordinates(x: Any) -> CooTensor:
    made: CooTensor = x if isinstance(x, CooTensor) else x.to_sparse()
    if len(made.sizes) != 2 or made.sparse_dim() != 2:
        raise RuntimeError(f"mm: expected a matrix without dense dimensions, got sizes {list(made.sizes)}")
    return made


def _check_inner(a: Any, b: Any) -> None:
    if a.sizes[1] != b.sizes[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.sizes[0]}x{a.sizes[1]} and {'x'.join(map(str, b.sizes))})"
        )


class SparseAddmm(Function):
    """(values, dense) -> product, for entries at known places."""

    @staticmethod
    def forward(ctx: Any, values: Any, dense: Any, rows: np.ndarray, columns: np.ndarray, height: int) -> Any:
        ctx.save_for_backward(values, dense)
        ctx.places = rows, columns
        matrix = as_scipy(rows, columns, values.array, (height, dense.sizes[0]))
        other = dense.array.astype(np.float32) if dense.dtype.name in NARROW else dense.array
        return wrap(np.ascontiguousarray(matrix @ other).astype(dense.dtype.numpy))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        values, dense = ctx.saved_tensors
        rows, columns = ctx.places
        of_values = of_dense = None
        if ctx.needs_input_grad[0]:
            left, right = (ops.index_select(x, 0, wrap(p)) for x, p in ((grad, rows), (dense, columns)))
            of_values = ops.sum(left * ops.conj(right), -1)
        if ctx.needs_input_grad[1]:
            of_dense = SparseAddmm.apply(ops.conj(values), grad, columns, rows, dense.sizes[0])
        return of_values, of_dense, None, None, None


def times_dense(sparse: SparseTensor, dense: Any) -> Any:
    """The product of a sparse matrix and an ordinary one."""
    _check_inner(sparse, dense)
    if sparse.dtype is not dense.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {sparse.dtype} != {dense.dtype}")
    x = _by_coordinates(sparse)
    rows, columns = (np.ascontiguousarray(row) for row in x._places.array)
    return SparseAddmm.apply(x._kept, dense, rows, columns, x.sizes[0])


class SparseSparseMatmul(Function):
    """(values, values) -> values of the product, for entries at known places."""

    @staticmethod
    def forward(ctx: Any, left: Any, right: Any, factors: tuple[CooTensor, CooTensor], found: list[Any]) -> Any:
        ctx.save_for_backward(left, right)
        ctx.factors, ctx.found = factors, found
        a, b = factors
        product = (_scipy_of(a, left.array) @ _scipy_of(b, right.array)).tocsr()
        product.sort_indices()
        product = product.tocoo()
        found.extend((product.row.astype(np.int64), product.col.astype(np.int64)))
        return wrap(product.data.astype(left.dtype.numpy))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        left, right = ctx.saved_tensors
        a, b = ctx.factors
        g = as_scipy(ctx.found[0], ctx.found[1], grad.array, (a.sizes[0], b.sizes[1]))
        of_left = (g @ _scipy_of(b, right.array).conj().T).tocsr()
        of_right = (_scipy_of(a, left.array).conj().T @ g).tocsr()
        at = [np.asarray(m[tuple(x._places.array)]).reshape(-1) for m, x in ((of_left, a), (of_right, b))]
        return wrap(at[0].astype(left.dtype.numpy)), wrap(at[1].astype(right.dtype.numpy)), None, None


def _scipy_of(x: CooTensor, values: np.ndarray) -> Any:
    rows, columns = x._places.array
    return as_scipy(rows, columns, values, tuple(x.sizes))


def times_sparse(left: SparseTensor, right: SparseTensor) -> CooTensor:
    """The product of two sparse matrices, which is sparse."""
    _check_inner(left, right)
    a, b = _by_coordinates(left).coalesce(), _by_coordinates(right).coalesce()
    found: list[Any] = []
    values = SparseSparseMatmul.apply(a._kept, b._kept, (a, b), found)
    return CooTensor(wrap(np.stack(found)), values, (a.sizes[0], b.sizes[1]), True)
