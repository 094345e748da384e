"""Graphs as drawings: a box for each node, with its operation, the shape of its value and, on hover, the user's line.

>>> from minitorch_compile.fx import symbolic_trace
>>> graph = symbolic_trace(lambda x, w: (x @ w * 2).sum(dim=1)).graph
>>> for box in draw(graph).drawing.all_boxes():
...     print(f"{box.kind:12} {box.label}")
input        x
input        w
contraction  matmul
pointwise    · * 2
reduction    sum(dim=1)
output       output

A dot stands for the tensor that comes along the arrow. A graph with more than `config.drawing_node_limit` nodes is
drawn with neighbours from the same source line in one box.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from minitorch_compile import config
from minitorch_compile.fx.dot import Cluster, Drawing
from minitorch_compile.fx.expressions import BINARY, UNARY, ExpressionWriter
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.kinds import kind_of
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import format_node, stack_text, value_text
from minitorch_compile.fx.targets import short_name

LABEL_LIMIT = 30


def draw(
    graph: Graph,
    *,
    title: str = "",
    direction: str = "TB",
    full: bool = False,
    kind: Callable[[Node], str] = kind_of,
    cluster: Callable[[Node], str] = lambda node: "",
) -> GraphView:
    """A drawing of `graph`.

    `kind(node)` names its colour (see dot.KINDS), `cluster(node)` the frame it stands in ("" for none). `full` draws
    every node, however many there are.
    """
    drawing = Drawing(title, direction)
    too_many = len(graph.nodes) > config.drawing_node_limit and not full
    groups = summarise(graph, config.drawing_node_limit) if too_many else [[node] for node in graph.nodes]
    frames: dict[str, Cluster] = {"": drawing}
    for group in groups:
        name = cluster(group[0])
        if name not in frames:
            frames[name] = drawing.cluster(name, kind(group[0]))
        _add_box(frames[name], group, kind)
    _add_arrows(drawing, groups)
    return GraphView(drawing)


def _add_box(frame: Cluster, group: list[Node], kind: Callable[[Node], str]) -> None:
    calls = [node for node in group if node.op != "placeholder"] or group
    kinds = {kind(node) for node in calls}
    name, tooltip = group[0].name, "\n".join(map(_tooltip, group))
    shape = value_text(calls[-1].meta.get("val"), strides=False)
    frame.add_node(name, _group_label(calls, len(group)), kinds.pop() if len(kinds) == 1 else "group", tooltip, shape)


def _group_label(calls: list[Node], size: int) -> str:
    """For one node its label; for several their source line and how many they are."""
    counts = [f"{len(calls)} operations"] if len(calls) > 1 else []
    counts += [f"and {size - len(calls)} of its inputs"] if size > len(calls) else []
    heading = label_of(calls[0]) if len(calls) == 1 else _first_words(calls)
    return "\n".join([heading, *counts])


def _first_words(calls: list[Node]) -> str:
    source = (calls[0].meta.get("stack") or ("", 0, ""))[2].strip()
    text = source or ", ".join(dict.fromkeys(short_name(node.target) for node in calls))
    return text if len(text) <= LABEL_LIMIT else text[: LABEL_LIMIT - 1] + "…"


def _add_arrows(drawing: Drawing, groups: list[list[Node]]) -> None:
    box_of = {node: group[0].name for group in groups for node in group}
    seen = set()
    for group in groups:
        for node in group:
            for source in node.all_input_nodes:
                ends = (box_of[source], box_of[node])
                if ends[0] != ends[1] and ends not in seen:
                    seen.add(ends)
                    drawing.add_edge(*ends)


# ------------------------------------------------------------------------------------------------ texts


class _LabelWriter(ExpressionWriter):
    """Writes every node as a dot."""

    def node(self, node: Node) -> str:
        return "·"

    def target(self, target: Any) -> str:
        return short_name(target)

    def constant(self, value: Any) -> str:
        return f"{value:.4g}" if type(value) is float else super().constant(value)


def label_of(node: Node) -> str:
    """The operation in a few characters: its name, and those arguments that are not nodes.

    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> calls = graph.call_function(max, (3, x)), graph.call_function(max, (x, x)), graph.call_method("sum", (x, 1))
    >>> [label_of(node) for node in calls]
    ['max(3, ·)', 'max', 'sum(1)']
    """
    if node.op == "output":
        return "output"
    if node.op in ("placeholder", "get_attr", "call_module"):
        return shortened(str(node.meta.get("name", node.target)))
    if node.target in BINARY or node.target in UNARY or node.target in (operator.getitem, getattr):
        return short_name(node.target) if _reads_only_nodes(node) else shortened(_operator_label(node))
    return shortened(_call_label(node))


def _reads_only_nodes(node: Node) -> bool:
    return all(isinstance(argument, Node) for argument in (*node.args, *node.kwargs.values()))


def _operator_label(node: Node) -> str:
    """`· + 1`; but `[0]` and `.shape` for what only picks a part."""
    return _LabelWriter().expression(node).removeprefix("·" if node.target in (operator.getitem, getattr) else "")


def _call_label(node: Node) -> str:
    """`softmax(dim=-1)`, `transpose(1, 2)`: leading tensors are the arrows, and go without saying."""
    args, kwargs = _arguments(node)
    while args and isinstance(args[0], Node):
        args = args[1:]
    text = _LabelWriter().arguments(args, kwargs)
    return f"{short_name(node.target)}({text})" if text else short_name(node.target)


def _arguments(node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as the label shows them. Those of an Op are named, unless it is a view, without default values."""
    parameters = getattr(node.target, "parameters", ())
    if not parameters or kind_of(node) == "view":
        flat = node.args[1] if len(node.args) == 2 and isinstance(node.args[1], (tuple, list)) else None
        return (node.args[0], *flat) if flat else node.args, dict(node.kwargs)
    bound = {**dict(zip(parameters, node.args)), **node.kwargs}
    defaults = dict(zip(parameters, getattr(node.target, "defaults", ())))
    return (), {
        name: v for name, v in bound.items() if not isinstance(v, Node) and not _same(v, defaults.get(name, ...))
    }


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and value == default


def shortened(text: str, limit: int = LABEL_LIMIT) -> str:
    """The text with its middle left out if it is long.

    >>> shortened("layers.0.attention.projection.weight", 20)
    'layers.0.…ion.weight'
    """
    half = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[:half]}…{text[-(limit - 1 - half) :]}"


def _tooltip(node: Node) -> str:
    value = value_text(node.meta.get("val"))
    return "\n".join(filter(None, [format_node(node), value, stack_text(node)]))


# ------------------------------------------------------------------------------------------------ large graphs


def summarise(graph: Graph, limit: int) -> list[list[Node]]:
    """The nodes in about `limit` groups at most, to be drawn as one box each.

    A group is an interval of the execution order, so groups never depend on each other in a circle. Neighbours from
    one source line belong together; if there are still too many groups, neighbouring ones are joined. Inputs that
    only one group reads, such as the weights of a layer, are put into it.

    >>> from minitorch_compile.fx import symbolic_trace
    >>> graph = symbolic_trace(lambda x, w: ((x + 1) * 2).exp() @ w + x).graph
    >>> summarise(graph, 3)
    [[x], [add, mul], [w, exp, matmul], [add_1], [output]]
    """
    groups: list[list[Node]] = []
    for node in graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if groups and node.meta.get("stack") and node.meta["stack"] == groups[-1][-1].meta.get("stack"):
            groups[-1].append(node)
        else:
            groups.append([node])
    size = max(1, -(-len(groups) // limit))
    joined = [sum(groups[i : i + size], []) for i in range(0, len(groups), size)]
    return _with_inputs(graph, joined)


def _with_inputs(graph: Graph, groups: list[list[Node]]) -> list[list[Node]]:
    """Every input in the one group that reads it, or before all groups; the output behind them."""
    group_of = {node: group for group in groups for node in group}
    shared: list[list[Node]] = []
    for node in reversed(graph.find_nodes(op="placeholder")):
        readers = {id(group_of.get(user)): group_of.get(user) for user in node.users}
        only = next(iter(readers.values())) if len(readers) == 1 else None
        if only is None or only is groups[0]:  # the first group shows its inputs, so that the picture has a beginning
            shared.insert(0, [node])
        else:
            only.insert(0, node)
    return [*shared, *groups, *([node] for node in graph.find_nodes(op="output"))]
