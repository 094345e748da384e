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

from minitorch_compile.aot.passes.pass_list import find_pass
from minitorch_compile.fx import passes as graph_passes
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.graph_view import GraphView


def show(rewrite: str | Callable[[Any], Any], module: GraphModule | Graph) -> GraphView:
    """A drawing of what a pass, given by its name in the list or as a function, makes of a graph."""
    return graph_passes.show(find_pass(rewrite) if isinstance(rewrite, str) else rewrite, module)
