"""Reductions, scans and sorting along dimensions: on a batch, each dimension is one further to the right.

>>> import minitorch_compile as torch
>>> torch.func.vmap(lambda x: x.sum(0))(torch.ones(2, 3, 4)).shape
torch.Size([2, 4])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.batching.rules import batching_rule, for_kind
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.dimensions import wrap_dim


def shifted(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions of an example as those of the batch. IndexError for one that an example doesn't have."""
    return tuple(wrap_dim(d, ndim) + 1 for d in ((dim,) if isinstance(dim, int) else dim))


def along(batch: Batch, input: Any, dim: int, compute: Callable[[Any, int], Any]) -> Any:
    """`compute(batch, dimension)` for an op along one dimension; a number counts as a vector of one, as in PyTorch."""
    value = batch.spread(input)
    if input.dim() > 0:
        return compute(value, shifted(dim, input.dim())[0])
    shifted(dim, 1)
    return ops.squeeze(compute(ops.unsqueeze(value, 1), 1), 1)


@for_kind("reduction")
def reduction(batch: Batch, op: Any, input: Any, dim: Any, keepdim: bool, *rest: Any) -> Any:
    """Of a number, nothing is collapsed: the result is a number too, whatever `keepdim` says."""
    if input.dim() == 0:
        op.dims_of(dim, 0)
        return op(ops.unsqueeze(input.value, 1), (1,), False, *rest)
    dims = op.dims_of(dim, input.dim())
    if not dims:
        return op(ops.unsqueeze(input.value, 1), (1,), False, *rest)
    return op(input.value, tuple(d + 1 for d in dims), keepdim, *rest)


@batching_rule("argmax", "argmin")
def extreme_place(batch: Batch, op: Op, input: Any, dim: int | None, keepdim: bool) -> Any:
    if dim is not None and input.dim() > 0:
        return op(input.value, shifted(dim, input.dim())[0], keepdim)
    flat = ops.reshape(input.value, (batch.size, -1))
    place = op(flat, 1)
    return ops.reshape(place, (batch.size, *[1] * input.dim())) if keepdim else place


@batching_rule("softmax", "log_softmax", "cumsum", "cumprod")
def with_dtype(batch: Batch, op: Op, input: Any, dim: int, dtype: Any) -> Any:
    return along(batch, input, dim, lambda value, d: op(value, d, dtype))


@batching_rule("logcumsumexp", "mode_index")
def along_one(batch: Batch, op: Op, input: Any, dim: int) -> Any:
    return along(batch, input, dim, op)


@batching_rule("running_extreme_indices", "median_index")
def with_flag(batch: Batch, op: Op, input: Any, dim: int, flag: bool) -> Any:
    return along(batch, input, dim, lambda value, d: op(value, d, flag))


@batching_rule("argsort")
def sorted_places(batch: Batch, op: Op, input: Any, dim: int, descending: bool, stable: bool) -> Any:
    return along(batch, input, dim, lambda value, d: op(value, d, descending, stable))


@batching_rule("topk_indices")
def largest_places(batch: Batch, op: Op, input: Any, k: int, dim: int, largest: bool) -> Any:
    return along(batch, input, dim, lambda value, d: op(value, k, d, largest))


@batching_rule("searchsorted_places")
def places_in_order(batch: Batch, op: Op, sequence: Any, input: Any, right: bool, sorter: Any) -> Any:
    """One sequence for all, or one for each example: a row for a row."""
    if not batch.holds(sequence) and not batch.holds(sorter) and sequence.dim() == 1:
        return op(sequence, input.value, right, sorter)
    sequences = batch.spread(sequence)
    sorters = None if sorter is None else batch.spread(sorter)
    values = batch.spread(input)
    if sequence.dim() > 1:
        return op(sequences, values, right, sorters)
    places = op(sequences, ops.reshape(values, (batch.size, -1)), right, sorters)
    return ops.reshape(places, values.sizes)


@batching_rule("isin_elements")
def is_in(batch: Batch, op: Op, elements: Any, test_elements: Any) -> Any:
    """One set for all, or one for each example: then every element is compared with every one."""
    if not batch.holds(test_elements):
        return op(elements.value, test_elements)
    values, wanted = batch.spread(elements), ops.reshape(test_elements.value, (batch.size, -1))
    flat = ops.reshape(values, (batch.size, -1))
    found = ops.any(ops.eq(ops.unsqueeze(flat, 2), ops.unsqueeze(wanted, 1)), (2,))
    return ops.reshape(found, values.sizes)


@batching_rule("_fft_c2c")
def transformed(batch: Batch, op: Op, input: Any, dim: Any, norm: str, forward: bool) -> Any:
    return op(input.value, shifted(dim, input.dim()), norm, forward)


@batching_rule("_fft_r2c")
def transformed_reals(batch: Batch, op: Op, input: Any, dim: Any, norm: str) -> Any:
    return op(input.value, shifted(dim, input.dim()), norm)


@batching_rule("_fft_c2r")
def transformed_to_reals(batch: Batch, op: Op, input: Any, dim: Any, norm: str, size: int) -> Any:
    return op(input.value, shifted(dim, input.dim()), norm, size)
