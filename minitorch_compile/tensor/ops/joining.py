"""Ops that put several tensors together.

>>> from minitorch_compile.tensor import tensor
>>> cat([tensor([1, 2]), tensor([3])]), stack([tensor([1, 2]), tensor([3, 4])], dim=1)
(tensor([1, 2, 3]), tensor([[1, 3],
        [2, 4]]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.declare import composite, kernel_op
from minitorch_compile.tensor.dtype import promote_types
from minitorch_compile.tensor.op import Array, Tensor
from minitorch_compile.tensor.ops.view import unsqueeze
from minitorch_compile.tensor.strides import wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("joining")
def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Tensors one after another along a dimension. RuntimeError if the other sizes differ."""
    element = np.result_type(*tensors) if len({t.dtype for t in tensors}) == 1 else _promoted(tensors)
    return np.concatenate([t.astype(element, copy=False) for t in tensors], axis=dim)


def _promoted(tensors: Sequence[Array]) -> np.dtype:
    from minitorch_compile.tensor.dtype import FROM_NUMPY

    element = FROM_NUMPY[tensors[0].dtype]
    for t in tensors[1:]:
        element = promote_types(element, FROM_NUMPY[t.dtype])
    return element.numpy


@cat.shape_rule
def _cat_rule(tensors: Sequence[TensorBase], dim: int = 0) -> TensorBase:
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise RuntimeError(
            "cat: expected a non-empty list of Tensors"
            if isinstance(tensors, (list, tuple))
            else f"cat: tensors must be a list, got {type(tensors).__name__}"
        )
    first = tensors[0]
    if not first.sizes:
        raise RuntimeError("cat: zero-dimensional tensor (at position 0) cannot be concatenated; use stack")
    at = wrap_dim(dim, len(first.sizes))
    element, total = first.dtype, 0
    for position, t in enumerate(tensors):
        if len(t.sizes) != len(first.sizes) or any(
            a != b for d, (a, b) in enumerate(zip(t.sizes, first.sizes, strict=True)) if d != at
        ):
            raise RuntimeError(
                f"cat: sizes of tensors must match except in dimension {at}: tensor 0 is {list(first.sizes)}, tensor"
                f" {position} is {list(t.sizes)}"
            )
        element = promote_types(element, t.dtype)
        total += t.sizes[at]
    return empty_fake([total if d == at else n for d, n in enumerate(first.sizes)], None, element)


@composite()
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    """Tensors of equal sizes side by side along a new dimension."""
    if not tensors:
        raise RuntimeError("stack: expected a non-empty list of Tensors")
    for position, t in enumerate(tensors):
        if t.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack: expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and"
                f" {list(t.shape)} at entry {position}"
            )
    return cat([unsqueeze(t, dim) for t in tensors], dim)
