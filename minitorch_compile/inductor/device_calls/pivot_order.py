"""The order of rows that swaps lead to, on a GPU: a thread for each matrix makes its swaps one after another.

>>> print(TEXT.splitlines()[0])
def pivot_order(pivots, order, matrices, swaps, rows):
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.inductor.device_calls.extern_launches import Resources, launched_by
from minitorch_compile.inductor.device_calls.launcher import SIZE, Launch, Reach
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.stored_views import contiguous_view
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import int64

TEXT = """\
def pivot_order(pivots, order, matrices, swaps, rows):
    for matrix in range(cuda.grid(1), matrices, cuda.gridsize(1)):
        first = matrix * rows
        for row in range(rows):
            order[first + row] = row
        for row in range(swaps):
            other = first + pivots[matrix * swaps + row] - 1
            moved = order[other]
            order[other] = order[first + row]
            order[first + row] = moved
"""


def pivot_order_rule(graph: GraphLowering, pivots: TensorBox, rows: int) -> TensorBox:
    """The lowering of the prim."""
    out = graph.new_buffer((*pivots.sizes[:-1], rows), int64)
    return graph.extern("pivot_order", [contiguous_view(graph, pivots)], [out])[0]


@launched_by("pivot_order")
def _(call: ExternCall, resources: Resources) -> Launch:
    (pivots,), (order,) = call.inputs, call.outputs
    matrices, swaps, rows = numel(pivots.sizes[:-1]), pivots.sizes[-1], order.sizes[-1]
    kernel = resources.compile(TEXT, "pivot_order", ["int32", "int64", SIZE, SIZE, SIZE])
    reaches: list[Reach] = [(numel(pivots.sizes), np.dtype(np.int32)), (numel(order.sizes), np.dtype(np.int64))]
    threads, most = resources.launcher.threads, resources.launcher.most_blocks
    return kernel(max(1, min(-(-matrices // threads), most)), reaches, [matrices, swaps, rows])
