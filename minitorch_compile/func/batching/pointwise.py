"""Pointwise operations on a batch: they broadcast, so it is enough that the dimensions of an example line up.

>>> import minitorch_compile as torch
>>> torch.func.vmap(lambda row, number: row * number)(torch.ones(2, 3), torch.tensor([1.0, 10.0]))
tensor([[ 1.,  1.,  1.],
        [10., 10., 10.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch, with_ones
from minitorch_compile.func.batching.rules import batching_rule, for_kind
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.pointwise_op import WherePointwiseOp


def aligned(batch: Batch, x: Any, ndim: int) -> Any:
    """A batched tensor as (batch, 1, ..., sizes) with `ndim` dimensions behind the batch; anything else as it is."""
    return with_ones(x.value, ndim - x.dim()) if batch.holds(x) else x


@for_kind("pointwise")
def pointwise(batch: Batch, op: Op, *bound: Any) -> Any:
    """Examples that are numbers take part in promotion as such: those of a batch would count as a vector."""
    ndim = max(x.dim() for x in bound if isinstance(x, Tensor))
    values = [aligned(batch, x, ndim) for x in bound]
    if ndim > 0:
        _convert_numbers(batch, op, bound, values)
    return op(*values)


def _convert_numbers(batch: Batch, op: Any, bound: tuple[Any, ...], values: list[Any]) -> None:
    first = 1 if isinstance(op, WherePointwiseOp) else 0  # a condition keeps its dtype
    for position in op.tensor_parameters[first:]:
        x = bound[position]
        if batch.holds(x) and x.dim() == 0:
            common = op.common_dtype(bound)
            if x.dtype is not common:
                values[position] = ops.to_copy(values[position], common)


@batching_rule("complex")
def of_parts(batch: Batch, op: Op, real: Any, imag: Any) -> Any:
    ndim = max(real.dim(), imag.dim())
    return op(aligned(batch, real, ndim), aligned(batch, imag, ndim))


@batching_rule("clone", "contiguous_copy", "to_copy", "fill", "view_dtype")
def copied(batch: Batch, op: Op, input: Any, *rest: Any) -> Any:
    """A copy of the batch; a memory format is about the dimensions of an example, so it can't be kept."""
    if op.name == "clone":
        return op(input.value)
    return op(input.value, rest[0]) if rest else op(input.value)


@batching_rule("to_device")
def transferred(batch: Batch, op: Op, input: Any, device: Any, non_blocking: bool) -> Any:
    return op(input.value, device, non_blocking)


@batching_rule("copy")
def stored(batch: Batch, op: Op, input: Any, src: Any, non_blocking: bool) -> Any:
    ndim = max(input.dim(), src.dim())
    return op(batch.spread(input), aligned(batch, src, ndim))
