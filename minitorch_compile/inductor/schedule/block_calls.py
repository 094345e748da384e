"""Extern kernels that can have an epilogue, each with how its result falls into blocks and how it is called.

Such a kernel's parameters begin with a range [lo, hi), of which position n fills a piece of its only output: the
protocol of `fused_call`. To let another kernel take part, enter it in `BLOCK_CALLS`.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> a, panels = Buffer.contiguous("a", (960, 64), float32), Buffer.contiguous("panels", (2, 64, 32), float32)
>>> call = ExternCall("packed_product", [whole(a), whole(panels)], [Buffer.contiguous("c", (960, 64), float32)])
>>> blocks_of(call)
Blocks(extent=960, elements=64, length=...)
>>> turn_of(call, ['"a"', '"panels"', '"c"'], "").step
'(packed_product_float32, 960, "a", "panels", "c", PackedProductPlan(width=32, columns=64, inner=64, ...))'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.kernels.calls import (
    WINOGRAD_KERNELS,
    ExternSource,
    batched_product_source,
    batched_tiles_source,
    convolution_shape,
    convolution_source,
    extent_of_convolution,
    packed_product_source,
)
from minitorch_compile.inductor.kernels.vector_tiles import tile_sizes
from minitorch_compile.inductor.schedule.fused_call import Blocks
from minitorch_compile.inductor.schedule.packed_products import matrix_blocks, row_blocks
from minitorch_compile.kernel_library.convolution_plan import at_once
from minitorch_compile.tensor.memory.strides import numel

BLOCK_BYTES = 1 << 17  # of a convolution's result that are made before the loops that follow
FEWEST_PLACES = 512  # for which it's worth while to pack the weights of a convolution again


class BlockCall(NamedTuple):
    """`blocks`: how the result of a call falls into blocks, or None if that call can have no epilogue.

    `turn(call, pointers, workspace, range)`: the source of the kernel and its arguments, `range` in the place of the
    range.
    """

    blocks: Callable[[ExternCall], Blocks | None]
    turn: Callable[[ExternCall, Sequence[str], str, str], ExternSource]


def image_blocks(call: ExternCall) -> Blocks | None:
    """How the result of a convolution, or the gradient of its input, falls into blocks of channels of an image."""
    shape = convolution_shape(call)
    results = shape.per_group if call.kernel == "convolution" else shape.part
    together = at_once(shape, results, tile_sizes())
    if results % together:  # the last piece is smaller
        return None
    images, _, height, width = call.outputs[0].sizes
    elements, of_image = together * height * width, shape.groups * results // together
    fitting = BLOCK_BYTES // (elements * call.outputs[0].dtype.itemsize)
    packing = -(-FEWEST_PLACES // (height * width)) * of_image if shape.part > 1 else 1
    return Blocks(images * of_image, elements, min(max(1, fitting, packing), images * of_image))


def pixel_blocks(call: ExternCall) -> Blocks | None:
    """How the result of a channels-last convolution, or the gradient of its input, falls into bands of rows.

    In the way of Winograd, into whole images.
    """
    extent, count = extent_of_convolution(call), numel(call.outputs[0].sizes)
    if extent == 0 or count % extent:
        return None
    elements = count // extent
    fitting = BLOCK_BYTES // (elements * call.outputs[0].dtype.itemsize)
    packing = -(-FEWEST_PLACES * call.outputs[0].sizes[1] // elements) if convolution_shape(call).part > 1 else 1
    return Blocks(extent, elements, min(max(1, fitting, packing), extent))


BLOCK_CALLS: dict[str, BlockCall] = {
    "packed_product": BlockCall(row_blocks, packed_product_source),
    "bmm": BlockCall(matrix_blocks, batched_product_source),
    "batched_tiles": BlockCall(matrix_blocks, batched_tiles_source),
    "convolution": BlockCall(image_blocks, convolution_source),
    "convolution_input_grad": BlockCall(image_blocks, convolution_source),
    "channels_last_convolution": BlockCall(pixel_blocks, convolution_source),
    "channels_last_convolution_input_grad": BlockCall(pixel_blocks, convolution_source),
    **{kernel: BlockCall(pixel_blocks, convolution_source) for kernel in WINOGRAD_KERNELS},
}


def blocks_of(call: ExternCall) -> Blocks | None:
    """How the result of a call falls into blocks; None if its kernel can have no epilogue."""
    known = BLOCK_CALLS.get(call.kernel)
    return known.blocks(call) if known else None


def turn_of(call: ExternCall, pointers: Sequence[str], workspace: str) -> ExternSource:
    """The source of a kernel that takes turns: `(kernel, how far its range goes, arguments...)`."""
    known = BLOCK_CALLS[call.kernel]
    blocks = known.blocks(call)
    assert blocks is not None
    return known.turn(call, pointers, workspace, str(blocks.extent))
