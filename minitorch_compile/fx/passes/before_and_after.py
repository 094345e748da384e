"""What a pass did, as a picture: the graph before and after it side by side, with what differs in colour.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.fx.passes.common_subexpressions import merge_common_subexpressions
>>> graph = symbolic_trace(lambda x: x.exp() / x.exp().sum(dim=1)).graph
>>> show(merge_common_subexpressions, graph)
node            label       value  reads
--------------  ----------  -----  ------------------------
before.x        x
before.exp      exp                before.x
before.exp_1    exp                before.x
before.sum_1    sum(dim=1)         before.exp_1
before.truediv  truediv            before.exp, before.sum_1
before.output   output             before.truediv
after.x         x
after.exp       exp                after.x
after.sum_1     sum(dim=1)         after.exp
...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.dot import Drawing, Kind
from minitorch_compile.fx.draw import label_of
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import format_node, value_text

KINDS = {
    "kept": Kind("as before", "#f2f4f6", "#98a2ad"),
    "removed": Kind("gone", "#fad7d7", "#c44545"),
    "added": Kind("new", "#dff3e1", "#4f9e5b"),
    "rewired": Kind("reads something else", "#fff0c9", "#c2912b"),
}


def show(rewrite: Callable[[Any], Any], graph: Graph | GraphModule) -> GraphView:
    """A drawing of what a pass makes of a graph (or of a graph module, if it takes these). The graph stays as it is."""
    result = rewrite(graph)
    return draw_change(_graph(graph), _graph(result), getattr(rewrite, "name", getattr(rewrite, "__name__", "")))


def _graph(value: Any) -> Graph:
    graph = value.graph if isinstance(value, GraphModule) else value
    if not isinstance(graph, Graph):
        raise TypeError(f"show: the pass returned {value!r}; expected a Graph or a GraphModule")
    return graph


def draw_change(before: Graph, after: Graph, title: str = "") -> GraphView:
    """Two graphs beside each other. Nodes are taken for the same if they have the same name and call the same."""
    drawing = Drawing(title, kinds=KINDS)
    for place, graph, other, alone in (("before", before, after, "removed"), ("after", after, before, "added")):
        others = {node.name: node for node in other.nodes}
        frame = drawing.cluster(f"{place}: {_count(graph)}", "kept")
        for node in graph.nodes:
            kind = change_of(node, others.get(node.name), alone)
            frame.add_node(f"{place}.{node.name}", label_of(node), kind, format_node(node), _value(node))
        for node in graph.nodes:
            for source in node.all_input_nodes:
                drawing.add_edge(f"{place}.{source.name}", f"{place}.{node.name}")
    return GraphView(drawing)


def _count(graph: Graph) -> str:
    count = sum(node.op not in ("placeholder", "output") for node in graph.nodes)
    return f"{count} operation{'s' * (count != 1)}"


def _value(node: Node) -> str:
    return "" if node.op == "output" else value_text(node.meta.get("val"), strides=False)


def change_of(node: Node, counterpart: Node | None, alone: str) -> str:
    """What became of a node: "kept", "rewired", or `alone` if the other graph has none like it. A key of KINDS."""
    if counterpart is None or (node.op, node.target) != (counterpart.op, counterpart.target):
        return alone
    return "kept" if _arguments(node) == _arguments(counterpart) else "rewired"


def _arguments(node: Node) -> str:
    """The arguments, with the names of nodes for the nodes."""
    return repr(map_arg((node.args, node.kwargs), lambda source: source.name))
