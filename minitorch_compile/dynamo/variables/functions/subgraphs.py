"""A function traced as a graph of its own: its nodes are made in the graph, and then taken out of it.

What it uses of the graph around it become its placeholders, in the order of that graph. Since nobody knows how often it
will run, it may only compute: what writes to tensors or changes an object breaks the graph, and so does a result that
shows the memory of something else.

>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.func.control_flow import cond
>>> from minitorch_compile.tensor import ones
>>> counter = CompileCounter()
>>> f = optimize(lambda x, y: cond(x.sum() > 0, lambda x: x * y, lambda x: x - 1, (x,)), counter)
>>> _ = f(ones(2), ones(2))
>>> print(counter.graphs[0].cond_true_0.graph.compact())
x, y -> (x * y,)
>>> print(counter.graphs[0].cond_false_0.graph.compact())
x, y -> (x - 1,)

Source: `speculate_subgraph` in torch/_dynamo/variables/higher_order_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import ObservedException, Value
from minitorch_compile.fx import Graph, Node
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.pytree import TreeSpec, tree_flatten
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class Subgraph:
    """The graph; `outside` are the nodes around it that its placeholders stand for. `results` are nodes and constants,
    which `spec` nests; it returns the nodes among them."""

    def __init__(self, graph: Graph, outside: list[Node], results: list[Any], spec: TreeSpec) -> None:
        self.graph = graph
        self.outside = outside
        self.results = results
        self.spec = spec

    def module(self, outside: list[Node], name: str) -> LazyGraphModule:
        """The same with placeholders for all of `outside`, some of which it need not use."""
        graph = Graph()
        placeholders = {node: _placeholder(graph, node) for node in outside}
        own = self.graph.find_nodes(op="placeholder")
        known = {mine: placeholders[node] for mine, node in zip(own, self.outside, strict=True)}
        returned = graph.output(graph.graph_copy(self.graph, known))
        returned.meta.update(self.graph.output_node().meta)
        return LazyGraphModule.captured(graph, name)


def _placeholder(graph: Graph, node: Node) -> Node:
    made = graph.placeholder(node.name)
    made.meta["val"] = node.meta.get("val")
    return made


def traced_apart(tracer: Tracer, what: str, trace: Callable[[], Value], stand_ins: list[Node]) -> Subgraph:
    """The graph of what `trace` traces. `stand_ins` are nodes for what it takes, which the caller erases.

    Unsupported, which names `what`, if it does more than compute new tensors.
    """
    region = _Region(tracer.output, what, stand_ins)
    try:
        result = trace()
    except ObservedException as error:
        raise Unsupported("unsupported-call", f"{what} raises {error.value.describe()}.") from error
    return region.close(tracer.graph_argument(result))


class _Region:
    """What is traced until `close`."""

    def __init__(self, output: Output, what: str, stand_ins: list[Node]) -> None:
        self.output = output
        self.what = what
        self.stand_ins = stand_ins
        self.before = set(output.graph.nodes)
        self.changes = self._changes()
        self.versions = {storage: storage.version for node in self.before for storage in _storages(node)}

    def _changes(self) -> tuple[int, ...]:
        output = self.output
        return len(output.side_effects.effects), len(output.expectations)

    def close(self, returned: Any) -> Subgraph:
        """Takes it out of the graph."""
        nodes = self.output.graph.nodes
        made = [node for node in nodes if node not in self.before and node.op != "placeholder"]
        kept = {node for node in nodes if node not in made}
        results, spec = tree_flatten(returned)
        self._check_changes(kept)
        self._check_results(results, kept)
        used = {source for node in made for source in node.all_input_nodes} & kept
        outside = [node for node in nodes if node in used]
        found = Subgraph(_copied(made, outside, results), outside, results, spec)
        for node in reversed(made):
            self.output.graph.erase_node(node)
        self.output.forget_erased_nodes(kept)
        return found

    def _check_changes(self, kept: set[Node]) -> None:
        memory = {storage for node in kept for storage in _storages(node)}
        written = any(storage.version != self.versions.get(storage, storage.version) for storage in memory)
        if self._changes() != self.changes or written:
            self.refuse("changes something; it may only compute")

    def _check_results(self, results: list[Any], kept: set[Node]) -> None:
        taken = {storage for node in kept for storage in _storages(node)}
        for result in results:
            if not isinstance(result, Node):
                continue
            mine = set(_storages(result))
            if result in kept or mine & taken:
                self.refuse("returns what shares memory with a tensor from outside; return a .clone()")
            taken |= mine
            if not isinstance(result.meta.get("val"), (TensorBase, SymInt, bool)):
                self.refuse("returns what is neither a tensor nor a whole number")

    def refuse(self, why: str) -> NoReturn:
        raise Unsupported("unsupported-call", f"{self.what} {why}.")


def _copied(made: list[Node], outside: list[Node], results: list[Any]) -> Graph:
    graph = Graph()
    known = {node: _placeholder(graph, node) for node in outside}
    for node in made:
        known[node] = graph.node_copy(node, known.__getitem__)
    output = graph.output(tuple(known[result] for result in results if isinstance(result, Node)))
    output.meta["val"] = tuple(result.meta["val"] for result in results if isinstance(result, Node))
    return graph


def _storages(node: Node) -> list[Storage]:
    value = node.meta.get("val")
    return [x.storage for x in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(x, TensorBase)]
