"""Why two steps are not one kernel, for every pair between which a buffer goes.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, product = (Buffer.contiguous(name, (8, 8), float32) for name in ("x", "y", "product"))
>>> exp = Loop(y, (8, 8), lambda ops, at: ops.apply("exp", ops.load(x, x.address(at))))
>>> multiply = ExternCall("mm", [whole(y), whole(y)], [product])
>>> schedule(LoopGraph([x], [exp, multiply], [whole(product)])).why_not
[y -> product: product is an extern kernel (mm)]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.schedule.fit import fit
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.group import WhyNot
from minitorch_compile.inductor.schedule.schedule import Edge

if TYPE_CHECKING:
    from minitorch_compile.inductor.schedule.scheduler import Node, Scheduler


def unfused_edges(scheduler: Scheduler) -> list[Edge]:
    """Every pair of steps that is left, with the reason."""
    return [Edge(a.name, b.name, _reason(scheduler, a, b)) for a, b in _pairs(scheduler)]


def _pairs(scheduler: Scheduler) -> Iterator[tuple[Node, Node]]:
    for node in scheduler.nodes:
        yield from dict.fromkeys((source, node) for source in scheduler.inputs(node))


def _reason(scheduler: Scheduler, a: Node, b: Node) -> str:
    refused = scheduler.refused.get((a, b)) or scheduler.refused.get((b, a))
    for node in (a, b) if refused is None else ():
        if isinstance(node.step, FusedCall):
            return f"{node.step.result.name} has its epilogue ({node.step.call.kernel})"
        if isinstance(node.step, ExternCall):
            return f"{node.name} is an extern kernel ({node.step.kernel})"
    if refused is None:
        result = fit(scheduler, a, b)
        refused = result if isinstance(result, WhyNot) else WhyNot("they were never compared")
    return refused.reason
