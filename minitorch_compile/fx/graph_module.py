"""A graph that can be called: its generated code, compiled, together with the constants that it refers to.

>>> import operator
>>> from minitorch_compile.fx import Graph, GraphModule
>>> graph = Graph()
>>> x, two = graph.placeholder("x"), graph.get_attr("two")
>>> product = graph.call_function(operator.mul, (x, two))
>>> _ = graph.output(product)
>>> double = GraphModule({"two": 2}, graph)
>>> double(21)
42
>>> print(double.code)
def forward(self, x):
    two = self.attributes['two']
    mul = x * two
    return mul

After changing the graph, call `recompile()`:

>>> product.target = operator.add
>>> double.recompile()
>>> double(21)
23
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import format_node, stack_text
from minitorch_compile.generated_source import function_from_source

if TYPE_CHECKING:
    from minitorch_compile.fx.graph_view import GraphView


class GraphModule:
    """A callable made from `graph`; `attributes` holds what its get_attr and call_module nodes refer to.

    Like any Python function it keeps its variables until it returns; an `Interpreter` drops a value after its last use.
    """

    def __init__(self, attributes: Mapping[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        self.attributes = dict(attributes)
        self.class_name = class_name
        self.meta: dict[str, Any] = {}
        self._line_map: dict[int, Node] = {}
        self.graph = graph

    @property
    def graph(self) -> Graph:
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        self._check_attributes(graph)
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    def _check_attributes(self, graph: Graph) -> None:
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module") and node.target not in self.attributes:
                raise RuntimeError(
                    f"GraphModule: node '{node.name}' refers to the attribute {node.target!r}, which attributes lacks; "
                    f"it has {sorted(self.attributes)}."
                )

    def recompile(self) -> None:
        """Generate and compile the code again. Needed after each change of the graph."""
        generated = self._graph.python_code()
        self.code = generated.src
        self._line_map = generated.line_map
        self._function: Callable[..., Any] = function_from_source(generated.src, "forward", generated.globals)
        self.forward = types.MethodType(self._function, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._function(self, *args, **kwargs)
        except Exception as error:
            self._add_note(error)
            raise

    def _add_note(self, error: Exception) -> None:
        """Name the node that failed and the user's line it came from."""
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code is self._function.__code__:
                node = self._line_map.get(traceback.tb_lineno)
                if node is not None:
                    error.add_note(failure_note(node))
                return
            traceback = traceback.tb_next

    def print_readable(self, print_output: bool = True) -> str:
        """The code with the name of the module above it; printed unless told otherwise."""
        body = "".join(f"    {line}\n" if line else "\n" for line in self.code.splitlines())
        text = f"class {self.class_name}:\n{body}"
        if print_output:
            print(text)
        return text

    def draw(self, **options: Any) -> GraphView:
        """A drawing of the graph; see `Graph.draw`."""
        return self._graph.draw(**options)

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        """A module with its own graph; constants are shared."""
        duplicate = GraphModule(self.attributes, copy.deepcopy(self._graph, memo), self.class_name)
        duplicate.meta = dict(self.meta)
        return duplicate

    def __repr__(self) -> str:
        return f"{self.class_name}({self._graph.compact()})"


def failure_note(node: Node) -> str:
    """What to add to an exception that a node raised."""
    place = stack_text(node)
    return f"While executing {format_node(node)}" + (f"\nfrom {place}" if place else "")
