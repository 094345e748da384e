"""Convolution and its two gradients as calls of kernels, in the memory order that their operands have.

If an operand lies channels last, so does the result, as in PyTorch: nothing is turned over on the way. A window of 1x1
is then one matrix product, of all pixels of all images by the weights.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Ints
from minitorch_compile.inductor.ir.extern_call import StridedView
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.kernels.calls import CHANNELS_LAST, shape_of_convolution
from minitorch_compile.inductor.kernels.channels_last_plan import suits
from minitorch_compile.inductor.lowering.extern import extern_rule
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.shape import reindexed
from minitorch_compile.inductor.lowering.stored_views import dense_view, stored_view
from minitorch_compile.inductor.lowering.table import Rule, lowering
from minitorch_compile.kernel_library.convolution_plan import Shape
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.memory.memory_format import channels_last, strides_in, suggested_format
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float32, float64
from minitorch_compile.tensor.tensor_base import empty_fake


def convolution_rule(prim: Prim) -> Rule:
    in_rows = extern_rule(prim, 2)

    def rule(graph: GraphLowering, first: TensorBox, second: TensorBox, *parameters: Any) -> TensorBox:
        views = [stored_view(graph, box) for box in (first, second)]
        fakes = [empty_fake(box.sizes, None, box.dtype) for box in (first, second)]
        sizes = tuple(prim.meta(*fakes, *parameters).sizes)
        shape = shape_of_convolution(prim.name, first.sizes, second.sizes, sizes, parameters)
        last = any(suggested_format(view.sizes, view.strides) is channels_last for view in views)
        if not last or first.dtype not in (float32, float64) or not suits(prim.name, shape):
            made = in_rows(graph, first, second, *parameters)
            assert isinstance(made, TensorBox)
            return made
        a, b = (dense_view(graph, box, strides_in(channels_last, box.sizes)) for box in (first, second))
        if is_matrix_product(prim, shape):
            return product_of_pixels(graph, prim, a, b, sizes)
        out = graph.new_buffer(sizes, first.dtype, strides_in(channels_last, sizes))
        return graph.extern(CHANNELS_LAST + prim.name, [a, b], [out], *parameters)[0]

    return rule


def is_matrix_product(prim: Prim, shape: Shape) -> bool:
    """Whether it is best computed as one. A gradient of weights isn't: sums over all pixels are long, results few."""
    several = min(shape.channels, shape.filters, shape.pixels) > 1
    return prim is not prims.convolution_weight_grad and shape.is_product and shape.groups == 1 and several


def product_of_pixels(
    graph: GraphLowering, prim: Prim, first: StridedView, second: StridedView, sizes: Ints
) -> TensorBox:
    """A window of 1x1, or the gradient of its input: matrices with a row for each pixel, and for each filter."""
    a, b = as_rows(first), as_rows(second)
    if prim is prims.convolution:
        b = StridedView(b.buffer, b.sizes[::-1], b.strides[::-1], b.offset)
    (rows,) = graph.extern("mm", [a, b], [graph.new_buffer((a.sizes[0], b.sizes[1]), first.buffer.dtype)])
    _, _, height, width = sizes
    result = reindexed(rows, sizes, lambda at: [(at[0] * height + at[2]) * width + at[3], at[1]])
    result.channels_last = True
    return result


def as_rows(view: StridedView) -> StridedView:
    """A dense channels-last view (N, C, H, W) as the matrix (N * H * W, C)."""
    channels = view.sizes[1]
    return StridedView(view.buffer, (numel(view.sizes) // channels, channels), (channels, 1), view.offset)


for _prim in (prims.convolution, prims.convolution_input_grad, prims.convolution_weight_grad):
    lowering(_prim)(convolution_rule(_prim))
