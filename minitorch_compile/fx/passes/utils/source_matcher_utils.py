"""Parts of a graph that came from one call in the program: of a module, or of a function.

>>> from minitorch_compile import nn
>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
>>> parts = get_source_partitions(module.graph, [nn.Linear])
>>> [part.output_nodes for part in parts[nn.Linear]]
[[_0], [_2]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node


@dataclass
class SourcePartition:
    """The nodes of one call, what they read and what others read of them."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """For each wanted class of modules, or function, the parts that came from it."""
    found: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        name, source = _source(node)
        if source in wanted_sources and (filter_fn is None or filter_fn(node)):
            found.setdefault(source, {}).setdefault(name, []).append(node)
    return {source: [_partition(nodes, source) for nodes in calls.values()] for source, calls in found.items()}


def _source(node: Node) -> tuple[str, Any]:
    """The innermost module or the function that a node came from, with a name of the call."""
    stack = node.meta.get("source_fn_stack")
    if stack:
        return stack[-1]
    if node.op == "call_module" and node.graph.owning_module is not None:
        return node.name, type(node.graph.owning_module.attributes[str(node.target)])
    modules = node.meta.get("nn_module_stack")
    if node.op in ("call_function", "call_method") and modules:
        key = next(reversed(modules))
        return key, modules[key][1]
    return node.name, node.target if node.op == "call_function" else None


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inside = set(nodes)
    params = [node for node in nodes if node.op == "get_attr"]
    inputs = dict.fromkeys(each for node in nodes for each in node.all_input_nodes if each not in inside)
    outputs = [node for node in nodes if any(user not in inside for user in node.users)]
    return SourcePartition(nodes, source, list(inputs), outputs, params)


def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether the second reads what the first computes."""
    return any(node in subgraph1.nodes for node in subgraph2.input_nodes)


__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]
