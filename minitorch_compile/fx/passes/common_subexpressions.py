"""Common subexpressions: what was computed before need not be computed again."""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile.fx.effects import makes_new_storage, writes
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node


def merge_common_subexpressions(graph: Graph) -> Graph:
    """Nodes that call the same target with the same arguments become one.

    >>> from minitorch_compile.fx import symbolic_trace
    >>> graph = symbolic_trace(lambda x: x.exp() / x.exp().sum(dim=1)).graph
    >>> print(merge_common_subexpressions(graph).compact())
    x -> exp = x.exp(); exp / exp.sum(dim=1)

    Two results of the function are never merged: they were two tensors, and the caller may write into one of them.
    For the same reason a graph that itself writes into tensors comes back unchanged.

    >>> print(merge_common_subexpressions(symbolic_trace(lambda x: (x + 1, x + 1)).graph).compact())
    x -> (x + 1, x + 1)
    """
    if any(map(writes, graph.nodes)):
        return copy.deepcopy(graph)
    merged = Graph()
    counterpart: dict[Node, Node] = {}
    known: dict[Any, Node] = {}  # what is computed -> the node of `graph` that computed it first
    returned = _may_share_storage_with_the_result(graph)
    for node in graph.nodes:
        key = _key(node, counterpart)
        first = known.get(key) if key is not None else None
        if first is None or (first in returned and node in returned):
            counterpart[node] = merged.node_copy(node, counterpart.__getitem__)
            known.setdefault(key, node)
        else:
            counterpart[node] = counterpart[first]
            if node in returned:
                returned.add(first)
    return merged


def _key(node: Node, counterpart: dict[Node, Node]) -> Any:
    """Equal for nodes that must have equal values; None for a node that stands for itself."""
    if node.op in ("placeholder", "output") or node.is_impure():
        return None
    return node.op, node.target, _hashable(node.args, counterpart), _hashable(node.kwargs, counterpart)


def _hashable(argument: Any, counterpart: dict[Node, Node]) -> Any:
    """The argument as a dictionary key, a node as its counterpart. The type is part of it, for 1 == 1.0 == True; and
    -0.0 is not 0.0."""
    if isinstance(argument, Node):
        return counterpart[argument]
    if isinstance(argument, (tuple, list)):
        return type(argument), tuple([_hashable(item, counterpart) for item in argument])
    if isinstance(argument, dict):
        return dict, tuple([(name, _hashable(value, counterpart)) for name, value in argument.items()])
    if isinstance(argument, slice):
        return slice, _hashable((argument.start, argument.stop, argument.step), counterpart)
    if isinstance(argument, (float, complex)):
        return type(argument), repr(argument)
    if type(argument).__hash__ is None:
        return id(argument)  # the graph keeps it alive, so nothing else has this id
    return type(argument), argument


def _may_share_storage_with_the_result(graph: Graph) -> set[Node]:
    """The nodes whose tensors the caller may get hold of: what is returned, and what that may be a view of."""
    shared: set[Node] = set()
    for node in reversed(graph.nodes):
        if any(user.op == "output" or (user in shared and not makes_new_storage(user)) for user in node.users):
            shared.add(node)
    return shared
