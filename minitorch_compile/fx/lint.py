"""Is this graph a program? Every node reads only what was computed before it.

A pass that leaves a graph broken is best caught where it happened, so tests and passes call `graph.lint()`.

>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x = graph.placeholder("x")
>>> relu, exp = graph.call_method("relu", (x,)), graph.call_method("exp", (x,))
>>> relu.args = (exp,)
>>> graph.lint()
Traceback (most recent call last):
RuntimeError: lint: Argument 'exp' of Node 'relu' was used before it has been defined! Move 'exp' up or 'relu' down.
"""

from __future__ import annotations

from typing import NoReturn

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import OPCODES, Node


def lint(graph: Graph) -> None:
    """Raise RuntimeError, naming the node, unless each rule holds."""
    seen: dict[str, Node] = {}
    for node in graph.nodes:
        _check_kind(node)
        _check_place(node, graph)
        _check_name(node, seen)
        _check_inputs(node, seen)
        _check_users(node)
        _check_attribute(node, graph)
        seen[node.name] = node


def _fail(message: str) -> NoReturn:
    raise RuntimeError(f"lint: {message}")


def _check_kind(node: Node) -> None:
    if node.op not in OPCODES:
        _fail(f"node '{node.name}' is of kind {node.op!r}; expected one of {', '.join(OPCODES)}.")
    if callable(node.target) != (node.op == "call_function"):
        _fail(f"node '{node.name}' is a {node.op}, but its target is {node.target!r}.")


def _check_place(node: Node, graph: Graph) -> None:
    if node.graph is not graph:
        _fail(f"node '{node.name}' is in this graph's list but belongs to another graph. Copy it with graph.node_copy.")
    if node.prev.op == "output":
        _fail(f"node '{node.name}' stands behind the output node, where it would never run.")


def _check_name(node: Node, seen: dict[str, Node]) -> None:
    if node.name in seen:
        _fail(f"two nodes are named '{node.name}'. Let graph.create_node choose names.")


def _check_inputs(node: Node, seen: dict[str, Node]) -> None:
    for source in node.all_input_nodes:
        if source._erased:
            _fail(f"node '{node.name}' reads '{source.name}', which was erased.")
        if source.graph is not node.graph:
            _fail(
                f"Argument '{source.name}' of Node '{node.name}' does not belong to this Graph, but was used as an"
                " argument! If you are copying nodes from another graph, make sure to use ``arg_transform`` on"
                " node_copy() to remap values"
            )
        if seen.get(source.name) is not source:
            _fail(
                f"Argument '{source.name}' of Node '{node.name}' was used before it has been defined! "
                f"Move '{source.name}' up or '{node.name}' down."
            )
        if node not in source.users:
            _fail(f"node '{node.name}' reads '{source.name}' but is not among its users.")


def _check_users(node: Node) -> None:
    for user in node.users:
        if node not in user._inputs or user._erased:
            _fail(f"node '{node.name}' counts '{user.name}' as a user, which does not read it.")


def _check_attribute(node: Node, graph: Graph) -> None:
    if graph.owning_module is None or node.op not in ("get_attr", "call_module"):
        return
    if node.target not in graph.owning_module.attributes:
        _fail(f"node '{node.name}' refers to the attribute {node.target!r}, which the graph module does not have.")
