"""Tensors of which only some elements are kept: where they are, and what they are.

A sparse tensor has no memory of its own: `values` is a tensor like any other, and the operations of `operations.py` are
written in operations on it. So gradients come by themselves: they are those of the values.

>>> from minitorch_compile.sparse.creation import sparse_coo_tensor
>>> s = sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3))
>>> s.coalesce()
tensor(indices=tensor([[0, 1],
                       [2, 0]]),
       values=tensor([3., 9.]),
       size=(2, 3), nnz=2, layout=torch.sparse_coo)
>>> s.to_dense()
tensor([[0., 0., 3.],
        [9., 0., 0.]])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.sparse import calls
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.overrides import _disabled_torch_function_impl
from minitorch_compile.tensor.memory.memory_format import layout, sparse_coo, sparse_csr
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.numerics.dtype import bool_, get_default_dtype, int64
from minitorch_compile.tensor.tensor_base import wrap
from minitorch_compile.tensor.tensor_class.printing import autograd_fact, with_facts


class SparseTensor(Tensor):
    """What both layouts have in common: sizes, dtype, and `_kept`, the tensor of the values."""

    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    is_sparse_layout = True
    _kept: Any
    kind: layout
    backend = "SparseCPU"

    def __init__(self, values: Any, sizes: Sequence[int]) -> None:
        calls.stand_there()
        self._kept = values
        self.sizes = Size(sizes)
        self.strides = (0,) * len(self.sizes)
        self.dtype, self.device = values.dtype, values.device

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)

    @property
    def layout(self) -> layout:
        return self.kind

    # ------------------------------------------------------------------------------- what belongs to the values

    @property
    def storage(self) -> Any:
        """That of the values."""
        return self._kept.storage

    @property
    def requires_grad(self) -> bool:
        return bool(self._kept.requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._kept.requires_grad = value

    @property
    def grad_fn(self) -> Any:
        return self._kept.grad_fn

    @property
    def _requires_grad(self) -> bool:  # type: ignore[override]
        return bool(self._kept._requires_grad)

    @property
    def output_index(self) -> int:  # type: ignore[override]
        return int(self._kept.output_index)

    @property
    def accumulator(self) -> Any:
        """Where gradients of the values go."""
        return gradient_edge(self._kept)

    @property
    def is_leaf(self) -> bool:
        return bool(self._kept.is_leaf)

    @property
    def grad(self) -> Any:
        """The gradient: at the same places, that of the values."""
        return None if self._kept.grad is None else self.like(self._kept.grad)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._kept.grad = None if value is None else value._kept

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Asks for gradients of the values."""
        self._kept.requires_grad_(requires_grad)
        return self

    def like(self, values: Any) -> Any:
        """A tensor with other values at the same places."""
        raise NotImplementedError

    def values(self) -> Any:
        """The values that are kept."""
        return self._kept

    def _nnz(self) -> int:
        """How many entries there are."""
        return int(self._kept.sizes[0])

    # ------------------------------------------------------------------------------- what there is no memory for

    @property
    def array(self) -> np.ndarray:
        """There is none."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    @property
    def offset(self) -> int:  # type: ignore[override]
        """There is none, so whoever takes a tensor's memory for its own is refused."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    @property
    def data(self) -> Any:
        """The values without their history, at the same places."""
        return self.like(self._kept.data)

    @data.setter
    def data(self, value: Any) -> None:
        raise NotImplementedError("a sparse tensor's data can't be replaced; make another with sparse_coo_tensor")

    def as_subclass(self, cls: type) -> NoReturn:
        raise NotImplementedError("as_subclass: sparse tensors have no other classes; make one of to_dense()")

    def resize_(self, *sizes: Any, **options: Any) -> NoReturn:
        raise NotImplementedError("resize_: a sparse tensor can't be resized; make another with sparse_coo_tensor")

    def set_(self, *args: Any, **options: Any) -> NoReturn:
        raise NotImplementedError("set_: a sparse tensor has no storage; make another with sparse_coo_tensor")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A tensor of its own at the same places."""
        return self.like(self._kept.detach().clone()).requires_grad_(self.requires_grad)

    def data_ptr(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def untyped_storage(self) -> NoReturn:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl: the entries are indices() and values()")

    def numpy(self, *, force: bool = False) -> NoReturn:
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return False

    def item(self) -> Any:
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.to_dense().item()

    def tolist(self) -> Any:
        return self.to_dense().tolist()

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int:
            return calls.HANDLERS["select"](self, 0, index)
        raise calls.unsupported("index", self)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("Cannot assign to a sparse tensor")

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Another dtype for the values."""
        return self.like(self._kept.to(*args, **kwargs))

    def __repr__(self) -> str:
        return calls.HANDLERS["repr"](self)


class CooTensor(SparseTensor):
    """Coordinates: `indices` has a row for each sparse dimension, and a column for each entry."""

    kind = sparse_coo
    is_sparse = True

    def __init__(self, indices: Any, values: Any, sizes: Sequence[int], is_coalesced: bool = False) -> None:
        super().__init__(values, sizes)
        self._places, self._coalesced = indices, is_coalesced

    def like(self, values: Any) -> CooTensor:
        return CooTensor(self._places, values, self.sizes, self._coalesced)

    def _indices(self) -> Any:
        """Where the entries are, also if some place has several."""
        return self._places

    def _values(self) -> Any:
        """The entries, also if some place has several."""
        return self._kept

    def _sorted(self, what: str) -> None:
        if not self._coalesced:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def indices(self) -> Any:
        """Where the entries are. RuntimeError unless it is coalesced."""
        self._sorted("indices")
        return self._places

    def values(self) -> Any:
        """The entries. RuntimeError unless it is coalesced."""
        self._sorted("values")
        return self._kept

    def is_coalesced(self) -> bool:
        """Whether the entries are in order, one at each place."""
        return self._coalesced

    def sparse_dim(self) -> int:
        """How many dimensions the indices speak of."""
        return int(self._places.sizes[0])

    def dense_dim(self) -> int:
        """How many dimensions an entry has."""
        return self._kept.ndim - 1

    @property
    def flat_places(self) -> np.ndarray:
        """The place of each entry as one number."""
        grid = self.sizes[: self.sparse_dim()]
        if not grid:
            return np.zeros(self._nnz(), np.int64)
        return np.ravel_multi_index(tuple(self._places.array), tuple(grid)) if self._nnz() else np.zeros(0, np.int64)

    def coalesce(self) -> CooTensor:
        """The same with one entry at each place, the sum of those that were there, in order."""
        if self._coalesced:
            return self
        places, which = np.unique(self.flat_places, return_inverse=True)
        grid = tuple(self.sizes[: self.sparse_dim()])
        indices = np.array(np.unravel_index(places, grid) if grid else (), np.int64).reshape(len(grid), len(places))
        empty = ops.zeros((len(places), *self._kept.sizes[1:]), dtype=self.dtype)
        values = ops.index_add(empty, 0, wrap(np.ascontiguousarray(which.reshape(-1), np.int64)), self._kept)
        return CooTensor(wrap(indices), values, self.sizes, True)

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """The same as an ordinary tensor."""
        count = math.prod(self.sizes[: self.sparse_dim()])
        empty = ops.zeros((count, *self._kept.sizes[1:]), dtype=self.dtype)
        filled = ops.index_add(empty, 0, wrap(np.ascontiguousarray(self.flat_places)), self._kept)
        filled = ops.reshape(filled, tuple(self.sizes))
        return filled if dtype is None else filled.to(dtype)

    def to_sparse(self, sparse_dim: int | None = None, *, layout: Any = None, **options: Any) -> Any:
        """Itself, or in the other layout."""
        return self.to_sparse_csr() if layout is sparse_csr else self

    to_sparse_coo = to_sparse

    def to_sparse_csr(self, dense_dim: int | None = None) -> CsrTensor:
        """The matrix row by row. RuntimeError for what is no matrix."""
        if len(self.sizes) != 2 or self.sparse_dim() != 2:
            raise RuntimeError(
                f"to_sparse_csr: expected a matrix without dense dimensions, got sizes {list(self.sizes)}"
            )
        ordered = self.coalesce()
        rows, columns = ordered._places.array
        crow = np.zeros(self.sizes[0] + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=self.sizes[0]), out=crow[1:])
        return CsrTensor(wrap(crow), wrap(columns.copy()), ordered._kept, self.sizes)


class CsrTensor(SparseTensor):
    """A matrix row by row: the columns and values of each row's entries, and where each row begins among them."""

    kind = sparse_csr
    is_sparse_csr = True
    backend = "SparseCsrCPU"

    def __init__(self, crow_indices: Any, col_indices: Any, values: Any, sizes: Sequence[int]) -> None:
        super().__init__(values, sizes)
        self._rows, self._columns = crow_indices, col_indices

    def like(self, values: Any) -> CsrTensor:
        return CsrTensor(self._rows, self._columns, values, self.sizes)

    def crow_indices(self) -> Any:
        """Where each row begins among the entries, and the end of the last."""
        return self._rows

    def col_indices(self) -> Any:
        """The column of each entry."""
        return self._columns

    def to_sparse(self, sparse_dim: int | None = None, *, layout: Any = None, **options: Any) -> Any:
        """By coordinates; itself, if its own layout is asked for."""
        if layout is sparse_csr:
            return self
        rows = np.repeat(np.arange(self.sizes[0]), np.diff(self._rows.array))
        return CooTensor(wrap(np.stack([rows, self._columns.array.astype(np.int64)])), self._kept, self.sizes, True)

    to_sparse_coo = to_sparse

    def to_sparse_csr(self, dense_dim: int | None = None) -> CsrTensor:
        return self

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """The same as an ordinary tensor."""
        return self.to_sparse().to_dense(dtype)


def shown(x: SparseTensor) -> str:
    """The text of a sparse tensor, as PyTorch lays it out."""
    head = "tensor("
    values = x._kept.detach()
    parts = {"values": values}
    if isinstance(x, CooTensor):
        parts = {"indices": x._places, **parts}
    elif isinstance(x, CsrTensor):
        parts = {"crow_indices": x._rows, "col_indices": x._columns, **parts}
    texts = [_indented(name, part, len(head)) for name, part in parts.items()]
    facts = [f"size={tuple(x.sizes)}", f"nnz={x._nnz()}"]
    default = get_default_dtype()
    if x.dtype not in (default, default.to_complex(), int64, bool_):  # those the values tell
        facts.append(f"dtype={x.dtype}")
    facts.append(f"layout={x.layout!r}")
    facts += autograd_fact(x)
    text = head + (",\n" + " " * len(head)).join(texts)
    return with_facts(text, facts, len(head), on_new_line=isinstance(x, CooTensor))


def _indented(name: str, part: Any, indent: int) -> str:
    text = repr(part) if part.numel() else f"tensor([], size={tuple(part.sizes)})"
    for suffix in (f", dtype={part.dtype}",):
        text = text.replace(suffix, "")
    return f"{name}=" + text.replace("\n", "\n" + " " * (indent + len(name) + 1))


calls.HANDLERS["repr"] = shown
