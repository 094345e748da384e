"""Epilogues: once no pair of groups is left to fuse, an extern call takes in the first group that can follow it.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.fit import Limits
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, w, product, out = (Buffer.contiguous(name, (64, 64), float32) for name in ("x", "w", "product", "out"))
>>> multiply = ExternCall("mm", [whole(x), whole(w)], [product])
>>> exp = Loop(out, (64, 64), lambda ops, at: ops.apply("exp", ops.load(product, product.address(at))))
>>> rows = Limits(blocks_of=lambda call: Blocks(extent=64, elements=64, length=16))
>>> schedule(LoopGraph([x, w], [multiply, exp], [whole(out)]), rows).steps
[FusedCall(mm: product, then Group(i0:4096; stage 0: out), in blocks of 16 of 64)]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.schedule.fit import between
from minitorch_compile.inductor.schedule.fused_call import Blocks, FusedCall, fuse_call
from minitorch_compile.inductor.schedule.group import Group, WhyNot
from minitorch_compile.inductor.schedule.schedule import call_of

if TYPE_CHECKING:
    from minitorch_compile.inductor.schedule.scheduler import Node, Scheduler


def add_epilogues(scheduler: Scheduler, blocks_of: Callable[[ExternCall], Blocks | None]) -> None:
    """Gives each extern call, of whose result there are blocks, the first group that can be its epilogue."""
    for node in sorted(scheduler.nodes, key=lambda node: node.first):
        blocks = blocks_of(node.step) if isinstance(node.step, ExternCall) else None
        if blocks is None:
            continue
        readers = sorted(scheduler.readers.get(node.step.outputs[0], ()), key=lambda reader: reader.first)
        for reader in readers:
            result = _with_epilogue(scheduler, node, reader, blocks)
            if isinstance(result, FusedCall):
                scheduler.replace(node, reader, result)
                break
            scheduler.refused[node, reader] = result


def _with_epilogue(scheduler: Scheduler, node: Node, reader: Node, blocks: Blocks) -> FusedCall | WhyNot:
    """The call with the group that reads its result, or why not."""
    if not isinstance(reader.step, Group):
        return WhyNot(f"{reader.name} is an extern kernel ({call_of(reader.step).kernel})")
    assert isinstance(node.step, ExternCall)
    middle = between(scheduler, node, reader)
    if middle is not None:
        return WhyNot(f"{middle.name} must run between them")
    return fuse_call(node.step, reader.step, blocks)
