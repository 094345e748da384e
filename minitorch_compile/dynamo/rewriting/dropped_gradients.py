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
