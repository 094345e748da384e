"""Running results of long rows on a GPU: a block of threads scans a tile of a row, in shared memory.

Each thread combines EACH neighbouring elements; a scan over the threads' totals, in steps of 1, 2, 4, ..., tells each
one what comes before its own; then it goes along its elements again and stores. A row of several tiles is scanned in
two passes: the totals of the tiles first, whose own running result tells each tile what comes before it.

    elements   1  2 | 3  1 | 2  2 | 1  3        two for each thread
    totals       3      4      4      4
    before       0      3      7     11
    results    1  3 | 6  7 | 9 11 |12 15

The order of combining depends on nothing but the row's length, so results are the same each time. float32 is carried in
float64 and rounded once: a sum is within one unit in the last place of the exact one, plus 2**-52 of the sum of
magnitudes for each element, where the CPU's own, added up in float32, may be off by 2**-23 of it for each.

>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> text, name = scan_text("scan_tiles", "sum", float32, threads=32)
>>> print(text.splitlines()[0])
def scan_tiles_sum_float32_to_float32(x, out, rows, size):
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.codegen.cuda.spelling import CudaSpelling
from minitorch_compile.inductor.codegen.shared.accumulators import combine_in_order, scan_dtype, start
from minitorch_compile.inductor.device_calls.extern_launches import Resources, launched_by
from minitorch_compile.inductor.device_calls.launcher import SIZE, Launch
from minitorch_compile.inductor.ir.buffer import Buffer, Ints
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF, in_float32
from minitorch_compile.inductor.lowering.shape import reindexed
from minitorch_compile.inductor.lowering.stored_views import contiguous_view
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import bool_, dtype

EACH = 8  # elements of a thread
SHORT = 32  # a row of no more is one thread's work, part of a loop like any other
MANY = 4096  # rows across memory that neighbouring threads walk down side by side

# What all kernels begin with: `total` is what the thread's elements combine to, `shared` the running result of these.
BEGIN = """\
def {name}(x, {others}rows, size):
    shared = cuda.shared.array(THREADS, {wide})
    thread = cuda.threadIdx.x
    tiles = (size + {tile} - 1) // {tile}
    for place in range(cuda.blockIdx.x, rows * tiles, cuda.gridDim.x):
        row = place // tiles
        first = row * size + place % tiles * {tile} + thread * {each}
        last = min(first + {each}, (row + 1) * size)
        total = {neutral}
        for n in range(first, last):
            value = {wide_x}
            total = {total_and_value}
        shared[thread] = total
        cuda.syncthreads()
        step = 1
        while step < THREADS:
            value = shared[thread]
            total = {neutral}
            if thread >= step:
                total = shared[thread - step]
            cuda.syncthreads()
            shared[thread] = {total_and_value}
            cuda.syncthreads()
            step *= 2
"""
TOTALS = """\
        if thread == 0:
            totals[place] = shared[THREADS - 1]
        cuda.syncthreads()
"""
CARRY = """\
        if place % tiles > 0:
            total = before[place - 1]
"""
REST = """\
        total = {neutral}
{carry}        if thread > 0:
            value = shared[thread - 1]
            total = {total_and_value}
        for n in range(first, last):
            value = {wide_x}
            total = {total_and_value}
            out[n] = {narrow_total}
        cuda.syncthreads()
"""
KERNELS = {
    "tile_totals": ("totals, ", TOTALS),
    "scan_tiles": ("out, ", REST),
    "scan_tiles_after": ("before, out, ", REST),
}


def scan_text(kernel: str, kind: str, element: dtype, threads: int, out: dtype | None = None) -> tuple[str, str]:
    """The text of one of the three kernels for elements of this dtype, and its name."""
    spelling, narrow = CudaSpelling(), out or element
    wide = wide_of(kind, element)
    name = f"{kernel}_{kind}_{element.name}_to_{narrow.name}"
    others, end = KERNELS[kernel]
    words = {
        **{"name": name, "others": others, "each": EACH, "tile": EACH * threads, "wide": wide.name},
        "neutral": start(kind, wide, spelling),
        "total_and_value": combine_in_order(kind, wide, "total", "value", spelling),
        "wide_x": spelling.convert("x[n]", element, wide),
        "narrow_total": spelling.convert("total", wide, narrow),
        "carry": CARRY if kernel == "scan_tiles_after" else "",
    }
    return (BEGIN + end).format(**words), name


def wide_of(kind: str, element: dtype) -> dtype:
    """The dtype that is carried along a row."""
    return scan_dtype(Buffer("x", (), (), element), kind)


@launched_by("scan")
def _(call: ExternCall, resources: Resources) -> Launch:
    """Its outputs are the results, and room for the totals of tiles, and of tiles of these."""
    kind: str = call.parameters[0]
    x, launcher = call.inputs[0], resources.launcher
    element, wide = x.buffer.dtype, wide_of(kind, x.buffer.dtype)
    rows = numel(x.sizes[:-1])
    lengths = [x.sizes[-1], *tiles_at_levels(x.sizes[-1], EACH * launcher.threads)]

    def prepared(kernel: str, level: int, read: dtype, written: dtype, pointers: Sequence[dtype]) -> Launch:
        text, name = scan_text(kernel, kind, read, launcher.threads, written)
        size = lengths[level]
        blocks = max(1, min(rows * -(-size // (EACH * launcher.threads)), launcher.most_blocks))
        above = lengths[level + 1] if level + 1 < len(lengths) else 0
        counts = {"tile_totals": (size, above), "scan_tiles": (size, size), "scan_tiles_after": (size, above, size)}
        reaches = [(rows * n, p.numpy) for n, p in zip(counts[kernel], pointers, strict=True)]
        compiled = resources.compile(text, name, [*(p.name for p in pointers), SIZE, SIZE])
        return compiled(blocks, reaches, [rows, size])

    top = len(lengths) - 1
    elements = [element, *[wide] * top]
    up = [prepared("tile_totals", n, elements[n], wide, [elements[n], wide]) for n in range(top)]
    peak = prepared("scan_tiles", top, elements[top], elements[top], [elements[top]] * 2)
    down = [
        prepared("scan_tiles_after", n, elements[n], elements[n], [elements[n], wide, elements[n]]) for n in range(top)
    ]

    def launch(addresses: Sequence[int], stream: StreamHandle) -> None:
        source, out, *totals = addresses
        read, written = [source, *totals], [out, *totals]
        for level, kernel in enumerate(up):
            kernel([read[level], totals[level]], stream)
        peak([read[top], written[top]], stream)
        for level in reversed(range(top)):
            down[level]([read[level], totals[level], written[level]], stream)

    return launch


def tiles_at_levels(size: int, tile: int) -> list[int]:
    """How many tiles a row has, how many tiles these are, and so on; none if one tile is enough.

    >>> tiles_at_levels(256, 256), tiles_at_levels(257, 256), tiles_at_levels(10**6, 256)
    ([], [2], [3907, 16])
    """
    found = []
    while size > tile:
        size = -(-size // tile)
        found.append(size)
    return found


SMALLEST_TILE = 32 * EACH  # of any launcher: room for the totals is made before one is known


def scan_rule(graph: GraphLowering, x: TensorBox, dim: int, kind: str) -> TensorBox | None:
    """The lowering of `prims.scan` for a GPU; None for rows that are one thread's work each."""
    last, size = len(x.sizes) - 1, x.sizes[dim]
    across = dim != last and numel(x.sizes) >= MANY * size
    if size <= SHORT or numel(x.sizes) == 0 or across or x.dtype is bool_:
        return None
    if x.dtype in HALF:
        result: TensorBox = in_float32(scanned, [x.dtype])(graph, x, dim, kind)
        return result
    return scanned(graph, x, dim, kind)


def scanned(graph: GraphLowering, x: TensorBox, dim: int, kind: str) -> TensorBox:
    """By blocks of threads, with the dimension moved to the end and back."""
    last = len(x.sizes) - 1
    moved = lambda at: (*at[:dim], *at[dim + 1 :], at[dim])
    back = lambda at: (*at[:dim], at[last], *at[dim:last])
    sizes: Ints = tuple(moved(x.sizes))
    rows = reindexed(x, sizes, back)
    levels = tiles_at_levels(sizes[-1], SMALLEST_TILE)
    totals = [graph.new_buffer((numel(sizes[:-1]), n), wide_of(kind, x.dtype)) for n in levels]
    outputs = [graph.new_buffer(sizes, x.dtype), *totals]
    result = graph.extern("scan", [contiguous_view(graph, rows)], outputs, kind)[0]
    return reindexed(result, x.sizes, moved)
