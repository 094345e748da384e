"""The end of tracing: the graph gets its output, loses what nobody asked for, and says which inputs it is left with.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, unused: x.max(0).values, ones(2, 3), ones(3)))
x -> (x.max(0)[0],)
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from minitorch_compile.dynamo.capture.grad_switches import drop_idle_switches, switch_grad_mode
from minitorch_compile.dynamo.errors import InternalTracerError
from minitorch_compile.dynamo.fakes.fallible_operations import unneeded_failing_nodes
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.tensors.autocast_regions import SWITCHES
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.fx import Graph, Node
from minitorch_compile.symbolic import Symbol, SymInt
from minitorch_compile.tensor import fake_like
from minitorch_compile.tensor.modes.symbolic_layout import unknown_sizes

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph


class SizeInput(NamedTuple):
    """A placeholder that is a number: the size of this symbol, or a float, which has none."""

    node: Node
    source: Source
    symbol: Symbol | None


def finish_graph(output: OutputGraph, results: list[Node]) -> list[TensorVariable | SizeInput]:
    """Completes the graph; the inputs that it uses, in the order of its placeholders."""
    output.unneeded = [_detached(output.graph, node) for node in unneeded_failing_nodes(output.graph, results)]
    output.graph.output((*results, *output.unneeded))
    output.graph.output_node().meta["val"] = tuple(node.meta["val"] for node in (*results, *output.unneeded))
    _drop_unused_items(output.graph)
    if output.graph.find_nodes(op="call_function", target=switch_grad_mode):
        drop_idle_switches(output.graph, output.grad_mode_before)
    _drop_unused_sizes(output.graph)
    needed = _symbols_of([variable for variable in output.inputs if variable.node.users])
    for symbol in sorted(needed, key=lambda s: int(s.name[1:])):  # a backend finds each size among its inputs
        output.size_nodes.symbol(symbol, output.sizes.env)
    inputs: list[TensorVariable | SizeInput] = [*output.inputs, *output.size_inputs]
    used = {
        variable.node: variable
        for variable in inputs
        if variable.node.users or (isinstance(variable, SizeInput) and variable.symbol in needed)
    }
    for variable in inputs:
        if variable.node not in used:
            output.graph.erase_node(variable.node)
    placeholders = output.graph.find_nodes(op="placeholder")
    if used.keys() != set(placeholders):
        raise InternalTracerError("the placeholders of the graph are not its inputs.")
    return [used[node] for node in placeholders]


def example_inputs(inputs: list[TensorVariable | SizeInput]) -> list[Any]:
    """Fakes as the graph finds them: the ones used in tracing may have been changed by it."""
    storages: dict[int, Any] = {}
    examples = []
    for variable in inputs:
        if isinstance(variable, SizeInput):
            examples.append(variable.node.meta["val"])
            continue
        example = fake_like(variable.real)
        if variable.layout is not None:
            variable.layout.apply_to(example)
        example.storage = storages.setdefault(id(variable.real.storage.memory), example.storage)
        examples.append(example)
    return examples


def _detached(graph: Graph, node: Node) -> Node:
    """A value that no gradient comes back through: a derivative may raise where the operation itself does not."""
    if not node.meta["val"].requires_grad:
        return node
    detached = graph.call_method("detach", (node,))
    detached.meta.update(node.meta, val=node.meta["val"].detach())
    return detached


def _symbols_of(variables: list[TensorVariable]) -> set[Symbol]:
    """The symbols in the sizes and strides of inputs."""
    sizes = (size for v in variables if v.layout is not None for size in unknown_sizes(v.layout.parts))
    return {symbol for size in sizes for symbol in size.expression.symbols}


def _drop_unused_sizes(graph: Graph) -> None:
    """Sizes that were computed for a node which is gone."""
    for node in reversed(graph.nodes):
        if node.op == "call_function" and isinstance(node.meta.get("val"), (SymInt, int)) and not node.users:
            graph.erase_node(node)


def _drop_unused_items(graph: Graph) -> None:
    """Results of an operation, and views `x[i]`, that nobody asked for. PyTorch does not count them either."""
    for node in reversed(graph.nodes):
        if node.target is operator.getitem and not node.users and _is_known_index(node.args[1]):
            graph.erase_node(node)


def _is_known_index(index: Any) -> bool:
    """Whether an index of a tensor is made of numbers and slices, so that it was seen to be in range."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, (int, slice, type(None), type(Ellipsis))) for part in parts)


def call_count(graph: Graph) -> int:
    """How many operations the graph has; switching a mode alone needs no graph."""
    return sum(node.op.startswith("call") and node.target not in (switch_grad_mode, *SWITCHES) for node in graph.nodes)
