"""A graph module cut into parts, each a module of its own, called one after the other.

>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x, y: ((x + y) * 2).relu() - y)
>>> parts = split_module(module, None, lambda node: 0 if node.name in ("add", "mul") else 1)
>>> print(parts.code.strip())
def forward(self, x, y):
    submod_0 = self.submod_0(x, y);  x = None
    submod_1 = self.submod_1(submod_0, y);  submod_0 = y = None
    return submod_1
>>> parts.submod_1.graph.compact()
'mul, y -> mul.relu() - y'
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node

OUTSIDE = ("placeholder", "get_attr", "output")  # nodes that belong to no part


@dataclass
class Partition:
    """A part while it is being made: dicts, for their order."""

    name: str
    nodes: list[Node] = field(default_factory=list, init=False)
    inputs: dict[Node, None] = field(default_factory=dict, init=False)
    outputs: dict[Node, None] = field(default_factory=dict, init=False)
    needs: dict[Any, None] = field(default_factory=dict, init=False)  # the parts that it reads from


def split_module(
    m: GraphModule,
    root_m: Any,
    split_callback: Callable[[Node], Any],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """`split_callback` says for each node to which part it belongs. `qualname_map` is filled with the old names of the
    modules by the new ones. RuntimeError if two parts need each other."""
    parts = _parts(m, split_callback, partition_affix)
    order = list(parts) if keep_original_order else _ordered(parts)
    base, values = Graph(), {}
    modules: dict[str, Any] = {}

    def value_of(node: Node) -> Node:
        if node not in values:  # attributes are read where they are first needed
            values[node] = base.node_copy(node)
            modules[str(node.target)] = m.attributes[str(node.target)]
        return values[node]

    for node in m.graph.find_nodes(op="placeholder"):
        values[node] = base.node_copy(node)
    for key in order:
        part = parts[key]
        graph, wanted = _part_graph(part, keep_original_input_name, tuple_return)
        modules[part.name] = made = GraphModule(m, graph, "GraphModule")
        if qualname_map is not None:
            qualname_map.update({f"{part.name}.{name}": name for name in made.attributes})
        call = base.call_module(part.name, tuple(map(value_of, part.inputs)))
        if len(wanted) == 1 and not tuple_return:
            values[wanted[0]] = call
        else:
            for i, node in enumerate(wanted):
                values[node] = base.call_function(operator.getitem, (call, i))
    for node in m.graph.find_nodes(op="output"):
        base.node_copy(node, value_of)
    return GraphModule(modules, base)


def _parts(m: GraphModule, split_callback: Callable[[Node], Any], affix: str | None) -> dict[Any, Partition]:
    parts: dict[Any, Partition] = {}
    key_of: dict[Node, Any] = {}
    for node in m.graph.nodes:
        if node.op in OUTSIDE:
            continue
        key = key_of[node] = split_callback(node)
        name = f"submod_{key}" if affix is None else f"submod_{affix}_{key}"
        parts.setdefault(key, Partition(name)).nodes.append(node)
    for node in m.graph.nodes:
        for source in node.all_input_nodes:
            here, there = key_of.get(node), key_of.get(source)
            if node in key_of and (source not in key_of or here != there):
                parts[here].inputs[source] = None
            if source in key_of and (node not in key_of or here != there):
                parts[there].outputs[source] = None
                if node in key_of:
                    parts[here].needs[there] = None
    return parts


def _ordered(parts: dict[Any, Partition]) -> list[Any]:
    """Each part after those that it needs."""
    ordered: list[Any] = []
    left = list(parts)
    while left:
        ready = [key for key in left if all(need in ordered for need in parts[key].needs)]
        if not ready:
            raise RuntimeError("cycle exists between partitions!")
        ordered.append(ready[0])
        left.remove(ready[0])
    return ordered


def _part_graph(part: Partition, keep_names: bool, tuple_return: bool) -> tuple[Graph, list[Node]]:
    """The graph of a part, and the nodes whose values it returns."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for i, node in enumerate(part.inputs):
        copies[node] = graph.placeholder(node.name if keep_names else f"arg_{i}", type_expr=node.type)
        copies[node].meta = dict(node.meta)
    for node in part.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    wanted = list(part.outputs)
    results = tuple(copies[node] for node in wanted)
    graph.output(results[0] if len(results) == 1 and not tuple_return else results)
    return graph, wanted


__all__ = ["Partition", "split_module"]
