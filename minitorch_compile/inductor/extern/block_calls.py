"""Extern kernels that can have an epilogue, each with how its result falls into blocks and how it is called.

Such a kernel's parameters begin with a range [lo, hi), of which position n fills a piece of its only output: the
protocol of `fused_call`. To let another kernel take part, enter it in `BLOCK_CALLS`.

>>> from minitorch_compile.inductor.ir import Buffer, whole
>>> from minitorch_compile.tensor.dtype import float32
>>> a, panels = Buffer.contiguous("a", (960, 64), float32), Buffer.contiguous("panels", (2, 64, 32), float32)
>>> call = ExternCall("packed_product", [whole(a), whole(panels)], [Buffer.contiguous("c", (960, 64), float32)])
>>> blocks_of(call)
Blocks(extent=960, elements=64, length=192)
>>> turn_of(call, ['"a"', '"panels"', '"c"'], "").step
'(packed_product_float32, 960, 32, 64, 64, "a", 64, 1, "panels", "c")'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from minitorch_compile.inductor.extern.calls import (
    ExternSource,
    batched_product_source,
    batched_tiles_source,
    packed_product_source,
)
from minitorch_compile.inductor.fused_call import Blocks
from minitorch_compile.inductor.ir import ExternCall
from minitorch_compile.inductor.packed_products import matrix_blocks, row_blocks


class BlockCall(NamedTuple):
    """`blocks`: how the result of a call falls into blocks, or None if that call can have no epilogue.

    `turn(call, pointers, workspace, range)`: the source of the kernel and its arguments, `range` in the place of the
    range.
    """

    blocks: Callable[[ExternCall], Blocks | None]
    turn: Callable[[ExternCall, Sequence[str], str, str], ExternSource]


BLOCK_CALLS: dict[str, BlockCall] = {
    "packed_product": BlockCall(row_blocks, packed_product_source),
    "bmm": BlockCall(matrix_blocks, batched_product_source),
    "batched_tiles": BlockCall(matrix_blocks, batched_tiles_source),
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
