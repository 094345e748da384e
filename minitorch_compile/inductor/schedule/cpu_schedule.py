"""From loops to the schedule of the CPU target: what is rewritten first, and what may be fused.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, w, product, out = (Buffer.contiguous(name, (256, 256), float32) for name in ("x", "w", "product", "out"))
>>> multiply = ExternCall("mm", [whole(x), whole(w)], [product])
>>> exp = Loop(out, (256, 256), lambda ops, at: ops.apply("exp", ops.load(product, product.address(at))))
>>> cpu_schedule(LoopGraph([x, w], [multiply, exp], [whole(out)])).steps[1]
FusedCall(packed_product: product, then Group(i0:65536; stage 0: out), in blocks of ... of 256)
"""

from __future__ import annotations

from collections.abc import Callable

from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
from minitorch_compile.inductor.schedule.block_calls import blocks_of
from minitorch_compile.inductor.schedule.fit import Limits
from minitorch_compile.inductor.schedule.fused_call import Blocks
from minitorch_compile.inductor.schedule.packed_products import Choice, pack_products, packing_pays
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.inductor.schedule.split_reductions import split_reductions
from minitorch_compile.kernel_options import DEFAULTS, Options


def cpu_schedule(
    graph: LoopGraph,
    options: Options = DEFAULTS,
    packed: Choice = packing_pays,
    blocks: Callable[[ExternCall], Blocks | None] = blocks_of,
) -> Schedule:
    """The schedule of a graph on the CPU.

    `packed` says which matrix products are done by tiles instead of BLAS, `blocks` which extern calls may have an
    epilogue, and how much of their results is made at once.
    """
    rewritten = graph
    if any(type(operation) is Loop and operation.is_reduction for operation in graph.operations):
        rewritten = split_reductions(rewritten)
    if any(isinstance(operation, ExternCall) for operation in graph.operations):
        rewritten = pack_products(rewritten, packed)
    if options.max_fusion_size == 1 or not options.epilogue_fusion:  # 1: every loop on its own
        return schedule(rewritten, Limits(operations=options.max_fusion_size))
    return schedule(rewritten, Limits(operations=options.max_fusion_size, blocks_of=blocks))
