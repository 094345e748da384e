"""Reductions that leave too few numbers for all of a GPU's threads, in steps: pieces of rows, then what they gave.

A block takes a row, so a few hundred rows keep a GPU busy; a thread takes some neighbouring columns, so there must be
many of these, or each is cut into pieces.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, total = Buffer.contiguous("x", (8192, 1024), float32), Buffer.contiguous("total", (1024,), float32)
>>> down = Loop(total, (8192, 1024), lambda ops, at: ops.load(x, x.address(at)), (0,), "sum")
>>> [(part.sizes, part.reduced) for part in split(down)]
[((512, 16, 1024), (1,)), ((512, 1024), (0,))]

What is reduced along several dimensions, as images whose channels lie side by side, is so many lines.

>>> images, total = Buffer("images", (8, 1024, 32, 32), (1048576, 1, 32768, 1024), float32), Buffer.contiguous(
...     "total", (1024,), float32
... )
>>> means = Loop(total, images.sizes, lambda ops, at: ops.load(images, images.address(at)), (0, 2, 3), "sum")
>>> [(part.sizes, part.reduced) for part in split(means)]
[((512, 16, 1024), (1,)), ((512, 1024), (0,))]
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from minitorch_compile.inductor.device_calls.moments_together import with_moments_together
from minitorch_compile.inductor.ir.buffer import Buffer, Position
from minitorch_compile.inductor.ir.dependencies import accesses_of
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import symbol, unflatten
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph, Operation
from minitorch_compile.inductor.ir.substituting import Substituting
from minitorch_compile.inductor.schedule.split_reductions import DTYPES, KINDS, MANY, in_two_steps, with_rows
from minitorch_compile.tensor.memory.strides import numel

ENOUGH_ROWS, ENOUGH_COLUMNS = 1 << 9, 1 << 17  # for which a reduction stays in one step
ROWS, THREADS = 1 << 12, 1 << 17  # what the first of two steps leaves, about; of columns, so many threads have them
FEW_COLUMNS = 1 << 9  # that blocks go down in strips (`strips.py`), of which one step leaves few enough:
MOST_STRIPS, IN_STRIPS = 1 << 8, 1 << 15  # pieces, and results in all of them: a block or two a multiprocessor
BESIDE = 1 << 9  # pieces where rows are gone along, too: a block each (`columns_beside_rows.py`)
SHORT_LINE = 1 << 8  # elements of a row: what goes down the columns of shorter ones isn't put beside what goes along
LONG_ROW = 1 << 17  # elements; a shorter one stays whole, as what is fused with it then does
SHORTEST_ROW, SHORTEST_COLUMN = 1 << 12, 1 << 4  # elements of each piece
WIDEST = 16  # bytes of an access
MOST_AT_ONCE, AGAIN = 1 << 11, 1 << 6  # pieces that a block's threads share out; how many a thread has of more


def split_for_device(graph: LoopGraph) -> LoopGraph:
    """The same graph, with reductions to few numbers in two steps."""
    along = {
        access.buffer
        for operation in graph.operations
        if type(operation) is Loop and operation.reduced and not goes_down(operation)
        for access in accesses_of(operation).reads
    }
    graph = with_moments_together(graph, lambda loop: len(split(loop, along)) > 1)
    return replace(graph, operations=[part for operation in graph.operations for part in split(operation, along)])


def split(operation: Operation, along: Set[Buffer] = frozenset()) -> list[Operation]:
    """An operation in two steps; as it is if that needs no splitting, or can't be split. `along`: what is read by
    reductions of rows."""
    if type(operation) is not Loop or operation.kind not in KINDS or operation.buffer.dtype not in DTYPES:
        return [operation]
    left, points = numel(operation.buffer.sizes), numel(operation.sizes)
    down = goes_down(operation)
    operation = with_lines(operation) if down else operation
    if points < MANY or left >= (ENOUGH_COLUMNS if down else ENOUGH_ROWS) or (not down and points < left * LONG_ROW):
        return [operation]
    is_beside = down and left >= SHORT_LINE and any(a.buffer in along for a in accesses_of(operation).reads)
    if is_beside:
        pieces = BESIDE
    elif down and left <= FEW_COLUMNS:
        pieces = min(MOST_STRIPS, IN_STRIPS // left)
    else:
        pieces = (THREADS * columns_of_thread(operation) if down else ROWS) // left
    pieces = min(pieces, points // left // (SHORTEST_COLUMN if down else SHORTEST_ROW))
    dim = max(operation.reduced, key=lambda d: operation.sizes[d])
    if pieces < 2:
        return [operation]
    return in_steps(operation, dim, pieces, down)


def with_lines(loop: Loop) -> Loop:
    """The same loop, all that it reduces as one dimension, if that goes evenly through memory; else the loop."""
    sizes = tuple(loop.sizes[d] for d in loop.reduced)
    kept = [d for d in range(len(loop.sizes)) if d not in loop.reduced]
    line = symbol("line", numel(sizes))

    def body(ops: Handler, at: Position) -> object:
        parts = dict(zip(loop.reduced, unflatten(line, sizes))) | dict(zip(kept, at[1:]))
        # Of pieces of lines, each address would be a sum of quotients and remainders, if it weren't known before.
        return loop.inner_fn(Substituting(ops, {line: at[0]}), [parts[d] for d in range(len(loop.sizes))])

    lines = Loop(loop.buffer, (numel(sizes), *(loop.sizes[d] for d in kept)), body, (0,), loop.kind, loop.origin)
    is_even = all(access.address.is_affine for access in accesses_of(lines).reads)
    return lines if is_even and len(sizes) > 1 else loop


def columns_of_thread(loop: Loop) -> int:
    """How many columns a thread takes at once."""
    return max(1, WIDEST // max(access.buffer.dtype.itemsize for access in accesses_of(loop).reads))


def in_steps(loop: Loop, dim: int, pieces: int, down: bool) -> list[Operation]:
    """The loop in two steps, of which the first leaves about so many pieces along a dimension; if these are many, the
    second in two steps again."""
    cut = with_rows(loop, dim, min(pieces, loop.sizes[dim]), 2)
    if cut is None:
        return [loop]
    first, second = in_two_steps(cut, dim)
    (left,) = second.reduced
    found = second.sizes[left]  # which divides the dimension, so it may be fewer
    return [first, *(in_steps(second, left, found // AGAIN, down) if down and found > MOST_AT_ONCE else [second])]


def goes_down(loop: Loop) -> bool:
    """Whether neighbouring results, not neighbouring elements of one, lie side by side in what is read."""
    found = accesses_of(loop)
    parts = [(part, d in loop.reduced) for d, part in enumerate(found.position) if not part.is_constant]
    whole = [a.address for a in found.reads if any(a.address.depends_on(part) for part, gone in parts if gone)]
    return any(address.coefficient(part) == 1 for address in whole for part, gone in parts if not gone)
