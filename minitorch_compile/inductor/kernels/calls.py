"""How a graph calls each extern kernel: a step for its `NativeCall`, and where the kernel comes from.

A step is the source of a tuple: the kernel, then numbers and the texts that stand for inputs and outputs.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> a, b = Buffer.contiguous("a", (4, 8), float32), Buffer.contiguous("b", (5, 8), float32)
>>> out = Buffer.contiguous("out", (4, 5), float32)
>>> transposed = StridedView(b, (8, 5), (1, 8))
>>> call = ExternCall("mm", [StridedView(a, (4, 8), (8, 1)), transposed], [out])
>>> source_of(call, ['"a"', '"b"', '"out"'], "")
ExternSource(step='(product_float32, 0, 1, "a", "b", "out", ProductPlan(strips=1, tiles=1, rows=4, columns=5, inner=8,
                     a_by_columns=0, a_step=8, b_by_columns=1, b_step=8, c_step=5))',
             definition='product_float32 = product_kernel("float32")')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minitorch_compile.inductor.ir.buffer import Ints
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, matrix_layout
from minitorch_compile.inductor.kernels import attention_calls, channels_last, convolution, winograd
from minitorch_compile.inductor.kernels.product_tiles import (
    BatchedTilesPlan,
    PackedProductPlan,
    PanelPlan,
    panel_width,
    product_rows,
)
from minitorch_compile.inductor.runtime.blas import BatchedProductPlan, ProductPlan
from minitorch_compile.inductor.runtime.chunks import SHORTEST, chunk_length, chunks_text
from minitorch_compile.kernel_library.convolution_plan import Shape, shortest_piece
from minitorch_compile.kernel_library.pooling_sizes import shape_of
from minitorch_compile.tensor.memory.strides import numel


class ExternSource(NamedTuple):
    """The step of a call, and the line that defines the kernel it names."""

    step: str
    definition: str


Rule = Callable[[ExternCall, Sequence[str], str], ExternSource]
_rules: dict[str, Rule] = {}
CHANNELS_LAST = "channels_last_"  # before the name of a convolution's kernel: all its tensors lie so
WINOGRAD = "winograd_"  # before these names and those of rows: what `max-autotune` may choose
CHANNELS_LAST_KERNELS = [CHANNELS_LAST + name for name in channels_last.KERNELS]
WINOGRAD_KERNELS = [
    WINOGRAD + order + name for order in ("", CHANNELS_LAST) for name in ("convolution", "convolution_input_grad")
]
MOST_PARTS, SMALLEST_PART, SMALLEST_SIDE = 8, 1 << 21, 64  # of a matrix product: BLAS copies the factors for each part
USES_BLAS = {"mm", "bmm", *convolution.KERNELS, *attention_calls.KERNELS}


def extern_source(*kernels: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        _rules.update(dict.fromkeys(kernels, rule))
        return rule

    return declare


def source_of(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    """The source of one call. `pointers` are the texts for inputs, then outputs."""
    return _rules[call.kernel](call, pointers, workspace)


def workspace_bytes(call: ExternCall) -> int:
    """The scratch memory that a call needs."""
    if call.kernel in attention_calls.KERNELS:
        return attention_calls.workspace_bytes(call)
    if call.kernel == "batched_tiles":
        _, inner, columns = call.inputs[1].sizes
        itemsize = call.outputs[0].dtype.itemsize
        width = panel_width(columns, itemsize)
        return -(-columns // width) * width * inner * itemsize
    if call.kernel not in (*convolution.KERNELS, *CHANNELS_LAST_KERNELS, *WINOGRAD_KERNELS):
        return 0
    _, elements = plan_of_convolution(call)
    return elements * call.outputs[0].dtype.itemsize


# ------------------------------------------------------------------------------------------ matrix products


def _by_columns_and_step(view: StridedView) -> tuple[int, int]:
    """Whether a matrix lies by columns, and the step between its rows or columns."""
    layout = matrix_layout(view)
    assert layout, "lowering makes matrices that BLAS can read"
    return int(layout[0]), layout[1]


@extern_source("mm")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    (a, b), (out,) = call.inputs, call.outputs
    sizes = a.sizes[0], b.sizes[1], a.sizes[1]
    strips, tiles = parts_of_product(*sizes)
    plan = ProductPlan(strips, tiles, *sizes, *_by_columns_and_step(a), *_by_columns_and_step(b), out.sizes[1])
    parts = chunks_text(strips * tiles, nanoseconds_of_products(math.prod(sizes)))
    return _source("product", "product_kernel", call, [parts, *pointers, plan])


@extern_source("bmm")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    return batched_product_source(call, pointers, workspace, batches_text(call))


@extern_source("batched_tiles")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    return batched_tiles_source(call, pointers, workspace, batches_text(call))


def batches_text(call: ExternCall) -> str:
    """The range of a batch of products, in chunks."""
    count, rows, inner = call.inputs[0].sizes
    return chunks_text(count, nanoseconds_of_products(count * rows * inner * call.outputs[0].sizes[-1]))


def batched_product_source(call: ExternCall, pointers: Sequence[str], workspace: str, parts: str) -> ExternSource:
    """The source of a batch of products by BLAS; `parts` is the text of its range, which counts products."""
    (a, b), (out,) = call.inputs, call.outputs
    first, second = (a.strides[0], *_by_columns_and_step(a)), (b.strides[0], *_by_columns_and_step(b))
    plan = BatchedProductPlan(a.sizes[1], b.sizes[2], a.sizes[2], *first, *second, out.sizes[2])
    return _source("batched_product", "batched_product_kernel", call, [parts, *pointers, plan])


def batched_tiles_source(call: ExternCall, pointers: Sequence[str], workspace: str, parts: str) -> ExternSource:
    """The source of a batch of products by tiles."""
    a, b = call.inputs
    width = panel_width(b.sizes[2], b.buffer.dtype.itemsize)
    panels = PanelPlan(width, b.sizes[1], b.sizes[2], *_by_columns_and_step(b))
    a_apart, a_step, a_inner_step = a.strides
    plan = BatchedTilesPlan(panels, a.sizes[1], a_apart, a_step, a_inner_step, b_apart=b.strides[0])
    first, second, out = pointers
    return _source("batched_tiles", "batched_tiles_kernel", call, [parts, first, second, workspace, out, plan])


@extern_source("pack_panels")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    (b,), (packed,) = call.inputs, call.outputs
    panels, inner, width = packed.sizes
    plan = PanelPlan(width, inner, b.sizes[1], *_by_columns_and_step(b))
    parts = chunks_text(panels, 0.2 * numel(packed.sizes))
    return _source("pack_panels", "pack_panels_kernel", call, [parts, *pointers, plan])


@extern_source("packed_product")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    rows, inner = call.inputs[0].sizes
    cost = nanoseconds_of_products(rows * inner * call.outputs[0].sizes[1])
    tile = product_rows()
    length = -(-chunk_length(rows, cost) // tile) * tile
    parts = f"Chunks({rows}, {length})" if 0 < length < rows else f"0, {rows}"
    return packed_product_source(call, pointers, workspace, parts)


def packed_product_source(call: ExternCall, pointers: Sequence[str], workspace: str, parts: str) -> ExternSource:
    """The source of a packed product; `parts` is the text of its range, which counts rows."""
    (a, panels), (c,) = call.inputs, call.outputs
    plan = PackedProductPlan(panels.sizes[2], c.sizes[1], a.sizes[1], *a.strides)
    return _source("packed_product", "packed_product_kernel", call, [parts, *pointers, plan])


def nanoseconds_of_products(multiplications: int) -> float:
    """Roughly what one core needs for them."""
    return multiplications / 40


def parts_of_product(rows: int, columns: int, inner: int) -> tuple[int, int]:
    """Into how many strips of rows, and each of these into how many tiles, a product is cut for several threads.

    >>> parts_of_product(1024, 128, 512), parts_of_product(64, 64, 64)
    ((8, 1), (1, 1))
    """
    parts = min(MOST_PARTS, rows * columns * inner // SMALLEST_PART)
    if parts < 2:
        return 1, 1
    strips = max(1, min(parts, rows // SMALLEST_SIDE))
    return strips, max(1, min(parts // strips, columns // SMALLEST_SIDE))


def _source(name: str, maker: str, call: ExternCall, arguments: Sequence[Any], *parameters: str) -> ExternSource:
    """A step that calls a kernel which `maker(*parameters, dtype)` compiles."""
    element = call.outputs[0].dtype.name
    kernel = f"{name}_{element}"
    made_with = ", ".join(f'"{parameter}"' for parameter in (*parameters, element))
    return ExternSource(f"({kernel}, {', '.join(map(str, arguments))})", f"{kernel} = {maker}({made_with})")


# ------------------------------------------------------------------------------------------ images


def convolution_shape(call: ExternCall) -> Shape:
    """The sizes of the convolution of which a call computes the result or a gradient."""
    sizes = call.inputs[0].sizes, call.inputs[1].sizes, call.outputs[0].sizes
    return shape_of_convolution(name_of_convolution(call), *sizes, call.parameters)


def name_of_convolution(call: ExternCall) -> str:
    """The prim that a call computes, in whatever way."""
    return call.kernel.removeprefix(WINOGRAD).removeprefix(CHANNELS_LAST)


def shape_of_convolution(kernel: str, first: Ints, second: Ints, out: Ints, parameters: Sequence[Any]) -> Shape:
    """The same from the sizes of the operands and the result."""
    if kernel == "convolution":
        x, w, y = first, second, out
    elif kernel == "convolution_input_grad":
        x, w, y = out, second, first
    else:
        x, w, y = second, out, first
    image, window, places = ((sizes[2], sizes[3]) for sizes in (x, w, y))
    return Shape(x[0], x[1], image, w[0], window, places, *parameters[-4:])


@extern_source(*convolution.KERNELS, *CHANNELS_LAST_KERNELS, *WINOGRAD_KERNELS)
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    shape, shortest = convolution_shape(call), SHORTEST
    if call.kernel in convolution.KERNELS:
        shortest = shortest_piece(call.kernel, shape, convolution.plan_of(call.kernel, shape)[0])
    parts = chunks_text(extent_of_convolution(call), shape.nanoseconds, shortest)
    return convolution_source(call, pointers, workspace, parts)


def convolution_source(call: ExternCall, pointers: Sequence[str], workspace: str, parts: str) -> ExternSource:
    """The source of a convolution or a gradient of one; `parts` is the text of its range."""
    scratch = workspace or pointers[-1]  # a matrix product never looks at it
    arguments = [parts, *pointers, scratch, plan_of_convolution(call)[0]]
    if call.kernel in WINOGRAD_KERNELS:
        return _source("winograd", "winograd_kernel", call, arguments)
    name = name_of_convolution(call)
    maker = "convolution_kernel" if name == call.kernel else "channels_last_kernel"
    return _source(call.kernel, maker, call, arguments, name)


def plan_of_convolution(call: ExternCall) -> tuple[tuple[int, ...], int]:
    """What the kernel of a convolution is told, and how many elements of scratch memory it needs."""
    shape, name = convolution_shape(call), name_of_convolution(call)
    if call.kernel in WINOGRAD_KERNELS:
        return winograd.plan_of(shape, CHANNELS_LAST in call.kernel, name == "convolution_input_grad")
    return (channels_last if call.kernel in CHANNELS_LAST_KERNELS else convolution).plan_of(name, shape)


def extent_of_convolution(call: ExternCall) -> int:
    """How far the range of its kernel goes."""
    if call.kernel in WINOGRAD_KERNELS:
        return convolution_shape(call).images
    module = channels_last if call.kernel in CHANNELS_LAST_KERNELS else convolution
    return module.extent_of(name_of_convolution(call), convolution_shape(call))


@extern_source("max_pool2d")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    kernel, stride, padding, dilation, _ = call.parameters
    shape = shape_of(call.inputs[0].sizes, call.outputs[0].sizes, kernel, stride, padding, dilation)
    parts = chunks_text(shape.planes, shape.nanoseconds)
    return _source("max_pool2d", "max_pool_kernel", call, [parts, *pointers, shape])


@extern_source("max_pool2d_backward")
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    sizes, places = call.outputs[0].sizes, numel(call.inputs[0].sizes[2:])
    planes, area = numel(sizes[:2]), numel(sizes[2:])
    arguments = [chunks_text(planes, 1.0 * planes * (places + area)), *pointers, places, area]
    return _source("max_pool2d_backward", "max_pool_backward_kernel", call, arguments)


# ------------------------------------------------------------------------------------------ attention


@extern_source(*attention_calls.KERNELS)
def _(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    extent, multiplications, plan = attention_calls.arguments_of(call)
    parts = chunks_text(extent, nanoseconds_of_products(multiplications))
    tensors = attention_calls.with_mask(call, pointers)
    mask = attention_calls.mask_dtype(call)
    element = call.outputs[0].dtype.name
    kernel, maker = f"{call.kernel}_{element}_{mask}", attention_calls.KERNELS[call.kernel]
    step = f"({kernel}, {', '.join([parts, *tensors, workspace, str(plan)])})"
    return ExternSource(step, f'{kernel} = {maker}("{element}", "{mask}")')
