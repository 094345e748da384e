"""What the exercises of this lesson share: the graphs that the package captures of a call.

>>> import minitorch_compile as torch
>>> result, graphs = capture(lambda x: x * 2 + 1, torch.ones(2))
>>> print(graphs[0].compact(), count_calls(graphs))
x -> ((x * 2) + 1,) 2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minitorch_compile as torch
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.fx import Graph


def capture(function: Callable[..., Any], *args: Any, fullgraph: bool = False) -> tuple[Any, list[Graph]]:
    """The result of one compiled call, and the graphs that were made of it."""
    counter = CompileCounter()
    result = torch.compile(function, backend=counter, fullgraph=fullgraph)(*args)
    return result, [module.graph for module in counter.graphs]


def count_calls(graphs: Sequence[Graph]) -> int:
    """The operations in all graphs together."""
    return sum(node.op.startswith("call") for graph in graphs for node in graph.nodes)
