"""Parts of a graph that become one node: which may, and how it is done.

>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: (x + 1).relu() * 2)
>>> x, add, relu, mul, _ = module.graph.nodes
>>> validate_partition([add, relu]), validate_partition([add, mul])      # relu would lie between
(True, False)
>>> fused = fuse_by_partitions(module, [{add: None, relu: None}])
>>> [node.name for node in fused.graph.nodes], fused.fused_0.graph.compact()
(['x', 'fused_0', 'mul', 'output'], 'x -> (x + 1).relu()')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node

NodeList = list[Node]


def topo_sort(nodes: NodeList) -> NodeList:
    """The nodes in an order in which each comes after those of them that it reads."""
    waiting = {node: sum(1 for source in node.all_input_nodes if source in nodes) for node in nodes}
    ready = [node for node, count in waiting.items() if count == 0]
    ordered = []
    while ready:
        node = ready.pop(0)
        ordered.append(node)
        for user in node.users:
            if user in waiting:
                waiting[user] -= 1
                if waiting[user] == 0:
                    ready.append(user)
    if len(ordered) != len(nodes):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return ordered


def validate_partition(partition: NodeList) -> bool:
    """Whether the nodes may become one: nothing outside reads one of them and is read by another."""
    inside = set(partition)
    outside = [user for node in partition for user in node.users if user not in inside]
    seen = set(outside)
    while outside:
        for user in outside.pop().users:
            if user in inside:
                return False
            if user not in seen:
                seen.add(user)
                outside.append(user)
    return True


def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: NodeList,
    module_name: str,
    partition_lookup_table: Any = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """The nodes, in execution order, as a graph module of their own; what it needs; and what others read of it."""
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
        if node not in gm.graph.nodes:
            raise AssertionError(f"{node} is not found in graph module {gm._get_name()}")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    part, inside = Graph(), set(nodes)
    copies: dict[Node, Node] = {}
    inputs: list[Node] = []

    def argument(source: Node) -> Node:
        if source not in copies:  # it comes from outside
            inputs.append(source)
            copies[source] = part.placeholder(source.name, type_expr=source.type)
            copies[source].meta = dict(source.meta)
        return copies[source]

    bodies: list[Node] = []
    for node in nodes:  # first all placeholders
        for source in node.all_input_nodes:
            if source not in inside:
                argument(source)
    for node in nodes:
        copies[node] = part.node_copy(node, argument)
        bodies.append(copies[node])
    outputs = tuple(node for node in nodes if any(user not in inside for user in node.users))
    results = tuple(copies[node] for node in outputs)
    part.output(results if always_return_tuple or len(results) != 1 else results[0])
    part.lint()
    return GraphModule(gm, part, module_name), tuple(inputs), outputs


def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: Sequence[Node],
    orig_outputs: Sequence[Node],
    insertion_point: Node | None = None,
) -> GraphModule:
    """A call of `sub_gm`, in place of the nodes that it was made of; those stay, unused. It comes after the last of
    them, or before `insertion_point`."""
    name = sub_gm.class_name
    gm.add_submodule(name, sub_gm)
    last = max((node for node in gm.graph.nodes if node in set(orig_outputs)), key=list(gm.graph.nodes).index)
    with gm.graph.inserting_before(insertion_point) if insertion_point else gm.graph.inserting_after(last):
        call = gm.graph.call_module(name, tuple(orig_inputs))
    output = sub_gm.graph.output_node().args[0]
    if not isinstance(output, (tuple, list)):
        orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
        return gm
    import operator

    with gm.graph.inserting_after(call):
        for i, node in enumerate(orig_outputs):
            item = gm.graph.call_function(operator.getitem, (call, i))
            node.replace_all_uses_with(item, propagate_meta=True)
    return gm


def erase_nodes(gm: GraphModule, nodes: NodeList) -> None:
    """Erases nodes, given in execution order."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(
    gm: GraphModule,
    partitions: Iterable[dict[Node, Any]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Each part becomes a module `fused_0`, `fused_1`, ... and a call of it."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        name = f"{prefix}{number}"
        fused, inputs, outputs = fuse_as_graphmodule(gm, nodes, name, always_return_tuple=always_return_tuple)
        insert_subgm(gm, fused, inputs, outputs)
        erase_nodes(gm, nodes)
    legalize_graph(gm)
    return gm


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Brings the nodes into an order in which each comes after what it reads, and otherwise as before."""
    from minitorch_compile.fx.passes.tools_common import legalize_graph

    return legalize_graph(gm)
