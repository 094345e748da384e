"""Constants of a graph as arguments: compilers need to know one way only by which a tensor enters.

>>> from minitorch_compile.fx import Graph, GraphModule
>>> from minitorch_compile.tensor import ops, tensor
>>> graph = Graph()
>>> x, table = graph.placeholder("x"), graph.get_attr("table")
>>> _ = graph.output(graph.call_function(ops.mul, (x, table)))
>>> lifted, constants = lift_constants(GraphModule({"table": tensor([1, 2])}, graph))
>>> print(lifted.graph.compact(), constants)
x, table_1 -> mul(x, table_1) [tensor([1, 2])]
"""

from __future__ import annotations

import copy

from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like


def lift_constants(graph_module: GraphModule) -> tuple[GraphModule, list[TensorBase]]:
    """The module with its tensor attributes as further arguments, behind the others, and their values."""
    nodes = [n for n in graph_module.graph.find_nodes(op="get_attr") if _is_tensor(graph_module, n)]
    if not nodes:
        return graph_module, []
    graph = copy.deepcopy(graph_module.graph)
    constants: dict[str, Node] = {}
    for node in graph.find_nodes(op="get_attr"):
        if not _is_tensor(graph_module, node):
            continue
        name = str(node.target)
        if name not in constants:
            constants[name] = _placeholder_behind(node, name)
            constants[name].meta["val"] = fake_like(graph_module.attributes[name])
        node.replace_all_uses_with(constants[name])
        graph.erase_node(node)
    rest = {name: value for name, value in graph_module.attributes.items() if name not in constants}
    lifted = LazyGraphModule(rest, graph)
    lifted.meta.update(graph_module.meta)
    return lifted, [graph_module.attributes[name] for name in constants]


def _is_tensor(graph_module: GraphModule, node: Node) -> bool:
    return isinstance(graph_module.attributes[str(node.target)], TensorBase)


def _placeholder_behind(node: Node, name: str) -> Node:
    """A new last argument."""
    first = next(n for n in node.graph.nodes if n.op != "placeholder")
    with node.graph.inserting_before(first):
        return node.graph.placeholder(name)
