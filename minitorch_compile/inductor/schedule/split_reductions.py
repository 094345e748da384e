"""A reduction of everything to a few numbers, in two steps: so that there are rows for threads to share out.

The sum of a matrix becomes the sum of each row, and then the sum of these. A long vector is first cut into rows.

>>> x, total = Buffer.contiguous("x", (512, 1024), float32), Buffer.contiguous("total", (), float32)
>>> loop = Loop(total, (512, 1024), lambda ops, at: ops.load(x, x.address(at)), (0, 1), "sum")
>>> [(part.buffer, part.sizes, part.reduced) for part in split(loop)]
[(total_rows: float32[512], (512, 1024), (1,)), (total: float32[], (512,), (0,))]
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from minitorch_compile.inductor.ir.buffer import Buffer, Position
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float32, float64, int64

KINDS = ("sum", "prod", "amax", "amin")
DTYPES = (float32, float64, int64)
FEW = 8  # numbers that are left: where there are more, they are shared out
MANY = 1 << 17  # elements below which one thread is quick enough
FEWEST_ROWS, MOST_ROWS = 16, 4096


def split_reductions(graph: LoopGraph) -> LoopGraph:
    """The same graph, with large reductions in two steps."""
    operations = [
        part for operation in graph.operations for part in (split(operation) if is_large(operation) else [operation])
    ]
    return replace(graph, operations=operations)


def is_large(operation: object) -> TypeGuard[Loop]:
    """Whether an operation reduces many elements to few."""
    if type(operation) is not Loop or operation.kind not in KINDS or operation.buffer.dtype not in DTYPES:
        return False
    return numel(operation.buffer.sizes) < FEW and numel(operation.sizes) >= MANY


def split(loop: Loop) -> list[Loop]:
    """The loop in two steps; as it is if there are no rows to make of it."""
    dim = next((d for d in loop.reduced if loop.sizes[d] >= FEWEST_ROWS), None)
    if dim is None:
        return [loop]
    rest = numel(tuple(loop.sizes[d] for d in loop.reduced if d != dim))
    if rest < FEWEST_ROWS or loop.sizes[dim] > MOST_ROWS:
        cut = with_rows(loop, dim)
        return [loop] if cut is None else in_two_steps(cut, dim)
    return in_two_steps(loop, dim)


def with_rows(loop: Loop, dim: int, most: int = MOST_ROWS, fewest: int = FEWEST_ROWS) -> Loop | None:
    """The same loop, one of its dimensions cut into rows of equal length; None if no number of rows divides it."""
    size = loop.sizes[dim]
    rows = next((n for n in range(most, fewest - 1, -1) if size % n == 0), None)
    if rows is None:
        return None
    length = size // rows

    def body(ops: Handler, at: Position) -> object:
        place = at[dim] * length + at[dim + 1]
        return loop.inner_fn(ops, (*at[:dim], place, *at[dim + 2 :]))

    reduced = tuple(sorted({d if d <= dim else d + 1 for d in loop.reduced} | {dim + 1}))
    sizes = (*loop.sizes[:dim], rows, length, *loop.sizes[dim + 1 :])
    return Loop(loop.buffer, sizes, body, reduced, loop.kind, loop.origin)


def in_two_steps(loop: Loop, dim: int) -> list[Loop]:
    """First all reduced dimensions but one, then that one."""
    inner = tuple(d for d in loop.reduced if d != dim)
    left = [d for d in range(len(loop.sizes)) if d not in inner]
    rows = Buffer.contiguous(f"{loop.buffer.name}_rows", tuple(loop.sizes[d] for d in left), loop.buffer.dtype)
    first = Loop(rows, loop.sizes, loop.inner_fn, inner, loop.kind, loop.origin)
    read = lambda ops, at: ops.load(rows, rows.address(at))
    return [first, Loop(loop.buffer, rows.sizes, read, (left.index(dim),), loop.kind, loop.origin)]
