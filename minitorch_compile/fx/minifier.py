"""Shrink a graph that fails to a small graph that still fails.

A *case* is a graph and arguments for it; `fails` says whether it shows the failure. Each step proposes smaller cases,
the boldest first, and keeps the first one that still fails, until nothing smaller does:

- stop earlier: return a value from the middle of the graph;
- return less: only one of the results;
- start later: values from the first half become arguments, with the numbers they had;
- leave out: where a node's value has the form of one of its inputs, use the input instead.

>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: ((x * 2) % 7 + 1) * (x - 4))
>>> def has_a_remainder(case):
...     return "%" in case.module.graph.compact()
>>> print(minify(Case(module, [10]), has_a_remainder).module.graph.compact())
mul -> (mul % 7,)

The idea is delta debugging (A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) on
graphs, as in PyTorch's functorch/_src/fx_minifier.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.effects import acts_on_the_world
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.dispatch.transform_stack import leaving_transforms


@dataclass
class Case:
    """A graph without free choice left: the module and the arguments of one call."""

    module: GraphModule
    inputs: list[Any]

    @property
    def size(self) -> tuple[int, int, int]:
        """How much there is to look at: operations first, then arguments, then results."""
        nodes = list(self.module.graph.nodes)
        calls = sum(node.op.startswith("call") for node in nodes)
        return calls, len(self.inputs), len(results(self.module.graph))


def minify(
    case: Case,
    fails: Callable[[Case], bool],
    copy_value: Callable[[Any], Any] = lambda value: value,
    most_trials: int = 200,
) -> Case:
    """The smallest failing case that is found with at most `most_trials` calls of `fails`.

    `copy_value` is applied to a value before it is kept as an argument: later nodes may write to the original.
    ValueError if the case that is given does not fail.
    """
    if not fails(case):
        raise ValueError("minify: the case does not fail, so there is nothing to shrink.")
    trials = most_trials
    progress = True
    while progress:
        progress = False
        for candidate in proposals(case, _Recorder(case.module, copy_value)):
            if trials == 0:
                return case
            trials -= 1
            if candidate.size < case.size and fails(candidate):
                case, progress = candidate, True
                break
    return case


class _Recorder(Interpreter):
    """Runs the graph and keeps a copy of every value as it was when it was made."""

    def __init__(self, module: GraphModule, copy_value: Callable[[Any], Any]) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.copy_value = copy_value
        self.values: dict[Node, Any] = {}

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        if node.op != "output":
            self.values[node] = self.copy_value(value)
        return value

    def record(self, inputs: list[Any]) -> dict[Node, Any]:
        with leaving_transforms():  # which a part of a graph may enter and not leave
            self.run(*map(self.copy_value, inputs))
        return self.values


def proposals(case: Case, recorder: _Recorder) -> Iterator[Case]:
    """Smaller cases, the boldest first."""
    graph = case.module.graph
    calls = [node for node in graph.nodes if node.op.startswith("call")]
    values = recorder.record(case.inputs)
    plain = [n for n in calls if not isinstance(values[n], (tuple, list)) and not acts_on_the_world(n)]
    returned = results(graph)
    for node in _halving(plain):
        if node is not calls[-1]:
            yield part(case, [node], {}, values)
    if len(returned) > 1:
        for node in returned:
            yield part(case, [node], {}, values)
    for chunk in chunks(plain):
        yield part(case, returned, dict.fromkeys(chunk), values)
    for node in plain:
        for source in node.all_input_nodes:
            if _same_form(values[node], values[source]):
                yield part(case, returned, {node: source}, values)


def part(case: Case, wanted: Iterable[Any], replaced: dict[Node, Node | None], values: dict[Node, Any]) -> Case:
    """The part of the graph that computes `wanted`. A node in `replaced` becomes an argument, or, if a node is given,
    that node."""
    wanted = [replaced.get(node) or node for node in wanted]
    needed = _needed(case.module.graph, wanted, replaced)
    graph = Graph()
    copies: dict[Node, Node] = {}

    def copy_of(node: Node) -> Node:
        return copies[replaced.get(node) or node]

    arguments = [n for n in needed if n.op == "placeholder" or (n in replaced and replaced[n] is None)]
    for node in arguments:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in needed:
        if node not in copies and node not in replaced:
            copies[node] = graph.node_copy(node, copy_of)
    graph.output(tuple(map(copy_of, wanted)))
    module = GraphModule(case.module.attributes, graph, case.module.class_name)
    return Case(module, [values[node] for node in arguments])


def _needed(graph: Graph, wanted: list[Node], replaced: dict[Node, Node | None]) -> list[Node]:
    """What the wanted nodes are computed from, in order; writes to any of it stay, and what acts on the world."""
    needed = set(wanted)
    for node in reversed(list(graph.nodes)):
        if node in replaced and replaced[node] is None:
            continue
        if node.op != "output" and node.is_impure() and any(source in needed for source in node.all_input_nodes):
            needed.add(node)
        if acts_on_the_world(node):
            needed.add(node)
        if node in needed:
            needed.update(replaced.get(source) or source for source in node.all_input_nodes)
    return [node for node in graph.nodes if node in needed and node.op != "output"]


def results(graph: Graph) -> list[Node]:
    """The nodes that the graph returns, each once."""
    found: list[Node] = []
    map_arg(graph.output_node().args[0], found.append)
    return list(dict.fromkeys(found))


def chunks(nodes: list[Node]) -> Iterator[list[Node]]:
    """The first half, the second half, then quarters, ... at last each node by itself."""
    length = len(nodes) // 2
    while length >= 1:
        for start in range(0, len(nodes), length):
            yield nodes[start : start + length]
        length //= 2


def _halving(nodes: list[Node]) -> list[Node]:
    """The node in the middle first, then those that halve what is left: after a success, few steps remain."""
    order: list[Node] = []
    spans = [(0, len(nodes))]
    for start, stop in spans:
        if start < stop:
            middle = (start + stop) // 2
            order.append(nodes[middle])
            spans += [(start, middle), (middle + 1, stop)]
    return order


def _same_form(value: Any, other: Any) -> bool:
    """Two tensors of equal sizes and dtype, or two numbers of one type."""
    if type(value) is not type(other):
        return False
    forms = [(tuple(x.shape), x.dtype) if hasattr(x, "dtype") else type(x) for x in (value, other)]
    return bool(forms[0] == forms[1])
