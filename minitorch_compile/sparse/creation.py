"""Making sparse tensors: of indices and values, or of an ordinary tensor.

>>> from minitorch_compile import tensor
>>> to_sparse(tensor([[0.0, 1.0], [2.0, 0.0]]))
tensor(indices=tensor([[0, 1],
                       [1, 0]]),
       values=tensor([1., 2.]),
       size=(2, 2), nnz=2, layout=torch.sparse_coo)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.sparse.sparse_tensor import CooTensor, CsrTensor
from minitorch_compile.tensor import Tensor, as_tensor, ops
from minitorch_compile.tensor.dispatch.written_signatures import says
from minitorch_compile.tensor.memory.memory_format import sparse_coo, sparse_csr
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.tensor_base import wrap


@says(
    "(indices, values, size=None, *, dtype=None, device=None, requires_grad=False, check_invariants=None,"
    " is_coalesced=None)"
)
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> CooTensor:
    """Entries at coordinates: `indices` has a row for each sparse dimension. Without them, all is zero.

    RuntimeError for indices beyond the size or counts that differ.
    """
    if values is None:  # sparse_coo_tensor(size)
        size = tuple(indices if indices is not None else size or ())
        indices, values = ops.zeros((len(size), 0), dtype=int64), ops.zeros((0,), dtype=dtype)
    indices, values = _indices(indices), _values(values, dtype)
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.sizes)}")
    if values.ndim == 0 or indices.sizes[1] != values.sizes[0]:
        count = values.sizes[0] if values.ndim else 1
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices:"
            f" {indices.sizes[1]}, nnz from values: {count}"
        )
    largest = indices.array.max(axis=1, initial=-1) + 1
    if size is None:
        size = (*(int(n) for n in largest), *values.sizes[1:])
    if len(size) != indices.sizes[0] + values.ndim - 1:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({indices.sizes[0]}) + dense_dim ({values.ndim - 1}), but got"
            f" {len(size)}"
        )
    for dim, (needed, given) in enumerate(zip(largest, size)):
        if needed > given:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {given} but found index {needed - 1}"
            )
    if indices.array.size and indices.array.min() < 0:
        raise RuntimeError("found negative index " + str(int(indices.array.min())) + " for dim 0")
    made = CooTensor(indices, values, size, bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> CsrTensor:
    """A matrix row by row. RuntimeError where rows don't begin at 0, run backwards, or end elsewhere than the entries
    do, and for columns beyond the size."""
    rows, columns, values = _indices(crow_indices), _indices(col_indices), _values(values, dtype)
    if rows.ndim != 1 or columns.ndim != 1 or values.ndim != 1:
        raise RuntimeError("sparse_csr_tensor: crow_indices, col_indices and values must have one dimension each")
    if rows.array[0] != 0 or rows.array[-1] != columns.sizes[0] or columns.sizes[0] != values.sizes[0]:
        raise RuntimeError(
            f"sparse_csr_tensor: crow_indices must go from 0 to the number of entries; it goes from"
            f" {int(rows.array[0])} to {int(rows.array[-1])}, and there are {columns.sizes[0]} columns and"
            f" {values.sizes[0]} values"
        )
    if size is None:
        size = (rows.sizes[0] - 1, int(columns.array.max(initial=-1)) + 1)
    if len(size) != 2:
        raise RuntimeError(f"sparse_csr_tensor: size must be that of a matrix, got {list(size)}")
    height, width = size
    if rows.sizes[0] != height + 1 or np.any(np.diff(rows.array) < 0):
        raise RuntimeError(
            f"sparse_csr_tensor: crow_indices must be {height + 1} numbers that don't get smaller, for {height} rows"
        )
    if columns.array.size and (columns.array.min() < 0 or columns.array.max() >= width):
        raise RuntimeError(f"sparse_csr_tensor: col_indices must be from 0 to {width - 1}, for {width} columns")
    made = CsrTensor(rows, columns, values, size)
    return made.requires_grad_() if requires_grad else made


def _indices(given: Any) -> Any:
    return as_tensor(given).detach().to(int64)


def _values(given: Any, dtype: Any) -> Any:
    values = as_tensor(given) if dtype is None else as_tensor(given, dtype=dtype)
    return ops.reshape(values, (1,)) if values.ndim == 0 else values


def to_sparse(
    self: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Any:
    """The elements that are not zero, by coordinates; with `sparse_dim`, the parts that are not all zero."""
    if layout is sparse_csr:
        return to_sparse_csr(self)
    if blocksize is not None or dense_dim is not None:
        raise NotImplementedError(
            "to_sparse: blocksize and dense_dim are for layouts that are not here; leave them out"
        )
    if layout not in (None, sparse_coo):
        raise NotImplementedError(
            f"to_sparse: layout must be torch.sparse_coo or torch.sparse_csr, got {layout}; what is by columns in x is"
            " by rows in x.t()"
        )
    count = self.ndim if sparse_dim is None else sparse_dim
    if not 0 <= count <= self.ndim or (count == 0 and self.ndim):
        raise RuntimeError(f"to_sparse: sparse_dim must be between 1 and {self.ndim}, got {count}")
    array = self.detach().array
    wanted = array.reshape(*array.shape[:count], -1).any(axis=-1) if count < self.ndim else array != 0
    places = np.nonzero(wanted)
    indices = wrap(np.array(places, np.int64).reshape(count, -1))
    values = ops.index(self, [wrap(np.ascontiguousarray(place, np.int64)) for place in places])
    return CooTensor(indices, values, self.sizes, True)


def to_sparse_coo(self: Tensor) -> CooTensor:
    """The elements that are not zero, by coordinates."""
    return to_sparse(self)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> CsrTensor:
    """The elements of a matrix that are not zero, row by row."""
    if self.ndim != 2:
        raise RuntimeError(f"to_sparse_csr: expected a matrix, got sizes {list(self.sizes)}")
    return to_sparse(self).to_sparse_csr()
