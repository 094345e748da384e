"""Ops on a GPU whose results have sizes that the data decide: kernels find out how many there are, one number is read,
and kernels fill what was made of that size.

How many places come before each one is a running sum, which says where an element goes; so all go at once.

    flags      1  0  0  1  1        where x isn't 0
    rank       1  1  1  2  3        their running sum; the last one is the size
    places     0  3  4              place n goes to rank[n] - 1, if the rank rises there

These ops are made of others, each of which runs as it does by itself: nothing is computed a second way.

>>> print(compacting_text(2)[0].splitlines()[0])
def compacted_2(rank, places, n, count, n1):
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.inductor.device_calls.launcher import SIZE
from minitorch_compile.tensor import no_grad, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import bool_, float32, float64, int64

if TYPE_CHECKING:
    from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels

Rule = Callable[..., Any]
data_sized: dict[Op, Rule] = {}


def made_of_ops(op: Op) -> Callable[[Rule], Rule]:
    """Declares how an op on a GPU is made of others. The rule gets the kernels, and the op's parameters."""

    def declare(rule: Rule) -> Rule:
        data_sized[op] = rule
        return rule

    return declare


def run_in_parts(kernels: DeviceKernels, op: Op, bound: Sequence[Any], where: Device) -> Any:
    """The results of such an op, all of whose tensors are on that device."""
    with no_grad(), where:
        return data_sized[op](kernels, *bound)


# ------------------------------------------------------------------------------------------ places of flags


def compacting_text(dims: int) -> tuple[str, str]:
    """The text of the kernel that stores the positions of flags in a tensor of so many dimensions, and its name."""
    sizes = [f"n{d}" for d in range(1, dims)]
    lines = [
        f"def compacted_{dims}({', '.join(['rank', 'places', 'n', 'count', *sizes])}):",
        "    for i in range(cuda.grid(1), n, cuda.gridsize(1)):",
        "        before = rank[i - 1] if i > 0 else 0",
        "        if rank[i] > before:",
        "            left = i",
    ]
    for d in range(dims - 1, 0, -1):
        lines += [f"            places[{d} * count + before] = left % n{d}", f"            left = left // n{d}"]
    lines += ["            places[before] = left"] if dims else []
    return "\n".join(lines) + "\n", f"compacted_{dims}"


def positions(kernels: DeviceKernels, flags: Any) -> Any:
    """Where bool flags hold: int64, a row for each. In memory, all that counts one dimension lies together."""
    sizes = tuple(flags.sizes)
    if not numel(sizes):
        return ops.full((0, len(sizes)), 0, int64)
    rank = ops.cumsum(ops.reshape(flags, (-1,)), 0)
    return positions_of_ranks(kernels, rank, sizes)


def positions_of_ranks(kernels: DeviceKernels, rank: Any, sizes: Sequence[int]) -> Any:
    """The positions, in a tensor of such sizes, where a running sum of flags rises."""
    n, dims = numel(sizes), len(sizes)
    count = int(rank[-1])
    places = ops.full((dims, count), 0, int64)
    if count and dims:
        text, name = compacting_text(dims)
        numbers = [n, count, *sizes[1:]]
        kernels.launch(text, name, ["int64", "int64", *[SIZE] * len(numbers)], [rank, places], numbers, n)
    return ops.reshape(places, (count, 1)) if dims == 1 else ops.t(places)


@made_of_ops(ops.argwhere)
def _(kernels: DeviceKernels, x: Any) -> Any:
    return positions(kernels, x if x.dtype is bool_ else ops.ne(x, 0))


# ------------------------------------------------------------------------------------------ repeating, counting


REPEATING = """\
def repeated(ends, positions, n, size):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        low, high = 0, size
        while low < high:
            half = (low + high) // 2
            if ends[half] <= i:
                low = half + 1
            else:
                high = half
        positions[i] = low
"""


@made_of_ops(ops.repeated_positions)
def _(kernels: DeviceKernels, repeats: Any) -> Any:
    """Position i of the result is in the first run that ends behind it."""
    size = numel(repeats.sizes)
    if not size:
        return ops.full((0,), 0, int64)
    least = int(ops.amin(repeats, (0,)))
    if least < 0:
        raise RuntimeError(f"repeat_interleave: repeats can not be negative, got {least}")
    ends = ops.cumsum(repeats, 0)
    count = int(ends[-1])
    found = ops.full((count,), 0, int64)
    if count:
        kernels.launch(REPEATING, "repeated", ["int64", "int64", SIZE, SIZE], [ends, found], [count, size], count)
    return found


@made_of_ops(ops.bincount)
def _(kernels: DeviceKernels, x: Any, weights: Any, minlength: int) -> Any:
    """Each element adds 1, or its weight, at its place."""
    least, most = (int(ops.amin(x, (0,))), int(ops.amax(x, (0,)))) if x.sizes[0] else (0, -1)
    if least < 0:
        raise RuntimeError(f"bincount only supports 1-d non-negative integral inputs, got {least}")
    element = int64 if weights is None else weights.dtype if weights.dtype is float32 else float64
    if not x.sizes[0]:  # as NumPy and PyTorch have it
        element = int64
    added = ops.full(x.sizes, 1, int64) if weights is None else ops.to_copy(weights, element)
    counts = ops.full((max(most + 1, minlength),), 0, element)
    return ops.scatter_add(counts, 0, ops.to_copy(x, int64), added) if x.sizes[0] else counts


@made_of_ops(ops.histc)
def _(kernels: DeviceKernels, x: Any, bins: int, low: float, high: float) -> Any:
    """With the range that the elements take, the op that has one."""
    if numel(x.sizes):
        low, high = (float(extreme(x, tuple(range(len(x.sizes))))) for extreme in (ops.amin, ops.amax))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"histc: range of [{low}, {high}] is not finite")
    return ops.histc(x, bins, low - (low == high), high + (low == high))


# ------------------------------------------------------------------------------------------ different elements


@made_of_ops(ops.unique_consecutive_parts)
def _(kernels: DeviceKernels, x: Any, dim: int | None) -> tuple[Any, Any, Any]:
    rows, at = _rows(x, dim)
    firsts, run_of_each, counts = runs(kernels, rows)
    if dim is None:
        return ops.index_select(ops.reshape(x, (-1,)), 0, firsts), ops.reshape(run_of_each, tuple(x.sizes)), counts
    return ops.index_select(x, at, firsts), run_of_each, counts


@made_of_ops(ops.unique_parts)
def _(kernels: DeviceKernels, x: Any, dim: int | None) -> tuple[Any, Any, Any]:
    """The runs of equals among the elements in order; each element is where its place in the order is."""
    rows, at = _rows(x, dim)
    order = in_order(rows)
    firsts, run_of_each, counts = runs(kernels, ops.index_select(rows, 0, order))
    inverse = ops.scatter(ops.full(order.sizes, 0, int64), 0, order, run_of_each)
    values = ops.index_select(rows, 0, ops.index_select(order, 0, firsts))
    if dim is None:
        values = ops.reshape(values, (-1,))
    elif not numel(x.sizes):
        values = ops.full(x.sizes, 0, x.dtype)
    else:
        rest = (*x.sizes[:at], *x.sizes[at + 1 :])
        values = ops.movedim(ops.reshape(values, (firsts.sizes[0], *rest)), 0, at)
    return values, ops.reshape(inverse, tuple(x.sizes)) if dim is None else inverse, counts


def _rows(x: Any, dim: int | None) -> tuple[Any, int]:
    """What may be equal as the rows of a matrix, and the dimension that counts them."""
    if dim is None:
        return ops.reshape(x, (-1, 1)), 0
    at = wrap_dim(dim, len(x.sizes))
    moved = ops.movedim(x, at, 0)
    return ops.reshape(moved, (x.sizes[at], numel(moved.sizes[1:]))), at


def in_order(rows: Any) -> Any:
    """The order of the rows of a matrix, the first column counting most: sorted by the last one first. Complex numbers
    are two columns each."""
    if rows.dtype.is_complex:
        rows = ops.reshape(ops.view_as_real(rows), (rows.sizes[0], 2 * rows.sizes[1]))
    columns = rows.sizes[1]
    if not columns:
        return ops.arange(rows.sizes[0])
    order = ops.argsort(ops.select(rows, 1, columns - 1), 0, False, True)
    for column in reversed(range(columns - 1)):
        keys = ops.index_select(ops.select(rows, 1, column), 0, order)
        order = ops.index_select(order, 0, ops.argsort(keys, 0, False, True))
    return order


def runs(kernels: DeviceKernels, rows: Any) -> tuple[Any, Any, Any]:
    """(where each run of equal rows starts, the run that each row is in, how long each is)."""
    size = rows.sizes[0]
    if not size:
        return tuple(ops.full((0,), 0, int64) for _ in range(3))
    differs = ops.any(ops.ne(rows[1:], rows[:-1]), (1,), False)
    rank = ops.cumsum(ops.cat([ops.full((1,), True, bool_), differs], 0), 0)
    firsts = ops.select(positions_of_ranks(kernels, rank, (size,)), 1, 0)
    ends = ops.cat([firsts[1:], ops.full((1,), size, int64)], 0)
    return firsts, ops.sub(rank, 1), ops.sub(ends, firsts)


# ------------------------------------------------------------------------------------------ drawing


@made_of_ops(ops.multinomial_choice)
def _(kernels: DeviceKernels, weights: Any, uniforms: Any, num_samples: int, replacement: bool) -> Any:
    """By the place of a uniform number among the cumulative weights, or by waiting times: see the op."""
    if not bool(ops.all(ops.logical_and(ops.isfinite(weights), ops.ge(weights, 0)))):
        raise RuntimeError("multinomial: probability tensor contains either `inf`, `nan` or element < 0")
    if bool(ops.any(ops.le(ops.sum(weights, (-1,)), 0))):
        raise RuntimeError("multinomial: invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement:
        least = float(np.finfo(weights.dtype.numpy).tiny)
        waits = ops.to_copy(ops.clamp(ops.neg(ops.log1p(ops.neg(uniforms))), least), weights.dtype)
        return ops.slice(ops.argsort(ops.div(weights, waits), -1, True, True), -1, 0, num_samples).contiguous()
    cumulative = ops.cumsum(weights, -1)
    edges = ops.div(cumulative, ops.slice(cumulative, -1, cumulative.sizes[-1] - 1))
    return ops.searchsorted_places(edges, uniforms, True)
