"""What puts elements in order, or finds their place in one: a sort, a search by halves.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.topk_indices, empty_fake((9,)), 2, 0, True).compact())
x -> slice(sort(x, 0, True)[1], (0,), (2,), (1,))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import (
    complex_numbers_have_no_order,
    decomposes,
    refuses,
    refuses_if,
)
from minitorch_compile.prims.elementwise import broadcast_to, converted, number_like, reshaped
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, float64, int64, promote_types


def _only_place(x: Tensor) -> Tensor:
    """Of a 0-d tensor: the first place is the only one."""
    return prims.full(tuple(x.sizes), 0, int64)


@decomposes(ops.argsort)
def _(x: Tensor, dim: int, descending: bool, stable: bool) -> Tensor:
    """The places that the prim gives."""
    return prims.sort(x, wrap_dim(dim, len(x.sizes)), descending)[1] if x.sizes else _only_place(x)


@decomposes(ops.topk_indices)
def _(x: Tensor, k: int, dim: int, largest: bool) -> Tensor:
    """The first of the places in order."""
    return ops.slice(ops.argsort(x, dim, largest, True), dim, 0, k) if x.sizes else _only_place(x)


@decomposes(ops.median_index)
def _(x: Tensor, dim: int, ignore_nan: bool) -> Tensor:
    """The place in the middle of the order; that of the first NaN if there is one, unless they are ignored."""
    if not x.sizes:
        return _only_place(x)
    at = wrap_dim(dim, len(x.sizes))
    places = ops.argsort(x, at, False, True)
    last = x.sizes[at] - 1
    if x.dtype.category < FLOATING:
        return ops.slice(places, at, last // 2, last // 2 + 1)
    nans = ops.isnan(x)
    if ignore_nan:
        middle = ops.clamp(last - ops.sum(nans, at, True), min=0)
        return ops.gather(places, at, ops.div(middle, 2, "floor"))
    return ops.where(
        ops.any(nans, at, True),
        ops.argmax(converted(nans, int64), at, True),
        ops.slice(places, at, last // 2, last // 2 + 1),
    )


@decomposes(ops.mode_index)
def _(x: Tensor, dim: int) -> Tensor:
    """Where the longest run in the order ends: runs start where an element differs from the one before it."""
    if not x.sizes:
        return _only_place(x)
    at = wrap_dim(dim, len(x.sizes))
    ordered, places = prims.sort(x, at, False)
    size = x.sizes[at]
    differs = ops.ne(ops.slice(ordered, at, 1), ops.slice(ordered, at, 0, size - 1))
    starts = ops.cat([broadcast_to(prims.full((1,) * len(x.sizes), True, bool_), _with(x, at, 1)), differs], at)
    steps = broadcast_to(reshaped(ops.arange(size), [size if d == at else 1 for d in range(len(x.sizes))]), x.sizes)
    since_start = steps - ops.cummax(ops.where(starts, steps, 0), at)[0]
    return ops.gather(places, at, ops.argmax(since_start, at, True))


refuses_if(ops.mode_index, complex_numbers_have_no_order)


def _with(x: Tensor, dim: int, size: int) -> tuple[int, ...]:
    """The sizes of x with another one in place of that dimension's."""
    return tuple(size if d == dim else n for d, n in enumerate(x.sizes))


# ------------------------------------------------------------------------------------------ searching


refuses_if(ops.searchsorted_places, complex_numbers_have_no_order)


@decomposes(ops.searchsorted_places)
def _(sequence: Tensor, x: Tensor, right: bool, sorter: Tensor | None) -> Tensor:
    """By halves: each round compares with the element in the middle of what is left, so log2 of the size are enough."""
    if sorter is not None:
        sequence = ops.gather(sequence, -1, sorter)
    size = sequence.sizes[-1]
    rows = numel(sequence.sizes[:-1])
    table, values = reshaped(sequence, (rows, size)), reshaped(x, (rows, numel(x.sizes) // max(rows, 1)))
    low, high = (prims.full(tuple(values.sizes), bound, int64) for bound in (0, size))
    for _ in range(size.bit_length()):
        middle = ops.div(low + high, 2, "floor")
        seen = ops.gather(table, 1, ops.clamp(middle, max=size - 1))
        beyond = ops.logical_not(_before(values, seen)) if right else _before(seen, values)
        searching = low < high
        low = ops.where(searching & beyond, middle + 1, low)
        high = ops.where(searching & ops.logical_not(beyond), middle, high)
    return reshaped(low, x.sizes)


def _before(a: Tensor, b: Tensor) -> Tensor:
    """Whether a comes before b in order, where NaN is the largest."""
    if a.dtype.category < FLOATING:
        return a < b
    return ops.where(ops.isnan(b), ops.logical_not(ops.isnan(a)), a < b)


@decomposes(ops.isin_elements)
def _(x: Tensor, choices: Tensor) -> Tensor:
    """Whether the element at an element's place among the sorted choices is that element."""
    if not numel(choices.sizes):
        return prims.full(tuple(x.sizes), False, bool_)
    element = promote_types(x.dtype, choices.dtype)
    x, choices = converted(x, element), reshaped(converted(choices, element), (numel(choices.sizes),))
    if element is bool_:
        return ops.any(ops.eq(ops.unsqueeze(x, -1), choices), -1)
    ordered = prims.sort(choices, 0, False)[0]
    place = ops.clamp(ops.searchsorted_places(ordered, x, False), max=ordered.sizes[0] - 1)
    return ops.eq(ops.index(ordered, [place]), x)


# ------------------------------------------------------------------------------------------ counting


def _range_is_found_in_data(bound: Sequence[Any]) -> str | None:
    _, _, low, high = bound
    if low != high:
        return complex_numbers_have_no_order(bound)
    return "the range that it takes from the data may be infinite, which is an error"


refuses_if(ops.histc, _range_is_found_in_data)


@decomposes(ops.histc)
def _(x: Tensor, bins: int, low: float, high: float) -> Tensor:
    """Each element adds one at its bin, those outside to a bin that is cut off."""
    flat = reshaped(x, (numel(x.sizes),))
    inside = ops.logical_and(flat >= low, flat <= high)
    place = (converted(ops.where(inside, flat, number_like(flat, low)), float64) - low) / (high - low) * bins
    bin = ops.where(inside, ops.clamp(converted(place, int64), max=bins - 1), bins)
    counts = prims.scatter_add(prims.full((bins + 1,), 0, int64), 0, bin, prims.full(tuple(flat.sizes), 1, int64))
    return converted(ops.slice(counts, 0, 0, bins), x.dtype)


refuses(
    ops.unique_parts,
    ops.unique_consecutive_parts,
    ops.bincount,
    because="the size of its result depends on the data; torch.zeros(n).index_add(0, x, ones) counts in a fixed size",
)
