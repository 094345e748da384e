"""A node as a Python expression: `add` of x and 1 is written `x + 1`, `getitem` is written `x[1:, None]`.

Generated code, the compact form of a graph and the labels of drawings write nodes in the same way. They differ in how
they name nodes, callables and constants, which are methods to override.

>>> import operator
>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x = graph.placeholder("x")
>>> write = ExpressionWriter().expression
>>> write(graph.call_function(operator.pow, (-2, x)))
'(-2) ** x'
>>> write(graph.call_function(operator.getitem, (x, (slice(1, None), None, ...))))
'x[1:, None, ...]'
>>> write(graph.call_method("sum", (x,), {"dim": [0, 1]}))
'x.sum(dim=[0, 1])'
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from minitorch_compile.fx.node import Node
from minitorch_compile.fx.targets import target_name

BINARY: dict[Callable, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.matmul: "@", operator.lshift: "<<", operator.rshift: ">>",
    operator.and_: "&", operator.or_: "|", operator.xor: "^",
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.is_: "is", operator.is_not: "is not",
}  # fmt: skip
UNARY: dict[Callable, str] = {operator.neg: "-", operator.pos: "+", operator.invert: "~", operator.not_: "not "}


class ExpressionWriter:
    """Writes nodes and their arguments; subclasses decide how to name things."""

    def node(self, node: Node) -> str:
        """How a use of `node` is written."""
        return node.name

    def target(self, target: Any) -> str:
        """How a callable is written."""
        return target_name(target)

    def attribute(self, name: str) -> str:
        """How a constant of the graph module is written."""
        return name

    def constant(self, value: Any) -> str:
        """How any other argument is written."""
        if isinstance(value, float) and not math.isfinite(value):
            sign = "-" if math.isnan(value) and math.copysign(1.0, value) < 0 else ""  # str() leaves out a NaN's
            return f"float('{sign}{value}')"
        if isinstance(value, complex) and not _is_complex_in_python(repr(value)):
            real, imaginary = (ExpressionWriter.constant(self, part) for part in (value.real, value.imag))
            return f"complex({real}, {imaginary})"
        return repr(value)

    # ------------------------------------------------------------------------------------------ arguments

    def argument(self, value: Any) -> str:
        """Any argument: nodes and constants in any nesting."""
        if isinstance(value, Node):
            return self.node(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.target(type(value))}({', '.join(map(self.argument, value))})"
        if isinstance(value, (tuple, list)):
            return self._sequence(value)
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.argument(k)}: {self.argument(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(self.argument(part) for part in (value.start, value.stop, value.step))})"
        if value is ...:
            return "..."
        return self.constant(value)

    def _sequence(self, value: tuple | list) -> str:
        items = ", ".join(map(self.argument, value))
        if isinstance(value, list):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"

    def operand(self, value: Any) -> str:
        """An argument beside an operator: -2 needs parentheses, or (-2) ** x would come out as -(2 ** x)."""
        text = self.argument(value)
        return f"({text})" if text.startswith("-") else text

    def receiver(self, value: Any) -> str:
        """An argument before a dot or a bracket: 2.real is not Python."""
        text = self.argument(value)
        return f"({text})" if isinstance(value, (int, float)) else text

    def index(self, value: Any) -> str:
        """What stands between the brackets of x[...]."""
        if isinstance(value, tuple) and value and not hasattr(value, "_fields"):
            return ", ".join(map(self._index_item, value)) + ("," if len(value) == 1 else "")
        return self._index_item(value)

    def _index_item(self, value: Any) -> str:
        if not isinstance(value, slice):
            return self.argument(value)
        start, stop, step = ("" if p is None else self.argument(p) for p in (value.start, value.stop, value.step))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The text between the parentheses of a call."""
        return ", ".join([*map(self.argument, args), *(f"{name}={self.argument(v)}" for name, v in kwargs.items())])

    # ------------------------------------------------------------------------------------------ nodes

    def expression(self, node: Node) -> str:
        """What `node` computes."""
        match node.op:
            case "call_function":
                return self._operator(node) or f"{self.target(node.target)}({self.arguments(node.args, node.kwargs)})"
            case "call_method":
                return f"{self.receiver(node.args[0])}.{node.target}({self.arguments(node.args[1:], node.kwargs)})"
            case "call_module":
                return f"{self.attribute(str(node.target))}({self.arguments(node.args, node.kwargs)})"
            case "get_attr":
                return self.attribute(str(node.target))
            case "output":
                return self.argument(node.args[0])
        return node.name

    def _operator(self, node: Node) -> str | None:
        """The node in operator notation; None if its target has none."""
        target, args = node.target, node.args
        if node.kwargs:
            return None
        if target in BINARY and len(args) == 2:
            return f"{self.operand(args[0])} {BINARY[target]} {self.operand(args[1])}"
        if target in UNARY and len(args) == 1:
            return f"{UNARY[target]}{self.operand(args[0])}"
        if target is operator.getitem and len(args) == 2:
            return f"{self.receiver(args[0])}[{self.index(args[1])}]"
        if target is getattr and len(args) == 2 and str(args[1]).isidentifier():
            return f"{self.receiver(args[0])}.{args[1]}"
        return None


def _is_complex_in_python(text: str) -> bool:
    """Whether a complex number is printed as what Python reads again: -0+1j is a sum, and its real part 0."""
    return "n" not in text and repr(ast.literal_eval(text)) == text
