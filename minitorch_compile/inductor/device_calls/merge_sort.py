"""Sorting on a GPU: runs that are in order are merged in pairs, and every element finds its own place.

First each thread counts which of the RUN elements around its own come before it. Then runs are merged until one is
left: how far an element moves is how many of the other run come before it, which a search by halves tells. Equal ones
keep their order, since of them the elements of the first run come first; NaN is the largest. What moves are places; the
elements stay where they are.

    runs            2  5  5' 9  |  1  5" 6  8
    of the other    1  1  1  4     0  3  3  3     5" comes after 2, 5 and 5'
    merged          1  2  5  5' 5" 6  8  9

>>> text, name = merge_sort_text("merge_runs", "float32", descending=False)
>>> print(text.splitlines()[0])
def merge_runs_float32_rising(keys, order, merged, rows, size, width):
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.device_calls.extern_launches import Resources, launched_by
from minitorch_compile.inductor.device_calls.launcher import SIZE, Launch, memory_dtype
from minitorch_compile.inductor.ir.buffer import Position
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.shape import reindexed
from minitorch_compile.inductor.lowering.stored_views import contiguous_view
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import int64

RUN = 32

TEXTS = {
    "rank_in_runs": """\
def {name}(keys, order, rows, size):
    for n in range(cuda.grid(1), rows * size, cuda.gridsize(1)):
        place = n % size
        row = n - place
        mine = {key_of_n}
        start = place // {run} * {run}
        rank = 0
        for seen in range(start, min(start + {run}, size)):
            other = {key_of_seen}
            if {other_before_mine} or (seen < place and not ({mine_before_other})):
                rank += 1
        order[row + start + rank] = place
""",
    "merge_runs": """\
def {name}(keys, order, merged, rows, size, width):
    for n in range(cuda.grid(1), rows * size, cuda.gridsize(1)):
        place = n % size
        row = n - place
        moved = order[n]
        mine = {key_of_moved}
        start = place // (2 * width) * (2 * width)
        middle = min(start + width, size)
        is_first = place < middle
        low = middle if is_first else start
        high = min(middle + width, size) if is_first else middle
        own = place if is_first else start + place - middle
        begin = low
        while low < high:
            half = (low + high) // 2
            other = {key_of_half}
            if {other_before_mine} or (not is_first and not ({mine_before_other})):
                low = half + 1
            else:
                high = half
        merged[row + own + low - begin] = moved
""",
}
SIZES = {"rank_in_runs": 2, "merge_runs": 3}  # behind keys and one or two orders


def merge_sort_text(kernel: str, element: str, descending: bool) -> tuple[str, str]:
    """The text of one of the two kernels for keys of this dtype, and its name."""
    name = f"{kernel}_{element}_{'falling' if descending else 'rising'}"
    key = f"half_floats.float32_of_{element}(keys[{{}}])" if element in ("float16", "bfloat16") else "keys[{}]"
    words = {
        "key_of_n": key.format("n"),
        "key_of_seen": key.format("row + seen"),
        "key_of_moved": key.format("row + moved"),
        "key_of_half": key.format("row + order[row + half]"),
        "other_before_mine": before("other", "mine", descending),
        "mine_before_other": before("mine", "other", descending),
    }
    return TEXTS[kernel].format(name=name, run=RUN, **words), name


def before(a: str, b: str, descending: bool) -> str:
    """Whether a comes before b; NaN is the largest.

    >>> before("x", "y", False), before("x", "y", True)
    ('x < y or (y != y and x == x)', 'x > y or (x != x and y == y)')
    """
    return f"{a} > {b} or ({a} != {a} and {b} == {b})" if descending else f"{a} < {b} or ({b} != {b} and {a} == {a})"


@launched_by("sort")
def _(call: ExternCall, resources: Resources) -> Launch:
    """Its outputs are the order, and room for another one: each merge goes from one of them to the other."""
    descending: bool = call.parameters[0]
    (keys,), element = call.inputs, call.inputs[0].buffer.dtype
    size = keys.sizes[-1]
    rows, launcher = numel(keys.sizes[:-1]), resources.launcher
    blocks = max(1, min(-(-rows * size // launcher.threads), launcher.most_blocks))

    def prepared(kernel: str, orders: int, numbers: Sequence[int]) -> Launch:
        text, name = merge_sort_text(kernel, element.name, descending)
        kinds = [memory_dtype(element).name, *["int64"] * orders, *[SIZE] * SIZES[kernel]]
        reaches = [(rows * size, memory_dtype(element)), *[(rows * size, np.dtype(np.int64))] * orders]
        return resources.compile(text, name, kinds)(blocks, reaches, numbers)

    rank = prepared("rank_in_runs", 1, [rows, size])
    merges = [prepared("merge_runs", 2, [rows, size, width]) for width in widths(size)]

    def launch(addresses: Sequence[int], stream: StreamHandle) -> None:
        where, *orders = addresses
        source, target = orders if len(merges) % 2 == 0 else orders[::-1]
        rank([where, source], stream)
        for merge in merges:
            merge([where, source, target], stream)
            source, target = target, source

    return launch


def widths(size: int) -> list[int]:
    """How long the runs are before each merge.

    >>> widths(32), widths(200)
    ([], [32, 64, 128])
    """
    found, width = [], RUN
    while width < size:
        found.append(width)
        width *= 2
    return found


def sort_rule(graph: GraphLowering, x: TensorBox, dim: int, descending: bool) -> tuple[TensorBox, TensorBox]:
    """The lowering of `prims.sort` for a GPU, whose kernels sort along the last dimension."""
    last = len(x.sizes) - 1
    moved = lambda at: (*at[:dim], *at[dim + 1 :], at[dim])
    back = lambda at: (*at[:dim], at[last], *at[dim:last])
    rows = reindexed(x, moved(x.sizes), back)
    orders = [graph.new_buffer(rows.sizes, int64) for _ in range(2)]
    order = graph.extern("sort", [contiguous_view(graph, rows)], orders, descending)[0]
    places = reindexed(order, x.sizes, moved)

    def load(ops: Handler, at: Position) -> object:
        place = ops.indirect(places.load(ops, at), x.sizes[dim], wrap=False)
        return x.load(ops, [*at[:dim], place, *at[dim + 1 :]])

    graph.realize(x)
    return TensorBox(x.sizes, x.dtype, load, inputs=[x, places], operations=2), places
