"""Dead code: what nobody reads and nobody could notice."""

from __future__ import annotations

import copy

from minitorch_compile.fx.graph import Graph


def remove_dead_code(graph: Graph) -> Graph:
    """Without the nodes that have no users and no effect. Arguments stay, since callers pass them.

    A graph of which nothing is dead is given as it is.

    >>> from minitorch_compile.fx import symbolic_trace
    >>> def program(x, unused):
    ...     dead = (x + 1).exp()
    ...     x.add_(2)
    ...     return x * 3
    >>> graph = symbolic_trace(program).graph
    >>> print(graph.compact())
    x, unused -> add = x + 1; exp = add.exp(); add_ = x.add_(2); mul = x * 3; mul
    >>> print(remove_dead_code(graph).compact())
    x, unused -> add_ = x.add_(2); mul = x * 3; mul
    """
    if all(node.users or node.is_impure() for node in graph.nodes):
        return graph
    live = copy.deepcopy(graph)
    live.eliminate_dead_code()
    return live
