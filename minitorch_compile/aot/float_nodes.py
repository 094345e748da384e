"""Unknown floats in a graph of ops: each is read from a 0-d tensor, and arithmetic on them is a chain of nodes.

>>> from minitorch_compile.fx import Graph
>>> from minitorch_compile.symbolic import Assumptions, SymFloat
>>> graph = Graph()
>>> lr = SymFloat("lr", Assumptions({"lr": 0.5}), origin=graph.placeholder("lr"))
>>> nodes = FloatNodes(graph, lambda origin: origin)
>>> _ = graph.output((nodes.argument(1 / lr), nodes.argument(lr)))
>>> print(graph.compact())
lr -> number_of = number_of(lr); (1 / number_of, number_of)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor.tensor_base import TensorBase


def number_of(tensor: TensorBase) -> float:
    """The Python float that a 0-d tensor of float64 holds: as an operand it changes no dtype."""
    value: float = tensor.array.item()
    return value


class FloatNodes:
    """The nodes of one graph whose values are floats, each made once. `node_of` gives that of a float's origin."""

    def __init__(self, graph: Graph, node_of: Callable[[Any], Node], meta: Callable[[], dict[str, Any]] = dict) -> None:
        self.graph = graph
        self.node_of = node_of
        self.meta = meta
        self._known: dict[str, Node] = {}

    def argument(self, number: SymFloat) -> Node:
        """What stands for a float among the arguments of a node."""
        if number.text not in self._known:
            self._known[number.text] = self._made(number)
        return self._known[number.text]

    def _made(self, number: SymFloat) -> Node:
        if number.made_by is None:
            node = self.graph.call_function(number_of, (self.node_of(number.origin),))
        else:
            function, *operands = number.made_by
            arguments = (self.argument(x) if isinstance(x, SymFloat) else x for x in operands)
            node = self.graph.call_function(function, tuple(arguments))
        node.meta.update(self.meta(), val=number)
        return node
