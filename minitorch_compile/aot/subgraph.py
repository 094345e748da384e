"""A part of a graph as a graph of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node


def extract(
    module: GraphModule, inputs: Sequence[Node], outputs: Sequence[Node], order: Iterable[Node] | None = None
) -> GraphModule:
    """The graph that computes `outputs` from `inputs`, which are any nodes. Constants come along.

    The nodes keep the order that they have in the module, or stand in the given one.

    >>> from minitorch_compile.fx import symbolic_trace
    >>> module = symbolic_trace(lambda x, y: (x * y).exp() + y)
    >>> x, y, product, exp, total, _ = module.graph.nodes
    >>> print(extract(module, [product, y], [total]).graph.compact())
    mul, y -> (mul.exp() + y,)

    RuntimeError if the outputs need an argument that is not among the inputs.
    """
    graph, counterpart = Graph(), {}
    for node in inputs:
        counterpart[node] = graph.placeholder(node.name)
        counterpart[node].meta = dict(node.meta)
    needed = ancestors(outputs, stop_at=set(inputs))
    for node in module.graph.nodes if order is None else order:
        if node not in needed or node in counterpart:
            continue
        if node.op == "placeholder":
            raise RuntimeError(f"extract: the outputs need the argument '{node.name}', which is not among the inputs")
        counterpart[node] = graph.node_copy(node, counterpart.__getitem__)
    output = graph.output(tuple(counterpart[node] for node in outputs))
    output.meta["val"] = tuple(node.meta.get("val") for node in outputs)
    used = {node.target for node in graph.find_nodes(op="get_attr")}
    return LazyGraphModule({name: value for name, value in module.attributes.items() if name in used}, graph)


def ancestors(nodes: Sequence[Node], stop_at: set[Node] | frozenset[Node] = frozenset()) -> set[Node]:
    """The nodes and everything they are computed from, down to the nodes in `stop_at`."""
    found: set[Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [] if node in stop_at else node.all_input_nodes
    return found


def descendants(nodes: Sequence[Node]) -> set[Node]:
    """The nodes and everything that is computed from them, the output node apart."""
    found: set[Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found and node.op != "output":
            found.add(node)
            waiting += node.users
    return found


def in_order_of_need(
    nodes: Iterable[Node], first: Collection[Node], results: Iterable[Node], given: Collection[Node] = ()
) -> list[Node]:
    """What computes the results from what is given: the nodes in `first` in their order, each other just before the
    first that reads it.

    >>> from minitorch_compile.fx import symbolic_trace
    >>> x, exp, neg, double, last, _ = symbolic_trace(lambda x: -x.exp() + x * 2).graph.nodes
    >>> in_order_of_need([x, exp, neg, double, last], [x, double], [last])
    [x, mul, exp, neg, add]
    """
    found: dict[Node, None] = {}
    there = set(given)
    for wanted in [*(node for node in nodes if node in first), *results]:
        waiting = [wanted]
        while waiting:
            node = waiting[-1]
            missing = [source for source in node.all_input_nodes if source not in there]
            if node in there or not missing:
                waiting.pop()
                there.add(node)
                found[node] = None
            else:
                waiting += reversed(missing)
    return [node for node in found if node not in given]
