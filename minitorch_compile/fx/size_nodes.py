"""Unknown sizes in a graph: each symbol is a placeholder, each expression in them a chain of nodes.

>>> from minitorch_compile.fx import Graph
>>> from minitorch_compile.symbolic import ShapeEnv
>>> env = ShapeEnv()
>>> rows, columns = env.create(5), env.create(6)
>>> graph = Graph()
>>> nodes = SizeNodes(graph, lambda symbol: graph.placeholder(symbol.name))
>>> _ = graph.output((nodes.argument((rows * 2 - columns) // 3), nodes.argument(rows * 2 - columns)))
>>> print(graph.compact())
s0, s1 -> add = (2 * s0) + ((-1) * s1); (add // 3, add)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import Expression, FloorDivision, Maximum, ShapeEnv, Symbol, SymInt, sym_max
from minitorch_compile.symbolic.sym_int import sym_or_int
from minitorch_compile.tensor.memory.device import META
from minitorch_compile.tensor.tensor_base import TensorBase

MakePlaceholder = Callable[[Symbol], Node]


class SizeNodes:
    """The nodes of one graph whose values are sizes, each made once."""

    def __init__(self, graph: Graph, placeholder: MakePlaceholder, meta: Callable[[], dict[str, Any]] = dict) -> None:
        self.graph = graph
        self.meta = meta
        self._placeholder = placeholder
        self._known: dict[Any, Node] = {}

    def argument(self, size: Any) -> Any:
        """What stands for a size among the arguments of a node: a node, or the number if it is known by now."""
        if not isinstance(size, SymInt):
            return size
        constant = size.expression.constant
        return constant if constant is not None else self.expression(size.expression, size.env)

    def know(self, symbol: Symbol, node: Node) -> None:
        """This placeholder is that symbol."""
        self._known.setdefault(symbol, node)

    def knows(self, symbol: Symbol) -> bool:
        return symbol in self._known

    def keep(self, nodes: Container[Node]) -> None:
        """The other nodes were taken out of the graph: a size that they stood for is made anew when needed."""
        self._known = {size: node for size, node in self._known.items() if node in nodes}

    def expression(self, expression: Expression, env: ShapeEnv) -> Any:
        """The same for an expression as it stands, whatever is known of it by now."""
        only = expression.only_symbol
        if only is not None:
            return self.symbol(only, env)
        if expression.constant is not None:
            return expression.constant
        if expression not in self._known:
            self._known[expression] = self._sum(expression, env)
        return self._known[expression]

    def symbol(self, symbol: Symbol, env: ShapeEnv) -> Node:
        """The placeholder of a symbol."""
        if symbol not in self._known:
            self._known[symbol] = self._placeholder(symbol)
            self._known[symbol].meta["val"] = sym_or_int(_of(symbol), env)
        return self._known[symbol]

    def _sum(self, expression: Expression, env: ShapeEnv) -> Any:
        total: Any = None
        for term in expression.terms:
            product = self._product(*term, env)
            total = product if total is None else self._call(operator.add, total, product, env)
        return total

    def _product(self, monomial: Any, coefficient: int, env: ShapeEnv) -> Any:
        product: Any = None if coefficient == 1 and monomial else coefficient
        for atom, power in monomial:
            for _ in range(power):
                factor = self._atom(atom, env)
                product = factor if product is None else self._call(operator.mul, product, factor, env)
        return product

    def _atom(self, atom: Any, env: ShapeEnv) -> Any:
        if isinstance(atom, Symbol):
            return self.symbol(atom, env)
        if atom not in self._known:
            target, parts = _parts(atom)
            left, right = (self.expression(part, env) for part in parts)
            self._known[atom] = self._call(target, left, right, env)
        return self._known[atom]

    def _call(self, target: Callable[..., Any], left: Any, right: Any, env: ShapeEnv) -> Node:
        node = self.graph.call_function(target, (left, right))
        values = (x.meta["val"] if isinstance(x, Node) else x for x in (left, right))
        node.meta.update(self.meta(), val=target(*values))
        return node


def has_plain_calls(graph: Graph) -> bool:
    """Whether calls are to be run as they are."""
    return any(map(runs_plainly, graph.nodes))


def runs_plainly(node: Node) -> bool:
    """Whether a call is to be run as it is: the data decide a size there, it is about the tape, or about a tensor on
    meta, of which there is nothing to compute."""
    if "runs_plainly" in node.meta:
        return True
    return node.op.startswith("call") and any(map(_is_on_meta, (node, *node.all_input_nodes)))


def _is_on_meta(node: Node) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else (value,)
    return any(isinstance(x, TensorBase) and x.device is META for x in values)


def _parts(atom: FloorDivision | Maximum) -> tuple[Callable[..., Any], tuple[Expression, Expression]]:
    if isinstance(atom, FloorDivision):
        return operator.floordiv, (atom.numerator, atom.denominator)
    return sym_max, (atom.first, atom.second)


def _of(symbol: Symbol) -> Expression:
    return Expression(((((symbol, 1),), 1),))
