"""A graph as the source of a Python function, written for readers (PyTorch's text: `code_generator.py`).

>>> from minitorch_compile.fx import Graph
>>> import operator
>>> graph = Graph()
>>> x = graph.placeholder("x")
>>> y = graph.call_function(operator.mul, (x, float("inf")))
>>> y.meta["stack"] = ("/home/ada/train.py", 31, "    y = x * limit")
>>> _ = graph.output(y)
>>> print(python_code(graph).src)
def forward(self, x):
    # train.py:31: y = x * limit
    mul = x * float('inf')
    return mul

The comment names the user's line; values with a known shape are annotated with it, `mul: "f32[3, 4]" = ...`.
Callables and constants that have no literal in Python are passed to the function as globals under a readable name.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from minitorch_compile.fx.code_generator import PythonCode, attribute_path
from minitorch_compile.fx.expressions import ExpressionWriter
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.names import Namespace, identifier, is_dotted_name
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import stack_text, value_text
from minitorch_compile.fx.targets import home_module, target_name

LINE_LIMIT = 120
INDENT = "    "
_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...))


def python_code(graph: Graph) -> PythonCode:
    """The graph as a function `forward(self, ...)`, where self is the graph module."""
    writer = _CodeWriter(graph)
    lines = writer.signature()
    line_map: dict[int, Node] = {}
    for node in graph.nodes:
        for line in writer.statement(node):
            lines.append(line)
            line_map[len(lines)] = node
    if len(lines) == writer.signature_length:
        lines.append(INDENT + "pass")
    return PythonCode("\n".join(lines) + "\n", writer.globals, line_map)


class _CodeWriter(ExpressionWriter):
    """Writes statements, and collects the globals that they need."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.globals: dict[str, Any] = {}
        self.signature_length = 1
        self._last_place = ""
        self._names = Namespace(for_globals=True)
        self._global_names: dict[int, str] = {}  # the id of an object -> its global name
        self._namespaces: dict[str, SimpleNamespace] = {}
        for node in graph.nodes:
            self._names.create_name(node.name)

    # ------------------------------------------------------------------------------------------ statements

    def signature(self) -> list[str]:
        parameters = ["self"] + [self._parameter(node) for node in self.graph.find_nodes(op="placeholder")]
        lines = _wrapped("def forward(", parameters, "):")
        self.signature_length = len(lines)
        return lines

    def _parameter(self, node: Node) -> str:
        text = node.name + _annotation(node)
        if not node.args:
            return text
        return f"{text} = {self.argument(node.args[0])}" if ":" in text else f"{text}={self.argument(node.args[0])}"

    def statement(self, node: Node) -> list[str]:
        """The lines of one node."""
        if node.op == "placeholder":
            return []
        if node.op == "output":
            return self._return(node.args[0])
        return [*self._comment(node), f"{INDENT}{self._assignment(node)}"]

    def _assignment(self, node: Node) -> str:
        if node.target is operator.setitem and not node.users and not node.kwargs:
            target, index, value = node.args
            return f"{self.receiver(target)}[{self.index(index)}] = {self.argument(value)}"
        return f"{node.name}{_annotation(node)} = {self.expression(node)}"

    def _comment(self, node: Node) -> list[str]:
        place = stack_text(node)
        if not place or place == self._last_place:
            return []
        self._last_place = place
        return [f"{INDENT}# {place}"]

    def _return(self, value: Any) -> list[str]:
        if type(value) is tuple and len(value) > 1:
            return _wrapped(f"{INDENT}return (", map(self.argument, value), ")")
        return [f"{INDENT}return {self.argument(value)}"]

    # ------------------------------------------------------------------------------------------ names

    def attribute(self, name: str) -> str:
        return attribute_path("self", name)

    def target(self, target: Any) -> str:
        """A callable, reachable under the name that a reader knows it by."""
        path = target_name(target)
        if getattr(builtins, path, None) is target:
            return path
        head, _, rest = path.partition(".")
        module = home_module(target)
        if rest and module is not None:
            return f"{self._global(head, module)}.{rest}"
        return self._member(head, rest, target) if rest else self._global(head, target)

    def constant(self, value: Any) -> str:
        if type(value) in _LITERALS:
            return super().constant(value)
        text = repr(value)
        if isinstance(value, type) or is_dotted_name(text):  # a class, or something that prints as torch.float32
            return self.target(value)
        if _is_construction(value, text) and self._global(type(value).__name__, type(value)) == type(value).__name__:
            return text
        return self._global(f"{type(value).__name__.lower()}_constant", value)

    def _global(self, wish: str, value: Any) -> str:
        """The global name of `value`, `wish` if it is free."""
        if id(value) not in self._global_names:
            name = self._names.create_name(wish)
            self._global_names[id(value)] = name
            self.globals[name] = value
        return self._global_names[id(value)]

    def _member(self, head: str, rest: str, value: Any) -> str:
        """`value` as a member of a namespace made for the purpose, so that `ops.add` can be written."""
        namespace = self._namespaces.setdefault(head, SimpleNamespace())
        name = identifier(rest)
        if getattr(namespace, name, value) is not value:  # another object that goes by the same name
            return self._global(name, value)
        setattr(namespace, name, value)
        return f"{self._global(head, namespace)}.{name}"


def _is_construction(value: Any, text: str) -> bool:
    """Whether the repr is a call of the value's class that gives the value again, as device(type='cpu') does."""
    cls = type(value)
    if not text.startswith(f"{cls.__name__}("):
        return False
    try:
        return bool(eval(text, {cls.__name__: cls}) == value)
    except (SyntaxError, NameError, AttributeError, TypeError, ValueError):
        return False


def _annotation(node: Node) -> str:
    """What is known about the value, as a type annotation: `: "f32[3, 4]"`."""
    text = value_text(node.meta.get("val"))
    return f': "{text}"' if text else ""


def _wrapped(opening: str, items: Iterable[str], closing: str) -> list[str]:
    """The items on one line if they fit, else each on its own."""
    items = list(items)
    line = f"{opening}{', '.join(items)}{closing}"
    if len(line) <= LINE_LIMIT:
        return [line]
    indent = opening[: len(opening) - len(opening.lstrip())]
    return [opening, *(f"{indent}{INDENT}{item}," for item in items), indent + closing]
