"""Convolutions on a GPU as matrix products: what each result is a sum over is copied out into a matrix (im2col).

    convolution          filters (F, C ky kx)        by  windows of the input (C ky kx, places)
    gradient of weights  gradient (F, places)        by  the same windows (places, C ky kx)
    gradient of inputs   filters (C, F ky kx)        by  windows of the gradient (F ky kx, pixels)
                      or filters (C ky kx, F)        by  gradient (F, places), added up where windows overlap

A batch of images is a batch of products; so are groups of channels. The gradient of the weights is one long product,
since its sums go over all images. Copying is a generated loop. A window of one pixel is not copied at all, where the
image lies in memory as it is wanted.

cuDNN copies nothing, and is faster by what these copies take: this is for where it isn't there, or refuses
(`cudnn_rules.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile import prims
from minitorch_compile.inductor.ir.buffer import Buffer, Ints, Position
from minitorch_compile.inductor.ir.extern_call import StridedView
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.kernels.calls import shape_of_convolution
from minitorch_compile.inductor.lowering.creation import full
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF, in_float32, widened
from minitorch_compile.inductor.lowering.reduction import reduced
from minitorch_compile.inductor.lowering.shape import all_of, pad, reindexed, within
from minitorch_compile.inductor.lowering.stored_views import contiguous_view, stored_view
from minitorch_compile.inductor.lowering.table import Rule
from minitorch_compile.kernel_library.convolution_plan import Shape
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.memory.memory_format import channels_last, suggested_format
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import int64

PRODUCT = "convolution_product"  # a batch of products, with a precision of its own
Compute = Callable[[GraphLowering, TensorBox, TensorBox, Shape], TensorBox]


def convolution_rules(knows_half: bool) -> dict[str, Rule]:
    """The rules of the three prims. Unless it `knows_half`, the product is one of float32 for numbers of two bytes."""
    computes: dict[Prim, Compute] = {
        prims.convolution: convolution,
        prims.convolution_input_grad: input_gradient,
        prims.convolution_weight_grad: weight_gradient,
    }
    return {prim.name: _rule(prim, compute, knows_half) for prim, compute in computes.items()}


def _rule(prim: Prim, compute: Compute, knows_half: bool) -> Rule:
    def in_any_precision(graph: GraphLowering, first: TensorBox, second: TensorBox, *how: Any) -> TensorBox:
        sizes = result_sizes(prim, first, second, how)
        shape = shape_of_convolution(prim.name, first.sizes, second.sizes, sizes, how)
        if shape.part == 0 or shape.per_group == 0 or shape.pixels == 0:  # a sum of nothing
            return full(graph, sizes, 0, first.dtype)
        return compute(graph, first, second, shape)

    def rule(graph: GraphLowering, first: TensorBox, second: TensorBox, *how: Any) -> TensorBox | None:
        known = knows_half or first.dtype not in HALF
        made = in_any_precision if known else in_float32(in_any_precision, [first.dtype])
        result: TensorBox = made(graph, first, second, *how)
        return result

    return rule


def result_sizes(prim: Prim, first: TensorBox, second: TensorBox, how: Sequence[Any]) -> Ints:
    """The sizes of what a prim gives."""
    if prim is not prims.convolution:
        return tuple(how[0])
    stride, padding, dilation, _ = how
    reached = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(first.sizes[2:], second.sizes[2:], stride, padding, dilation, strict=True)
    ]
    return (first.sizes[0], second.sizes[0], *reached)


# ------------------------------------------------------------------------------------------ the three products


def convolution(graph: GraphLowering, x: TensorBox, w: TensorBox, shape: Shape) -> TensorBox:
    """Filters by windows; the other way round if that gives the channels last, as they are wanted then."""
    groups, places = shape.groups, numel(shape.out)
    last = groups == 1 and any(is_channels_last(stored_view(graph, box)) for box in (x, w))
    view = contiguous_view(graph, windows(graph, x, shape, batch_first=True))
    columns = matrices(view, shape.images * groups, shape.window, places)
    filters = _filters(graph, w, shape, lambda g, f, c: [g * shape.per_group + f, c], shape.per_group, shape.part)
    if not last:
        out = graph.new_buffer((shape.images, shape.filters, *shape.out), x.dtype)
        return product(graph, filters, columns, out)
    out = graph.new_buffer((shape.images, *shape.out, shape.filters), x.dtype)
    rows = product(graph, turned(columns), turned(filters), out)
    return reindexed(rows, (shape.images, shape.filters, *shape.out), lambda at: [at[0], at[2], at[3], at[1]])


def weight_gradient(graph: GraphLowering, grad: TensorBox, x: TensorBox, shape: Shape) -> TensorBox:
    """The gradients of all places by their windows, in one sum over all images."""
    groups, filters, places = shape.groups, shape.per_group, shape.images * numel(shape.out)
    view = contiguous_view(graph, windows(graph, x, shape, batch_first=False))
    by_filter = reindexed(
        *(grad, (groups, filters, shape.images, *shape.out)),
        lambda at: [at[2], at[0] * filters + at[1], at[3], at[4]],
    )
    gradients = matrices(contiguous_view(graph, by_filter), groups, filters, places)
    out = graph.new_buffer((shape.filters, shape.part, *shape.kernel), grad.dtype)
    return product(graph, gradients, turned(matrices(view, groups, shape.window, places)), out)


def input_gradient(graph: GraphLowering, grad: TensorBox, w: TensorBox, shape: Shape) -> TensorBox:
    """Filters by the gradients that each pixel has a part in; or what each place has for its window, added up where
    windows overlap, if that is less to keep."""
    groups, places, pixels = shape.groups, numel(shape.out), numel(shape.image)
    if shape.stride == (1, 1) and shape.per_group <= shape.part:
        taps = shape.per_group * numel(shape.kernel)
        columns = matrices(contiguous_view(graph, reached(grad, shape)), shape.images * groups, taps, pixels)
        channels = _filters(graph, w, shape, lambda g, c, f: [g * shape.per_group + f, c], shape.part, shape.per_group)
        return product(
            graph, channels, columns, graph.new_buffer((shape.images, shape.channels, *shape.image), w.dtype)
        )
    filters = _filters(graph, w, shape, lambda g, f, c: [g * shape.per_group + f, c], shape.per_group, shape.part)
    gradients = matrices(contiguous_view(graph, grad), shape.images * groups, shape.per_group, places)
    out = graph.new_buffer((shape.images, groups, shape.part, *shape.kernel, *shape.out), w.dtype)
    return folded(graph, product(graph, turned(filters), gradients, out), shape)


def product(graph: GraphLowering, a: StridedView, b: StridedView, out: Buffer) -> TensorBox:
    """The products of two batches of matrices, one after another in `out`."""
    (result,) = graph.extern(PRODUCT, [a, b], [out])
    return result


def matrices(view: StridedView, batch: int, rows: int, columns: int, apart: int | None = None) -> StridedView:
    """What lies in row-major order as a batch of matrices; with apart=0 it is the same one each time."""
    apart = rows * columns if apart is None else apart
    return StridedView(view.buffer, (batch, rows, columns), (apart, columns, 1), view.offset)


def turned(view: StridedView) -> StridedView:
    """The matrices, transposed."""
    (batch, rows, columns), (apart, row, column) = view.sizes, view.strides
    return StridedView(view.buffer, (batch, columns, rows), (apart, column, row), view.offset)


def is_channels_last(view: StridedView) -> bool:
    """Whether the channels of a pixel are neighbours."""
    return suggested_format(view.sizes, view.strides) is channels_last


# ------------------------------------------------------------------------------------------ the matrices


def windows(graph: GraphLowering, x: TensorBox, shape: Shape, batch_first: bool) -> TensorBox:
    """The pixel of each image, channel, tap and place: (N, groups, C, ky, kx, y, x), or with N before (y, x)."""
    (sy, sx), (dy, dx), padding = shape.stride, shape.dilation, (0, 0, *shape.padding)
    source = x if not any(padding) else pad(graph, _wide(x), padding, padding, 0)
    sizes = [shape.images, shape.groups, shape.part, *shape.kernel, *shape.out]

    def place(at: Position) -> Position:
        n, g, c, ky, kx, y, x = at if batch_first else [at[4], *at[:4], *at[5:]]
        return [n, g * shape.part + c, y * sy + ky * dy, x * sx + kx * dx]

    return _narrow(reindexed(source, sizes if batch_first else [*sizes[1:5], sizes[0], *sizes[5:]], place), x)


def reached(grad: TensorBox, shape: Shape) -> TensorBox:
    """The gradient that a pixel has a part in through a tap of a filter: (N, groups, F, ky, kx, y, x); else 0."""

    def at_tap(n: Index, g: Index, f: Index, tap: Position, place: Position) -> Position:
        return [n, g * shape.per_group + f, *place]

    sizes = (shape.images, shape.groups, shape.per_group, *shape.kernel, *shape.image)
    return _narrow(_met(grad, sizes, shape, at_tap, pixel_first=False), grad)


def folded(graph: GraphLowering, columns: TensorBox, shape: Shape) -> TensorBox:
    """The sums, for each pixel, of what windows (N, groups, C, ky, kx, y, x) have for it."""

    def at_tap(n: Index, g: Index, c: Index, tap: Position, place: Position) -> Position:
        return [n, g, c, *tap, *place]

    sizes = (shape.images, shape.groups, shape.part, *shape.image, *shape.kernel)
    total = reduced(graph, "sum", _met(columns, sizes, shape, at_tap, pixel_first=True), (5, 6))
    image = (shape.images, shape.channels, *shape.image)
    return _narrow(
        reindexed(total, image, lambda at: [at[0], at[1] // shape.part, at[1] % shape.part, *at[2:]]), columns
    )


def _met(x: TensorBox, sizes: Ints, shape: Shape, at_tap: Callable[..., Position], pixel_first: bool) -> TensorBox:
    """Where a pixel is met by a tap of a window, the element of x that `at_tap` says for that place; else 0."""
    source = _wide(x)

    def inner(ops: Handler, at: Position) -> object:
        pixel, tap = (at[3:5], at[5:]) if pixel_first else (at[5:], at[3:5])
        place, conditions = [], []
        for d in range(2):
            steps = pixel[d] + shape.padding[d] - tap[d] * shape.dilation[d]
            reached, lands = divided(ops, steps, shape.stride[d])
            conditions += [lands, within(ops, reached, 0, shape.out[d])]
            place.append(reached)
        condition = all_of(ops, conditions)
        body = lambda: source.load(ops, at_tap(*at[:3], tap, place))
        return body() if condition is None else ops.masked(condition, body, 0, source.dtype)

    return TensorBox(sizes, source.dtype, inner, inputs=[source], operations=2)


def divided(ops: Handler, steps: Index, stride: int) -> tuple[Index, object | None]:
    """How many strides make so many steps, and the condition that it is a whole number, which counts from below 0."""
    if stride == 1:
        return steps, None
    before = -min(steps.bounds()[0] // stride, 0)  # strides that are added, since digits are of positive numbers
    shifted = steps + before * stride
    whole = ops.apply("eq", ops.index_value(shifted % stride, int64), ops.constant(0, int64))
    return shifted // stride - before, whole


def _filters(
    graph: GraphLowering, w: TensorBox, shape: Shape, place: Callable[..., list[Index]], rows: int, channels: int
) -> StridedView:
    """The weights as a matrix for each image and group; `place` is that of (group, row, channel) in w.

    A group's matrix is the same for all images: they lie in memory once, unless steps through images and groups
    would differ then."""
    images = 1 if shape.groups == 1 else shape.images
    sizes = (images, shape.groups, rows, channels, *shape.kernel)
    view = contiguous_view(graph, reindexed(w, sizes, lambda at: [*place(*at[1:4]), *at[4:]]))
    columns = channels * numel(shape.kernel)
    return matrices(view, shape.images * shape.groups, rows, columns, apart=0 if shape.groups == 1 else None)


def _wide(x: TensorBox) -> TensorBox:
    return widened(x) if x.dtype in HALF else x


def _narrow(box: TensorBox, like: TensorBox) -> TensorBox:
    """Numbers that were only moved, in the dtype that they had."""
    if box.dtype is like.dtype:
        return box
    return TensorBox(box.sizes, like.dtype, lambda ops, at: ops.convert(box.load(ops, at), like.dtype), inputs=[box])
