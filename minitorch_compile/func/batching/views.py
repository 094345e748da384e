"""Views of a batch: the batch dimension stays in front, and what a view says about an example holds behind it.

>>> import minitorch_compile as torch
>>> torch.func.vmap(lambda x: x.t())(torch.ones(2, 3, 4)).shape
torch.Size([2, 4, 3])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch, with_ones
from minitorch_compile.func.batching.reductions import shifted
from minitorch_compile.func.batching.rules import batching_rule
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.tensor_base import empty_fake


@batching_rule("view")
def view(batch: Batch, op: Op, input: Any, size: Any) -> Any:
    """A missing size is worked out for an example: in an empty batch it could not be."""
    wanted = op.meta(empty_fake(input.sizes), size).sizes
    return op(input.value, (batch.size, *wanted))


@batching_rule("as_strided")
def as_strided(batch: Batch, op: Op, input: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
    """Offsets count from where an example starts."""
    value = input.value
    offset = value.offset + (storage_offset or 0)
    return op(value, (batch.size, *size), (value.strides[0], *stride), offset)


@batching_rule("permute")
def permute(batch: Batch, op: Op, input: Any, dims: Any) -> Any:
    return op(input.value, (0, *shifted(dims, input.dim())) if len(dims) else (0,))


@batching_rule("transpose")
def transpose(batch: Batch, op: Op, input: Any, dim0: int, dim1: int) -> Any:
    if input.dim() == 0:
        return ops.permute(input.value, (0,))
    return op(input.value, shifted(dim0, input.dim())[0], shifted(dim1, input.dim())[0])


@batching_rule("t")
def t(batch: Batch, op: Op, input: Any) -> Any:
    if input.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.dim()}D")
    return (
        ops.transpose(input.value, 1, 2) if input.dim() == 2 else ops.permute(input.value, (*range(input.dim() + 1),))
    )


@batching_rule("expand")
def expand(batch: Batch, op: Op, input: Any, size: Any) -> Any:
    return op(with_ones(input.value, len(size) - input.dim()), (batch.size, *size))


@batching_rule("unsqueeze")
def unsqueeze(batch: Batch, op: Op, input: Any, dim: int) -> Any:
    return op(input.value, shifted(dim, input.dim() + 1)[0])


@batching_rule("squeeze")
def squeeze(batch: Batch, op: Op, input: Any, dim: Any) -> Any:
    if input.dim() == 0:
        return ops.permute(input.value, (0,))
    dims = range(1, input.dim() + 1) if dim is None else shifted(dim, input.dim())
    return op(input.value, tuple(dims))


@batching_rule("select")
def select(batch: Batch, op: Op, input: Any, dim: int, index: int) -> Any:
    return op(input.value, shifted(dim, input.dim())[0], index)


@batching_rule("slice")
def slice_(batch: Batch, op: Op, input: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    return op(input.value, shifted(dim, input.dim())[0], start, end, step)


@batching_rule("detach", "_real_part", "_imaginary_part", "view_as_real", "view_as_complex", "_conj", "_neg_view")
def same(batch: Batch, op: Op, input: Any) -> Any:
    return op(input.value)


@batching_rule("diagonal")
def diagonal(batch: Batch, op: Op, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    return op(input.value, offset, shifted(dim1, input.dim())[0], shifted(dim2, input.dim())[0])


@batching_rule("unfold")
def unfold(batch: Batch, op: Op, input: Any, dimension: int, size: int, step: int) -> Any:
    if input.dim() == 0:
        return op(ops.unsqueeze(input.value, 1), 1, size, step)[:, 0]
    return op(input.value, shifted(dimension, input.dim())[0], size, step)
