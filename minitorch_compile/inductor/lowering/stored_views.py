"""Boxes as an extern kernel reads them: parts of buffers, without a copy if a box only renames the elements of one.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import TensorBox
>>> from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> graph = GraphLowering()
>>> x = TensorBox.of(Buffer.contiguous("x", (2, 3), float32))
>>> transposed = TensorBox((3, 2), float32, lambda ops, at: x.load(ops, (at[1], at[0])))
>>> transposed.view_of = x
>>> stored_view(graph, transposed).strides, contiguous_view(graph, transposed).strides
((1, 3), (2, 1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.inductor.ir.buffer import Ints
from minitorch_compile.inductor.ir.dependencies import plain_view
from minitorch_compile.inductor.ir.extern_call import StridedView, same_layout, whole
from minitorch_compile.inductor.ir.index import variables
from minitorch_compile.inductor.ir.loops import Loop, TensorBox
from minitorch_compile.tensor.memory.strides import contiguous_strides

if TYPE_CHECKING:
    from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering


def stored_view(graph: GraphLowering, box: TensorBox) -> StridedView:
    """The box as part of a buffer: without a copy if it only renames the elements of one."""
    base = box
    while base.buffer is None and base.view_of is not None:
        base = base.view_of
    if base.buffer is None and base.numel <= box.numel:
        graph.realize(base)  # what is viewed here may be wanted elsewhere too, so it is stored rather than the view
    found = plain_view(box.load, variables("i", box.sizes))
    if found is None:
        return whole(graph.realize(box))
    return StridedView(found.buffer, box.sizes, found.strides, found.offset)


def contiguous_view(graph: GraphLowering, box: TensorBox) -> StridedView:
    """The box in row-major order, copied if need be."""
    return dense_view(graph, box, contiguous_strides(box.sizes))


def dense_view(graph: GraphLowering, box: TensorBox, strides: Ints) -> StridedView:
    """The box with these dense strides, copied if need be."""
    view = stored_view(graph, box)
    if not same_layout(view, strides):
        buffer = graph.new_buffer(box.sizes, box.dtype, strides)
        graph.add(Loop(buffer, box.sizes, box.load))
        return whole(buffer)
    return StridedView(view.buffer, view.sizes, strides, view.offset)
