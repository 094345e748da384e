"""`show`: what a pass does to a program, before and after beside each other.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> module = trace(lambda x: (x * 1).exp(), [empty_fake((2,))])
>>> show("remove_no_ops", module)
node           label         value   reads
-------------  ------------  ------  ----------
before.x       x             f32[2]
before.mul     mul(other=1)  f32[2]  before.x
before.exp     exp           f32[2]  before.mul
before.output  output                before.exp
after.x        x             f32[2]
after.exp      exp           f32[2]  after.x
after.output   output                after.exp
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.aot.passes.pass_list import PASSES, Pass, find_pass, on_copies
from minitorch_compile.fx import passes as graph_passes
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.graph_view import GraphView


def show(rewrite: str | Callable[[Any], Any], module: GraphModule) -> GraphView:
    """A drawing of what a pass makes of a graph module; the module stays as it is.

    rewrite: the name of a pass in the list, or a function of graphs as `register_pass` takes it, such as `merge_addmm`.
    The nodes must call ops, as in a graph from `trace`: in the graph that was captured passes find little to do.
    """
    if not isinstance(module, GraphModule):
        raise TypeError(f"show: expected a GraphModule, but got {type(module).__name__}")
    return graph_passes.show(_pass_of(rewrite), module)


def _pass_of(rewrite: str | Callable[[Any], Any]) -> Pass:
    if isinstance(rewrite, str):
        return find_pass(rewrite)
    if isinstance(rewrite, Pass):
        return rewrite
    for each in PASSES:
        if each.rewrite is rewrite:  # a function of graph modules
            return each
    return Pass(getattr(rewrite, "__name__", ""), "", on_copies(rewrite))
