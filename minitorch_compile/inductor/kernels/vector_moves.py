"""Elements moved by whole vectors: a row copied, and rows interleaved.

`copy_row(source, target, count)` copies elements; what is left after the last whole vector goes by a masked load and a
masked store, so a row that is shorter than a vector takes two instructions. `copy_every_other` takes the same arguments
and reads source[0], source[2], ...

`interleave(source, step, count, out)` takes as many rows, `step` apart, as a tile has filters (F), and puts what is in
one column side by side:

    out[k * F + f] = source[f * step + k]

>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> @njit
... def example(source, out, copied):
...     interleave(pointer(source), 5, 5, pointer(out))
...     copy_row(pointer(source), pointer(copied), 3)
>>> rows = tile_filters()
>>> out, copied = np.empty(5 * rows), np.zeros(4)
>>> example(np.arange(5.0 * rows), out, copied)
>>> out.reshape(5, rows)[:, :3].tolist()
[[0.0, 5.0, 10.0], [1.0, 6.0, 11.0], [2.0, 7.0, 12.0], [3.0, 8.0, 13.0], [4.0, 9.0, 14.0]]
>>> copied
array([0., 1., 2., 0.])
"""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: F401 (the example's)
from llvmlite import ir
from numba.core import cgutils

from minitorch_compile.inductor.kernels.vector_tiles import WORD, VectorEmitter, tile_filters, vector_function

AT_ONCE = 8  # columns that are interleaved together


def _emit_copy(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
    source, target, count = values
    emitter = VectorEmitter(builder, source.type.pointee)
    whole = builder.and_(count, WORD(-emitter.lanes))
    with cgutils.for_range_slice(builder, WORD(0), whole, WORD(emitter.lanes), inc=True) as (index, _):
        emitter.store(emitter.load(source, index), target, index)
    with builder.if_then(builder.icmp_signed("<", whole, count)):
        mask = emitter.first_of(builder.sub(count, whole))
        emitter.store_where(mask, emitter.load_where(mask, emitter.at(source, whole)), emitter.at(target, whole))


def _emit_every_other(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
    source, target, count = values
    emitter = VectorEmitter(builder, source.type.pointee)
    lanes = emitter.lanes
    # Of the second vector the odd places are taken, so nothing is read beyond the last element that is wanted.
    places = [*range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2)]
    whole = builder.and_(count, WORD(-lanes))
    with cgutils.for_range_slice(builder, WORD(0), whole, WORD(lanes), inc=True) as (index, _):
        first = builder.mul(index, WORD(2))
        pair = emitter.load(source, first), emitter.load(source, builder.add(first, WORD(lanes - 1)))
        emitter.store(emitter.shuffled(pair[0], pair[1], places), target, index)
    with builder.if_then(builder.icmp_signed("<", whole, count)):
        left = builder.sub(count, whole)
        last = emitter.load_first(2, source, builder.mul(whole, WORD(2)), left)
        emitter.store_where(emitter.first_of(left), last, emitter.at(target, whole))


def _copy(source: Any, target: Any, count: int) -> None:
    target[:count] = source[:count]


def _copy_every_other(source: Any, target: Any, count: int) -> None:
    target[:count] = source[: 2 * count : 2]


def _emit_interleave(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
    source, step, count, out = values
    emitter, filters = VectorEmitter(builder, source.type.pointee), tile_filters()
    starts = [builder.mul(step, WORD(f)) for f in range(filters)]
    whole = builder.and_(count, WORD(-AT_ONCE))
    with cgutils.for_range_slice(builder, WORD(0), whole, WORD(AT_ONCE), inc=True) as (index, _):
        rows = [emitter.load(source, builder.add(start, index), AT_ONCE) for start in starts]
        emitter.store(_interleaved(emitter, rows), out, builder.mul(index, WORD(filters)))
    with cgutils.for_range_slice(builder, whole, count, WORD(1), inc=True) as (index, _):
        first = builder.mul(index, WORD(filters))
        for f, start in enumerate(starts):
            value = builder.load(builder.gep(source, [builder.add(start, index)]))
            builder.store(value, builder.gep(out, [builder.add(first, WORD(f))]))


def _interleaved(emitter: VectorEmitter, rows: list[ir.Value]) -> ir.Value:
    """All elements of the rows, column by column: first the even rows and the odd ones, then both together."""
    if len(rows) == 1:
        return rows[0]
    a, b = (_interleaved(emitter, rows[first::2]) for first in (0, 1))
    length = a.type.count
    return emitter.shuffled(a, b, [place + side for place in range(length) for side in (0, length)])


def _interleave(source: Any, step: int, count: int, out: Any) -> None:
    filters = tile_filters()
    for f in range(filters):
        out[f : count * filters : filters] = source[f * step : f * step + count]


copy_row: Any = vector_function(3, _emit_copy, _copy)
copy_every_other: Any = vector_function(3, _emit_every_other, _copy_every_other)
interleave: Any = vector_function(4, _emit_interleave, _interleave)
