"""What a graph returns: each result in a buffer of its own, with the strides that the caller expects.

>>> from minitorch_compile import prims
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.inductor.lowering import lower
>>> from minitorch_compile.tensor import empty_fake
>>> graph = lower(trace(lambda x: (x, prims.transpose(x, (1, 0))), [empty_fake((2, 3))]))
>>> graph.outputs  # an argument stays the memory that it is; of a view, the caller gets a copy
[arg_x[2, 3]:[3, 1], buf0[3, 2]:[2, 1]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx import Node
from minitorch_compile.inductor.ir.buffer import Buffer, Ints
from minitorch_compile.inductor.ir.dependencies import plain_view
from minitorch_compile.inductor.ir.extern_call import StridedView, same_layout, whole
from minitorch_compile.inductor.ir.index import variables
from minitorch_compile.inductor.ir.loops import Loop, TensorBox
from minitorch_compile.inductor.lowering.stored_views import stored_view
from minitorch_compile.tensor.memory.strides import contiguous_strides, is_dense, numel
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering


def lower_outputs(graph: GraphLowering, node: Node, boxes: Any) -> list[StridedView]:
    """A view for each output. An input that is returned as it is stays the same memory; anything else gets its own."""
    wanted = node.meta.get("val") or [source.meta["val"] for source in node.args[0]]
    views: list[StridedView] = []
    known: dict[int, StridedView] = {}
    for source, box, value in zip(node.args[0], boxes, wanted):
        if source.op in ("placeholder", "get_attr"):
            views.append(whole(box.buffer))
            continue
        graph.origin = box.origin
        if id(box) not in known:
            known[id(box)] = output_of(graph, box, value)
        views.append(known[id(box)])
    return views


def output_of(graph: GraphLowering, box: TensorBox, wanted: TensorBase) -> StridedView:
    """The box as a tensor that the caller gets: in a buffer of its own, with the strides it expects."""
    sizes, strides = box.sizes, tuple(wanted.strides)
    view = stored_view(graph, box) if box.buffer is not None or is_view(box) else None
    if view is not None and view.buffer.kind == "temporary" and same_layout(view, strides) and view.offset == 0:
        if numel(sizes) == numel(view.buffer.sizes):
            view.buffer.kind = "output"
            return StridedView(view.buffer, sizes, strides)
    return copied_out(graph, box, strides)


def is_view(box: TensorBox) -> bool:
    return plain_view(box.load, variables("i", box.sizes)) is not None


def copied_out(graph: GraphLowering, box: TensorBox, strides: Ints) -> StridedView:
    """A new output buffer. Dimensions of stride 0 repeat one element, so they are stored once."""
    stored = tuple(1 if stride == 0 else size for size, stride in zip(box.sizes, strides))
    if not is_dense(stored, strides):
        strides = contiguous_strides(stored)
    buffer = graph.new_buffer(stored, box.dtype, strides)
    buffer.kind = "output"
    graph.add(Loop(buffer, stored, box.load))
    return StridedView(buffer, box.sizes, tuple(0 if n != m else s for n, m, s in zip(box.sizes, stored, strides)))


def written_back(
    outputs: Sequence[StridedView], inputs: Sequence[Buffer], wanted: Mapping[int, int]
) -> dict[Buffer, Buffer]:
    """For those of the `wanted` outputs that are laid out as the input that they belong into: which input that is."""
    buffers = [view.buffer for view in outputs]
    found: dict[Buffer, Buffer] = {}
    for position, argument in wanted.items():
        view, target = outputs[position], inputs[argument]
        alike = view.sizes == target.sizes and same_layout(view, target.strides) and not view.offset
        dense = view.buffer.length == target.length == numel(target.sizes) > 0  # else no loop would make it
        if (
            alike
            and dense
            and view.buffer.dtype is target.dtype
            and buffers.count(view.buffer) == 1
            and view.buffer.kind != "input"
        ):
            found[view.buffer] = target
    return found
