"""What passes share: names of targets, and graphs brought into order.

>>> import operator
>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: (x + 1).relu())
>>> x, add, relu, output = module.graph.nodes
>>> get_node_target({}, add), get_node_target({}, relu)
('_operator.add', 'relu')
>>> relu.append(add)
>>> print(list(legalize_graph(module).graph.nodes))
[x, add, relu, output]
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.targets import qualified_name, torch_name
from minitorch_compile.tensor.tensor_base import TensorBase

NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}


def get_node_target(submodules: Mapping[str, Any], node: Node) -> str:
    """What a node calls, as a string: the class of a module, the dotted name of a function, the name of a method."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(sorted(CALLABLE_NODE_OPS))}, but found {node.op}")
    if node.op == "call_module":
        cls = type(submodules[str(node.target)])
        return f"{torch_name(cls.__module__)}.{cls.__name__}"
    return qualified_name(node.target) if node.op == "call_function" else str(node.target)


def is_node_output_tensor(node: Node) -> bool:
    """Whether the value is a tensor; ShapeProp has to have run."""
    kind = node.meta.get("type")
    return isinstance(kind, type) and issubclass(kind, TensorBase)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Brings the nodes into an order in which each comes after what it reads; nodes that needn't move stay as they
    were to each other. RuntimeError if they read each other in a circle."""
    position = {node: i for i, node in enumerate(gm.graph.nodes)}
    waiting = {node: len(node.all_input_nodes) for node in position}
    ready = [(i, node) for node, i in position.items() if waiting[node] == 0]
    ordered = Graph(tracer_cls=gm.graph._tracer_cls)
    copies: dict[Node, Node] = {}
    while ready:
        _, node = heapq.heappop(ready)
        copies[node] = ordered.node_copy(node, copies.__getitem__)
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, (position[user], user))
    if len(copies) < len(position):
        raise RuntimeError(f"Input graph has cycles, unable to add {[n for n in position if n not in copies]}")
    ordered._own_codegen = gm.graph._own_codegen
    gm.graph = ordered
    return gm


def legalize_graph(gm: GraphModule) -> GraphModule:
    """As `stable_topological_sort`."""
    return stable_topological_sort(gm)


__all__ = ["get_node_target", "is_node_output_tensor", "legalize_graph", "stable_topological_sort"]
