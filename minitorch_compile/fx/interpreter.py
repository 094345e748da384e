"""What a graph means: run its nodes one after the other.

This is the definition that generated code and every later compiler are tested against. Subclasses override one method
to give nodes another meaning: print them, time them, compute shapes instead of values, ...

>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: (x + 1) * 2)
>>> Interpreter(module).run(4)
10
>>> class Watch(Interpreter):
...     def run_node(self, node):
...         value = super().run_node(node)
...         print(node, "=", value)
...         return value
>>> _ = Watch(module).run(4)
x = 4
add = 5
mul = 10
output = 10
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule, failure_note
from minitorch_compile.fx.node import Node


class Interpreter:
    """Runs a graph module node by node. `env` maps each node to its value; with `garbage_collect_values`, a value is
    forgotten as soon as its last user has run."""

    def __init__(self, module: GraphModule, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.graph = graph or module.graph
        self.garbage_collect_values = garbage_collect_values
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self._last_uses = _last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None) -> Any:
        """The value that the graph returns for these arguments. Nodes in `initial_env` keep the value given there."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        self._check_count(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run_with_note(node)
            if node.op == "output":
                return self.env[node]
            for used_up in self._last_uses.get(node, ()):
                del self.env[used_up]
        return None

    def _check_count(self, args: tuple[Any, ...]) -> None:
        wanted = [node for node in self.graph.find_nodes(op="placeholder") if node not in self.env]
        if len(args) > len(wanted):
            raise TypeError(f"run() takes {len(wanted)} arguments but {len(args)} were given.")

    def _run_with_note(self, node: Node) -> Any:
        try:
            return self.run_node(node)
        except Exception as error:
            error.add_note(failure_note(node))
            raise

    def run_node(self, node: Node) -> Any:
        """The value of one node: its arguments are looked up, then the method named like its kind is called."""
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        return getattr(self, node.op)(node.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with nodes replaced by their values."""
        return map_arg((node.args, node.kwargs), self.env.__getitem__)

    def fetch_attr(self, target: str) -> Any:
        """The constant of that name."""
        return self.module.attributes[target]

    # ------------------------------------------------------------------------------------------ one method a kind

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of `run`, or the default value."""
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise TypeError(f"run() missing an argument: expected a value for placeholder '{target}'.")

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        receiver, *rest = args
        return getattr(receiver, target)(*rest, **kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return args[0]


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """For each node, the values that nobody needs once it has run."""
    last: dict[Node, Node] = {}
    for node in graph.nodes:
        last[node] = node
        for source in node.all_input_nodes:
            last[source] = node
    dead_after: dict[Node, list[Node]] = {}
    for value, user in last.items():
        dead_after.setdefault(user, []).append(value)
    return dead_after
