"""The arguments of `decompose`: where to stop, what else stays, and which graphs can be rewritten at all.

>>> from minitorch_compile.tensor import ops
>>> keeps = keeps_of([ops.softmax], keep=None)
>>> keeps(ops.softmax, ()), keeps(ops.exp, ())
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.prims.core import CORE
from minitorch_compile.tensor.dispatch.op import Op

Keep = Callable[[Op, tuple[Any, ...]], bool]
Until = str | Collection[Op]
STAGES = ("prims", "core")


def keeps_of(until: Until, keep: Keep | None) -> Keep:
    """Which calls stay, from the two arguments of `decompose`."""
    if isinstance(until, str):
        if until not in STAGES:
            raise ValueError(f"decompose: until must be 'prims', 'core' or a collection of ops, but got {until!r}")
        staying: Collection[Op] = CORE if until == "core" else ()
    else:
        staying = frozenset(until)
        for op in staying:
            if not isinstance(op, Op):
                raise TypeError(f"decompose: until must hold ops such as torch.softmax, but it holds {op!r}")
            if op.kind in ("composite", "inplace"):
                raise ValueError(
                    f"decompose: until holds {op!r}, which is {op.kind}, so it never reaches a graph of ops"
                )
    if keep is None:
        return lambda op, args: op in staying
    return lambda op, args: op in staying or keep(op, args)


def check_traced(graph_module: Any) -> None:
    """TypeError for what is no graph module, ValueError for one whose arguments have no known sizes."""
    if not isinstance(graph_module, GraphModule):
        raise TypeError(f"decompose: expected a GraphModule, but got {graph_module!r}")
    for node in graph_module.graph.find_nodes(op="placeholder"):
        if "val" not in node.meta:
            raise ValueError(
                f"decompose: placeholder '{node.name}' has no meta['val'], so its sizes are not known; the graph must"
                " come from aot.tracing.trace(function, example_inputs)"
            )
