"""Sparse tensors in files and pickles: their parts, of which they are made anew, with all checks.

>>> import copy
>>> from minitorch_compile import sparse_coo_tensor
>>> s = sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 3))
>>> parts_of(s)
[tensor([[0, 1],
        [1, 0]]), tensor([2., 3.]), torch.Size([2, 3]), False, False]
>>> copy.copy(s).to_dense()
tensor([[0., 2., 0.],
        [3., 0., 0.]])

PyTorch's files have the same parts in the same order, without the last: whether gradients are wanted.

Source: _rebuild_sparse_tensor of torch/_utils.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.serialization.allowed_names import allow_call
from minitorch_compile.serialization.checked_tensor import check_differentiable, counts
from minitorch_compile.serialization.data_kinds import Parted, register_parted
from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.sparse.creation import sparse_coo_tensor, sparse_csr_tensor
from minitorch_compile.sparse.sparse_tensor import CooTensor, CsrTensor, SparseTensor
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.memory_format import layout, sparse_coo, sparse_csr
from minitorch_compile.tensor.memory.strides import numel

LAYOUTS = {str(kind): kind for kind in (sparse_coo, sparse_csr)}
MOST_REPEATED = 1 << 20  # indices that needn't be in the file one by one: each is looked at
INDICES = {sparse_coo: 1, sparse_csr: 2}  # how many tensors of indices come before the values


def parts_of(s: Any) -> list[Any]:
    """The indices, the values without their history, the sizes, for coordinates whether each place has one entry, and
    whether gradients are wanted."""
    if isinstance(s, CooTensor):
        return [s._indices(), s._values().detach(), s.size(), s.is_coalesced(), s.requires_grad]
    return [s.crow_indices(), s.col_indices(), s.values().detach(), s.size(), s.requires_grad]


def made_of(kind: layout, parts: Sequence[Any]) -> SparseTensor:
    """The tensor of these parts. UnreadableFileError, or RuntimeError, for what none has."""
    count = INDICES[kind]
    *indices, values, sizes = parts[: count + 2]
    if any(type(x) is not Tensor or x.is_fake for x in (*indices, values)):
        raise refuse("the indices or values of a sparse tensor are no tensors")
    if any(numel(n or 1 for n in x.sizes) > max(len(x.storage), MOST_REPEATED) for x in indices):
        raise refuse("the indices of a sparse tensor are a few that are repeated without end")
    sizes = counts("sizes", tuple(sizes))
    made: Any
    if kind is sparse_coo:
        is_coalesced = parts[3] if len(parts) > 3 else False  # older files don't say
        made = sparse_coo_tensor(indices[0], values, sizes, is_coalesced=is_coalesced)
        if is_coalesced and np.any(np.diff(made.flat_places) <= 0):
            raise refuse("a sparse tensor is said to be coalesced, but its places are not in order")
    else:
        made = sparse_csr_tensor(indices[0], indices[1], values, sizes)
    wants_gradients = parts[-1] if len(parts) == count + 3 + (kind is sparse_coo) else False
    return made.requires_grad_() if check_differentiable(values.dtype, wants_gradients) else made


def rebuild(kind: Any, parts: Any) -> SparseTensor:
    """torch._utils._rebuild_sparse_tensor"""
    if kind not in INDICES:
        raise refuse(f"the file holds a tensor of the layout {kind}; of the sparse ones there are {', '.join(LAYOUTS)}")
    return made_of(kind, parts)


def layout_named(name: Any) -> layout:
    """torch.serialization._get_layout"""
    if name not in LAYOUTS:
        raise refuse(f"the file holds a tensor of the layout {name!r:.100}; here are {', '.join(LAYOUTS)}")
    return LAYOUTS[name]


def _reduced(s: Any, protocol: Any) -> tuple[Any, ...]:
    return rebuild, (s.kind, parts_of(s))


SparseTensor.__reduce_ex__ = _reduced  # type: ignore[method-assign]
register_parted("sparse_coo", Parted(CooTensor, parts_of, lambda parts: made_of(sparse_coo, parts)))
register_parted("sparse_csr", Parted(CsrTensor, parts_of, lambda parts: made_of(sparse_csr, parts)))
allow_call("torch._utils._rebuild_sparse_tensor", rebuild)
allow_call("torch.serialization._get_layout", layout_named)
