"""Checks what compilers rely on: a graph of ops on values that nobody overwrites.

Every functional program is checked when it has been made, and every graph before a compiler gets it: a pass or a
decomposition that brings a write in is found where it is wrong, and not by its numbers.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import ops
>>> verify_functional(symbolic_trace(lambda x: x.add_(1)).graph)
Traceback (most recent call last):
RuntimeError: verify_functional: node 'add_' is a call_method; expected nothing but calls of ops ...
"""

from __future__ import annotations

import operator

from minitorch_compile.aot.custom_calls import CustomCall
from minitorch_compile.fx.graph import Graph
from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor.dispatch.op import Op


def verify_functional(graph: Graph) -> None:
    """RuntimeError unless every node calls an op that writes nowhere and draws nothing, and knows its value's sizes."""
    graph.lint()
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output") or isinstance(node.meta.get("val"), (SymInt, SymFloat)):
            continue
        if node.op != "call_function" or not (
            isinstance(node.target, (Op, CustomCall)) or node.target is operator.getitem
        ):
            raise RuntimeError(
                f"verify_functional: node '{node.name}' is a {node.op}; expected nothing but calls of ops (and getitem)"
            )
        kind = getattr(node.target, "kind", "")
        if kind in ("inplace", "random", "composite"):
            raise RuntimeError(f"verify_functional: node '{node.name}' calls {node.target!r}, which is {kind}")
        if "val" not in node.meta:
            raise RuntimeError(f"verify_functional: node '{node.name}' has no meta['val']; make the graph with trace")
