"""Matrix products by tiles of our own, where they are quicker than BLAS: a pass over a loop graph.

`c = mm(a, b)` becomes two operations, `panels = pack_panels(b)` and `c = packed_product(a, panels)`. A matrix that
several products multiply with, such as the weight of a recurrent network, is packed once. Any rows of a packed product
can be computed at any time, so it can have an epilogue (see `fused_call`). In a batch of products, each matrix is
packed just before it is multiplied with.

Packing is the prologue of b: a transposed matrix is turned over on the way. For a there is none. To normalise rows of a
block by block, just before the product reads them, was between 8% slower and 4% faster than to do it first: the next
kernel is quick at fetching what lies in order.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
>>> from minitorch_compile.tensor.numerics.dtype import float32
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

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, matrix_layout, whole
from minitorch_compile.inductor.ir.loops import LoopGraph, Operation
from minitorch_compile.inductor.kernels.product_tiles import panel_width, product_rows
from minitorch_compile.inductor.machine import Machine, machine_number
from minitorch_compile.inductor.schedule.fused_call import Blocks
from minitorch_compile.tensor.numerics.dtype import float32, float64

FEWEST_ROWS = 8  # fewer are not worth packing for
FEWEST_MULTIPLICATIONS = 10_000
MOST_PADDING = 1.5  # times as many columns as there are: what tiles compute too much, since they compute whole vectors
BLAS_IS_QUICK_BELOW = 1_000_000  # multiplications: OpenBLAS has kernels for these that pack nothing
LARGEST_PACKED = 1 << 21  # bytes of scratch memory that one matrix of a batch may take, for each thread
SHORTEST_BLOCK, LONGEST_BLOCK = 4, 16  # tiles
FEWEST_BLOCKS = 8  # of a product or a batch of them, if they take long enough
SMALLEST_BLOCK = 1_000_000  # multiplications that are worth another thread

Choice = Callable[[ExternCall], bool]


@machine_number
def half_of_cache(machine: Machine) -> int:
    """Bytes of what has to stay in the second-level cache, with as much beside it; where that is large, 256 kB do.

    A panel, since every tile reads a whole one; and a block of the result, beside which an epilogue's other inputs lie.
    """
    return min(1 << 18, machine.level_2 // 2)


def packing_pays(call: ExternCall) -> bool:
    """Whether tiles are quicker than BLAS, as measured with OpenBLAS on a processor with vectors of 512 bits."""
    return batch_pays(call) if call.kernel == "bmm" else product_pays(call)


def product_pays(call: ExternCall) -> bool:
    a, b = call.inputs
    rows, inner, columns = *a.sizes, b.sizes[1]
    itemsize = call.outputs[0].dtype.itemsize
    width = panel_width(columns, itemsize)
    return (
        rows >= FEWEST_ROWS
        and rows * inner * columns >= FEWEST_MULTIPLICATIONS
        and -(-columns // width) * width <= MOST_PADDING * columns
        and inner * width * itemsize <= half_of_cache()
    )


def batch_pays(call: ExternCall) -> bool:
    """BLAS has quick kernels for small products, but not if the second matrix is transposed."""
    _, b = call.inputs
    _, rows, columns = call.outputs[0].sizes
    inner, layout = b.sizes[1], matrix_layout(b)
    small = rows * columns * inner <= BLAS_IS_QUICK_BELOW
    fits = inner * columns * b.buffer.dtype.itemsize <= LARGEST_PACKED
    return layout is not None and (layout[0] or not small) and rows > 1 and columns > 2 and fits


def can_pack(operation: Operation) -> TypeGuard[ExternCall]:
    """Whether an operation is a product, or a batch of them, that tiles can compute."""
    if not isinstance(operation, ExternCall) or operation.kernel not in ("mm", "bmm"):
        return False
    return operation.outputs[0].dtype in (float32, float64)


def pack_products(graph: LoopGraph, chosen: Choice = packing_pays) -> LoopGraph:
    """The same graph, with the products that are `chosen` in packed form."""
    panels: dict[tuple[object, ...], Buffer] = {}
    operations: list[Operation] = []
    for operation in graph.operations:
        if not can_pack(operation) or not chosen(operation):
            operations.append(operation)
        elif operation.kernel == "bmm":
            operations.append(replace(operation, kernel="batched_tiles"))
        else:
            operations += packed_form(operation, panels)
    return replace(graph, operations=operations)


def packed_form(call: ExternCall, panels: dict[tuple[object, ...], Buffer]) -> list[Operation]:
    """A product as one or two operations: `panels` remembers what has been packed before."""
    a, b = call.inputs
    key = (b.buffer, b.sizes, b.strides, b.offset)
    before: list[Operation] = []
    if key not in panels:
        panels[key] = panels_of(b, call)
        before.append(ExternCall("pack_panels", [b], [panels[key]], (panels[key].sizes[-1],), call.origin))
    return [*before, ExternCall("packed_product", [a, whole(panels[key])], call.outputs, (b.sizes[1],), call.origin)]


def panels_of(b: StridedView, call: ExternCall) -> Buffer:
    """A buffer for b in panels, named after the first product that wants it."""
    inner, columns = b.sizes
    width = panel_width(columns, b.buffer.dtype.itemsize)
    sizes = (-(-columns // width), inner, width)
    return Buffer.contiguous(f"{call.outputs[0].name}_panels", sizes, b.buffer.dtype)


def row_blocks(call: ExternCall) -> Blocks:
    """How the result of a packed product falls into blocks of rows: whole tiles, as many as fit in cache.

    A product that takes long has several blocks even if one would fit, so that threads have something to share.
    """
    rows, columns = call.outputs[0].sizes
    inner = call.inputs[0].sizes[1]
    fitting = half_of_cache() // (columns * call.outputs[0].dtype.itemsize)
    shared = -(-rows // max(1, min(FEWEST_BLOCKS, rows * inner * columns // SMALLEST_BLOCK)))
    tile = product_rows()
    length = tile * max(SHORTEST_BLOCK, min(LONGEST_BLOCK, fitting // tile))
    return Blocks(rows, columns, min(length, -(-shared // tile) * tile, rows))


def matrix_blocks(call: ExternCall) -> Blocks:
    """How a batch of products falls into blocks: as many whole matrices as fit in cache."""
    count, rows, columns = call.outputs[0].sizes
    fitting = half_of_cache() // (rows * columns * call.outputs[0].dtype.itemsize)
    return Blocks(count, rows * columns, max(1, min(fitting, -(-count // FEWEST_BLOCKS))))
