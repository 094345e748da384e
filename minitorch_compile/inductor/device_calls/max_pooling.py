"""Maximum pooling on a GPU: a thread looks through each window; the gradient is a scatter.

>>> print(TEXT.splitlines()[0])
def max_pool2d(x, out, places, planes, rows, columns, out_rows, out_columns, tall, wide, down, across, above, before, \
step_down, step_across):
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minitorch_compile.inductor.device_calls.extern_launches import Resources, launched_by
from minitorch_compile.inductor.device_calls.launcher import SIZE, Launch
from minitorch_compile.inductor.ir.buffer import Position
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import Index, unflatten
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.creation import full
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF, in_float32
from minitorch_compile.inductor.lowering.indexing import scatter
from minitorch_compile.tensor.memory.strides import numel

SIZES = (
    *("planes", "rows", "columns", "out_rows", "out_columns"),
    *("tall", "wide", "down", "across", "above", "before", "step_down", "step_across"),
)

# The first of equals stays, and the last NaN.
TEXT = f"""\
def max_pool2d(x, out, places, {", ".join(SIZES)}):
    for n in range(cuda.grid(1), planes * out_rows * out_columns, cuda.gridsize(1)):
        plane = n // (out_rows * out_columns) * rows * columns
        top = n // out_columns % out_rows * down - above
        left = n % out_columns * across - before
        best, place = x[0], -1
        for i in range(tall):
            row = top + i * step_down
            if row >= 0 and row < rows:
                for j in range(wide):
                    column = left + j * step_across
                    if column >= 0 and column < columns:
                        number = x[plane + row * columns + column]
                        if place < 0 or number > best or number != number:
                            best, place = number, row * columns + column
        out[n], places[n] = best, place
"""


@launched_by("max_pool2d")
def _(call: ExternCall, resources: Resources) -> Launch:
    kernel_size, stride, padding, dilation, _ = call.parameters
    image, out = call.inputs[0].sizes, call.outputs[0]
    element, launcher = out.dtype, resources.launcher
    kernel = resources.compile(TEXT, "max_pool2d", [element.name, element.name, "int64", *[SIZE] * len(SIZES)])
    blocks = max(1, min(-(-out.length // launcher.threads), launcher.most_blocks))
    reaches = [(numel(image), element.numpy), (out.length, element.numpy), (out.length, np.dtype(np.int64))]
    planes = image[0] * image[1]
    sizes = [planes, *image[2:], *out.sizes[2:], *kernel_size, *stride, *padding, *dilation]
    return kernel(blocks, reaches, sizes)


def max_pool_backward_rule(
    graph: GraphLowering, grad: TensorBox, indices: TensorBox, input_sizes: Sequence[int]
) -> TensorBox:
    """The lowering of `prims.max_pool2d_backward`: an element of grad is added where the maximum stood."""
    sizes = tuple(input_sizes)

    def target(ops: Handler, at: Position) -> tuple[Index, ...]:
        place = ops.indirect(indices.load(ops, at), numel(sizes[2:]), wrap=False)
        return (*at[:2], *unflatten(place, sizes[2:]))

    def add(graph: GraphLowering, grad: TensorBox) -> TensorBox:
        return scatter(graph, full(graph, sizes, 0, grad.dtype), grad, target, "sum")

    result: TensorBox = (in_float32(add, [grad.dtype]) if grad.dtype in HALF else add)(graph, grad)
    return result
