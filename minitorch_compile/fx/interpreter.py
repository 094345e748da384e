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
from minitorch_compile.fx.graph_module import failure_note
from minitorch_compile.fx.node import Node


class Interpreter:
    """Runs a graph module node by node. `env` maps each node to its value; with `garbage_collect_values`, a value is
    forgotten as soon as its last user has run. With `graph`, that graph is run; the module has what it refers to."""

    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = self.submodules = module
        self.graph = graph or module.graph
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self._last_uses = _last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The value that the graph returns for these arguments. Nodes in `initial_env` keep the value given there.

        `enable_io_processing`: the arguments are those of the function; else they are those of the graph.
        """
        self.env = dict(initial_env or {})
        codegen = self.graph._own_codegen if enable_io_processing else None
        if codegen is not None:
            args = tuple(codegen.process_inputs(*args))
        self._check_count(args)
        self.args_iter = iter(args)
        result = self._run_nodes()
        return result if codegen is None else codegen.process_outputs(result)

    def boxed_run(self, args_list: list[Any]) -> Any:
        """As `run`, with the arguments in a list that is emptied, so that nobody else holds them."""
        args = tuple(args_list)
        args_list.clear()
        self.env = {}
        self._check_count(args)
        self.args_iter = iter(args)
        del args
        return self._run_nodes()

    def _run_nodes(self) -> Any:
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
        if len(args) > len(wanted) and not any(str(node.target).startswith("*") for node in wanted):
            raise TypeError(f"run() takes {len(wanted)} arguments but {len(args)} were given.")

    def _run_with_note(self, node: Node) -> Any:
        try:
            return self.run_node(node)
        except Exception as error:
            error.add_note(failure_note(node))
            raise

    def run_node(self, n: Node) -> Any:
        """The value of one node: its arguments are looked up, then the method named like its kind is called."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with nodes replaced by their values."""
        return self.map_nodes_to_values((n.args, n.kwargs), n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Any arguments with nodes replaced by their values."""

        def value_of(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, value_of)

    def fetch_attr(self, target: str) -> Any:
        """The constant or module of that dotted name."""
        value: Any = self.submodules
        for i, name in enumerate(target.split(".")):
            if not hasattr(value, name):
                path = ".".join(target.split(".")[:i])
                raise RuntimeError(f"Node referenced nonexistent target {path}; full target path: {target}")
            value = getattr(value, name)
        return value

    # ------------------------------------------------------------------------------------------ one method a kind

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of `run`, or the default value; `*args` takes all that are left."""
        if target.startswith("*"):
            return list(self.args_iter)
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

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


def __getattr__(name: str) -> Any:
    if name == "Transformer":  # which stands in a file of its own, on the tracer
        from minitorch_compile.fx.transformer import Transformer

        return Transformer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
