"""Prims that become calls of kernels which are not loops made here: matrix products, pooling, attention.

A transposed matrix is not copied: BLAS reads it in place, told its strides.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Buffer, Ints
from minitorch_compile.inductor.ir.extern_call import StridedView, matrix_layout
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.creation import full
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.pointwise import elementwise
from minitorch_compile.inductor.lowering.reduction import reduced
from minitorch_compile.inductor.lowering.shape import reindexed
from minitorch_compile.inductor.lowering.stored_views import contiguous_view, stored_view
from minitorch_compile.inductor.lowering.table import Rule, lowering
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def matrix(graph: GraphLowering, x: TensorBox) -> StridedView:
    """The box as matrices that BLAS can read, copied only if need be."""
    view = stored_view(graph, x)
    return view if matrix_layout(view) else contiguous_view(graph, x)


def product(graph: GraphLowering, prim: Prim, a: TensorBox, b: TensorBox) -> TensorBox:
    sizes = (*a.sizes[:-1], b.sizes[-1])
    if a.sizes[-1] == 0 or numel(sizes) == 0:  # a sum of nothing
        return full(graph, sizes, 0, a.dtype)
    if not a.dtype.is_floating_point or 1 in (*a.sizes[-2:], b.sizes[-1]):
        return sum_of_products(graph, a, b)
    (result,) = graph.extern(prim.name, [matrix(graph, a), matrix(graph, b)], [graph.new_buffer(sizes, a.dtype)])
    return result


def sum_of_products(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox:
    """The definition, as a reduction: BLAS has no integers; on vectors, memory is the limit for both."""
    *batch, rows, inner = a.sizes
    if b.sizes[-1] > 1 and a.operations:  # each element is read several times
        graph.realize(a)
    if rows > 1 and b.operations:
        graph.realize(b)
    sizes = [*batch, rows, inner, b.sizes[-1]]
    left = reindexed(a, sizes, lambda at: at[:-1])
    right = reindexed(b, sizes, lambda at: [*at[:-3], at[-2], at[-1]])
    return reduced(graph, "sum", elementwise("mul", a.dtype, left, right), (len(sizes) - 2,))


@lowering(prims.mm)
def _(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox:
    return product(graph, prims.mm, a, b)


@lowering(prims.bmm)
def _(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox:
    return product(graph, prims.bmm, a, b)


def extern_rule(prim: Prim, tensors: int) -> Rule:
    """A prim whose first `tensors` arguments are tensors, read in row-major order; its sizes come from its own rule."""

    def rule(graph: GraphLowering, *arguments: Any) -> TensorBox | tuple[TensorBox, ...]:
        boxes, parameters = arguments[:tensors], arguments[tensors:]
        fakes = [empty_fake(box.sizes, None, box.dtype) for box in boxes]
        shapes = prim.meta(*fakes, *parameters)
        several = isinstance(shapes, tuple)
        results: tuple[TensorBase, ...] = shapes if several else (shapes,)
        outputs = [graph.new_buffer(tuple(fake.sizes), fake.dtype) for fake in results]
        inputs = [contiguous_view(graph, box) for box in boxes]
        made = graph.extern(prim.name, inputs, outputs, *parameters)
        return tuple(made) if several else made[0]

    return rule


lowering(prims.max_pool2d_backward)(extern_rule(prims.max_pool2d_backward, 2))
lowering(prims.max_pool2d)(extern_rule(prims.max_pool2d, 1))


# ------------------------------------------------------------------------------------------ attention


@lowering(prims.flash_attention)
def _(
    graph: GraphLowering, query: TensorBox, key: TensorBox, value: TensorBox, mask: TensorBox | None, *how: Any
) -> tuple[TensorBox, ...]:
    inputs = [stored_view(graph, query), matrix(graph, key), matrix(graph, value)]
    sizes = (*query.sizes[:3], value.sizes[3])
    outputs = [_buffer_like(graph, sizes, inputs[0]), graph.new_buffer((*sizes[:3], 2), query.dtype)]
    return tuple(_attention(graph, prims.flash_attention, inputs, mask, outputs, how))


@lowering(prims.flash_attention_backward)
def _(graph: GraphLowering, *arguments: Any) -> tuple[TensorBox, ...]:
    grad, query, key, value, out, normalizers, mask, *how = arguments
    inputs = [
        stored_view(graph, grad),
        stored_view(graph, query),
        matrix(graph, key),
        matrix(graph, value),
        stored_view(graph, out),
    ]
    outputs = [_buffer_like(graph, view.sizes, view) for view in inputs[1:4]]
    inputs.append(contiguous_view(graph, normalizers))
    return tuple(_attention(graph, prims.flash_attention_backward, inputs, mask, outputs, how))


def _attention(
    graph: GraphLowering, prim: Prim, inputs: list[StridedView], mask: TensorBox | None, outputs: Any, how: Any
) -> list[TensorBox]:
    """The call; a mask is the last input, no mask the first parameter: in either way, the prim's order."""
    if mask is None:
        return graph.extern(prim.name, inputs, outputs, None, *how)
    return graph.extern(prim.name, [*inputs, stored_view(graph, mask)], outputs, *how)


def _buffer_like(graph: GraphLowering, sizes: Ints, like: StridedView) -> Buffer:
    """A buffer (N, H, L, E) whose dimensions lie in memory in the order of another one's: a query whose heads lie side
    by side makes a result whose heads do, which is how programs go on."""
    if like.strides[2] < like.strides[1]:
        return graph.new_buffer(sizes, like.buffer.dtype)
    n, h, rows, width = sizes
    return graph.new_buffer(sizes, like.buffer.dtype, (h * rows * width, width, h * width, 1))
