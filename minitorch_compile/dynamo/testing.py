"""Backends for tests and lessons: run graphs as they are, and count them.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.tensor import tensor
>>> counter = CompileCounter()
>>> optimize(lambda x: (x + 1) * 2, counter)(tensor([1.0]))
tensor([4.])
>>> counter.frame_count, counter.op_count
(1, 2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.fx import GraphModule


def eager(module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """The simplest backend: the graph itself."""
    return module


class CompileCounter:
    """A backend that runs graphs as they are and counts graphs and operations."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.frame_count = 0
        self.op_count = 0
        self.graphs: list[GraphModule] = []

    def __call__(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.frame_count += 1
        self.op_count += sum(node.op.startswith("call") for node in module.graph.nodes)
        self.graphs.append(module)
        return module
