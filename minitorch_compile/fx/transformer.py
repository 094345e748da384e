"""A graph into another graph, node by node: an interpreter whose values are proxies.

A subclass overrides the method of a kind of node, and computes with the arguments as if they were tensors:

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import ops
>>> class NoSigmoid(Transformer):
...     def call_function(self, target, args, kwargs):
...         if target is ops.sigmoid:
...             return 1 / (1 + (-args[0]).exp())
...         return super().call_function(target, args, kwargs)
>>> print(NoSigmoid(symbolic_trace(lambda x: ops.sigmoid(x) * 2)).transform().graph.compact())
x -> (1 / (1 + ((-x)).exp())) * 2
"""

from __future__ import annotations

import inspect
from typing import Any

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.proxy import Proxy
from minitorch_compile.fx.tracer import Tracer
from minitorch_compile.nn.module import Module


class TransformerTracer(Tracer):
    """Every module is a leaf."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Makes a new graph module of `module`."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = TransformerTracer()
        self.tracer.graph, self.tracer.root = self.new_graph, module

    def run_node(self, n: Node) -> Any:
        """As that of the interpreter; the new nodes remember where the old one came from."""
        before = len(self.new_graph.nodes)
        result = super().run_node(n)
        for node in list(self.new_graph.nodes)[before:]:
            for key in ("stack", "stack_trace", "nn_module_stack", "is_wrapped"):
                if key in n.meta and (key != "is_wrapped" or node.target is n.target):
                    node.meta.setdefault(key, n.meta[key])
        return result

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new graph module; it has the parameters and modules of the old one."""
        result = super().run(*_none_each(self.graph), enable_io_processing=False)
        if any(node.op == "output" for node in self.graph.nodes):
            output = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            output.meta.update(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)


def _none_each(graph: Graph) -> list[None]:
    """Something to call the interpreter with: `placeholder` above doesn't look at it."""
    return [None for _ in graph.find_nodes(op="placeholder")]
