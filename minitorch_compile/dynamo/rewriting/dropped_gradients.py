"""Gradients that the program drops before anything can fail are dropped before the graph runs.

`optimizer.zero_grad()` stores None first of all, and backward() stores new gradients last. Done again only after the
graph has run, the old gradients would take memory beside the new ones all the while.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def step(w):
...     w.grad = None
...     w.square().sum().backward()
>>> w = ones(2, requires_grad=True)
>>> w.grad = ones(2)
>>> print(generated(step, w))
w.grad = None
(out_0,) = graph(w)
w.grad = out_0
return None
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.guards.source import AttrSource

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.rewriting.codegen import Codegen
    from minitorch_compile.dynamo.variables.tensor import TensorVariable


def note_dropped(output: OutputGraph, tensor: TensorVariable) -> None:
    """The program stores None as the gradient of a tensor from outside. If what comes before it may raise, or turn out
    otherwise than was expected, the plain program would find the old gradient there, and so must this one."""
    if not output.expectations and not any(node.meta.get("may_raise") for node in output.graph.nodes):
        output.dropped_gradients.append(tensor)


def drops(output: OutputGraph, codegen: Codegen, later: Sequence[str]) -> list[str]:
    """The statements that drop gradients which the statements that come `later` don't use."""
    words = set(re.findall(r"\w+", "\n".join(later)))
    lines = []
    for tensor in output.dropped_gradients:
        assert tensor.source is not None
        held = codegen.reader.variable_of(AttrSource(tensor.source, "grad"))
        if held not in words:
            names = [f"{codegen.read(tensor.source)}.grad", *([held] if held else [])]
            lines.append(f"{' = '.join(names)} = None")
    return lines
