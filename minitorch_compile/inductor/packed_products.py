"""Matrix products by tiles of our own, where they are quicker than BLAS: a pass over a loop graph.

`c = mm(a, b)` becomes two operations, `panels = pack_panels(b)` and `c = packed_product(a, panels)`. A matrix that
several products multiply with, such as the weight of a recurrent network, is packed once. Any rows of a packed product
can be computed at any time, so it can have an epilogue (see `fused_call`).

>>> from minitorch_compile.inductor.ir import Buffer, ExternCall, whole
>>> from minitorch_compile.tensor.dtype import float32
>>> x, y, w = (Buffer.contiguous(name, (128, 128), float32) for name in ("x", "y", "w"))
>>> products = [Buffer.contiguous(name, (128, 128), float32) for name in ("first", "second")]
>>> calls = [ExternCall("mm", [whole(a), whole(w)], [c]) for a, c in zip((x, y), products)]
>>> graph = LoopGraph([x, y, w], calls, [whole(c) for c in products])
>>> [operation.kernel for operation in pack_products(graph).operations]
['pack_panels', 'packed_product', 'packed_product']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

from minitorch_compile.inductor.extern.product_tiles import TILE_ROWS, panel_count, panel_width
from minitorch_compile.inductor.fused_call import Blocks
from minitorch_compile.inductor.ir import Buffer, ExternCall, LoopGraph, Operation, StridedView, whole
from minitorch_compile.tensor.dtype import float32, float64

# OpenBLAS has quick kernels that pack nothing for products of at most a million multiplications.
FEWEST_MULTIPLICATIONS = 1_000_000
FEWEST_ROWS = 8  # fewer are not worth packing for
MOST_PADDING = 1.5  # times as many columns as there are: what tiles compute too much, since panels are two vectors wide
LARGEST_PANEL = 1 << 18  # bytes: every tile reads a whole panel, so it has to stay in the second-level cache
BLOCK_BYTES = 1 << 18  # of the result: an epilogue's other inputs and results lie in the second-level cache beside it
SHORTEST_BLOCK, LONGEST_BLOCK = 4 * TILE_ROWS, 16 * TILE_ROWS

Choice = Callable[[ExternCall], bool]


def packing_pays(call: ExternCall) -> bool:
    """Whether tiles are quicker than BLAS, as measured on processors with 256-bit and 512-bit vectors."""
    a, b = call.inputs
    rows, inner, columns = *a.sizes, b.sizes[1]
    itemsize = call.outputs[0].dtype.itemsize
    width = panel_width(itemsize)
    return (
        rows >= FEWEST_ROWS
        and rows * inner * columns >= FEWEST_MULTIPLICATIONS
        and panel_count(columns, itemsize) * width <= MOST_PADDING * columns
        and inner * width * itemsize <= LARGEST_PANEL
    )


def can_pack(operation: Operation) -> TypeGuard[ExternCall]:
    """Whether an operation is a product that tiles can compute."""
    if not isinstance(operation, ExternCall) or operation.kernel != "mm":
        return False
    return operation.outputs[0].dtype in (float32, float64)


def pack_products(graph: LoopGraph, chosen: Choice = packing_pays) -> LoopGraph:
    """The same graph, with the products that are `chosen` in packed form."""
    panels: dict[tuple[object, ...], Buffer] = {}
    operations: list[Operation] = []
    for operation in graph.operations:
        if not can_pack(operation) or not chosen(operation):
            operations.append(operation)
            continue
        a, b = operation.inputs
        key = (b.buffer, b.sizes, b.strides, b.offset)
        if key not in panels:
            panels[key] = panels_of(b, operation)
            width = panels[key].sizes[-1]
            operations.append(ExternCall("pack_panels", [b], [panels[key]], (width,), operation.origin))
        inputs = [a, whole(panels[key])]
        operations.append(ExternCall("packed_product", inputs, operation.outputs, (b.sizes[1],), operation.origin))
    return replace(graph, operations=operations)


def panels_of(b: StridedView, call: ExternCall) -> Buffer:
    """A buffer for b in panels, named after the first product that wants it."""
    itemsize = b.buffer.dtype.itemsize
    sizes = (panel_count(b.sizes[1], itemsize), b.sizes[0], panel_width(itemsize))
    return Buffer.contiguous(f"{call.outputs[0].name}_panels", sizes, b.buffer.dtype)


def row_blocks(call: ExternCall) -> Blocks:
    """How the result of a packed product falls into blocks of rows: whole tiles, as many as fit in cache."""
    rows, columns = call.outputs[0].sizes
    fitting = BLOCK_BYTES // (columns * call.outputs[0].dtype.itemsize)
    length = max(SHORTEST_BLOCK, min(LONGEST_BLOCK, fitting // TILE_ROWS * TILE_ROWS))
    return Blocks(rows, columns, min(length, rows))
