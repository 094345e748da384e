"""Calling a compiler on a graph, and smoothing what compilers should not have to think about.

A compiler gets a graph that returns new tensors, each once, and whose tensors all come in as arguments. So before it is
called, constants become arguments, and results that are arguments, repeated or missing are taken out; they are put back
after each call, a constant as a copy, since the program itself makes it anew each time. Where there is nothing to put
back, what the compiler returned is called directly.

Where `meta["written_back"]` says that a result will be copied into an argument, and is wanted for nothing else, a
compiler may do that itself, as the last thing, and return the argument.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, tensor
>>> def show(graph_module, example_inputs):
...     print(graph_module.graph.compact())
...     return graph_module
>>> graph_module = trace(lambda x, y: (x, x + y, None), [empty_fake(()), empty_fake(())])
>>> call_compiler(graph_module, show)(tensor(1.0), tensor(2.0))
x, y -> (add(x, y),)
(tensor(1.), tensor(3.), None)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.aot.lift_constants import lift_constants
from minitorch_compile.aot.verify import verify_functional
from minitorch_compile.compile_progress import compiling
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.garbage import collected_rarely
from minitorch_compile.tensor.tensor_base import TensorBase

CompiledGraph = Callable[..., Sequence[Any]]
Compiler = Callable[[GraphModule, list[TensorBase]], CompiledGraph]

# Keys of a graph module's meta: how many of its results the caller gets (those behind them are saved for a backward
# pass), and which of the results that a compiler sees are the caller's alone.
RESULTS_FOR_CALLER, OVERWRITABLE = "results_for_caller", "overwritable"
WRITTEN_BACK = "written_back"  # the key of a graph module's meta: {position of a result: position of an argument}
ARGUMENT, CONSTANT, RESULT, NOTHING = "argument", "constant", "result", "nothing"
Place = tuple[str, int]


def call_compiler(graph_module: GraphModule, compiler: Compiler) -> CompiledGraph:
    """What `compiler` makes of the graph, as a function of the graph's arguments that returns its outputs."""
    lifted, constants = lift_constants(graph_module) if graph_module.attributes else (graph_module, [])
    core, places = _with_new_results_only(lifted, len(constants))
    compiled: CompiledGraph = _nothing
    if any(kind is RESULT for kind, _ in places):
        verify_functional(core.graph)  # a thousand nodes take two milliseconds
        examples = [node.meta["val"] for node in core.graph.find_nodes(op="placeholder")]
        with collected_rarely(), compiling(_name(core)):  # a backward graph is compiled when a gradient arrives
            compiled = compiler(core, examples)
    if places != [(RESULT, i) for i in range(len(places))]:
        compiled = _with_places(compiled, places)
    return _with_constants(compiled, constants) if constants else compiled


def _name(graph_module: GraphModule) -> str:
    """What is said of a graph that is compiled later than the call that it belongs to."""
    names = [node.name for node in graph_module.graph.find_nodes(op="placeholder")]
    return "a backward pass" if any(name.startswith("tangents") for name in names) else "a graph for other sizes"


def _nothing(*arguments: Any) -> tuple[Any, ...]:
    """What is left of a graph that computes nothing."""
    return ()


def _with_constants(compiled: CompiledGraph, constants: Sequence[TensorBase]) -> CompiledGraph:
    return lambda *arguments: compiled(*arguments, *constants)


def _with_places(compiled: CompiledGraph, places: Sequence[Place]) -> CompiledGraph:
    def call(*arguments: Any) -> tuple[Any, ...]:
        results = compiled(*arguments)
        pick = {ARGUMENT: arguments, CONSTANT: arguments, RESULT: results}
        return tuple(
            None if kind is NOTHING else pick[kind][i].clone() if kind is CONSTANT else pick[kind][i]
            for kind, i in places
        )

    return call


def _with_new_results_only(graph_module: GraphModule, constants: int) -> tuple[GraphModule, list[Place]]:
    """The graph without the outputs that need no compiling, and where each output of the old graph is found.

    Its last arguments, so many, are `constants`.
    """
    graph = copy.deepcopy(graph_module.graph)
    arguments = {node: i for i, node in enumerate(graph.find_nodes(op="placeholder"))}
    output = graph.output_node()
    kept: dict[tuple[Node, str], int] = {}  # a value wanted in two layouts is two results
    layouts, places = [], []
    for node, layout in zip(output.args[0], output.meta["val"], strict=True):
        if not isinstance(node, Node):
            places.append((NOTHING, 0))
        elif node in arguments:
            is_constant = arguments[node] >= len(arguments) - constants
            places.append((CONSTANT if is_constant else ARGUMENT, arguments[node]))
        else:
            key = (node, str(layout.strides) if isinstance(layout, TensorBase) else "")
            if key not in kept:
                kept[key] = len(kept)
                layouts.append(layout)
            places.append((RESULT, kept[key]))
    output.args = (tuple(node for node, _ in kept),)
    output.meta["val"] = tuple(layouts)
    core = LazyGraphModule(graph_module.attributes, graph)
    core.meta.update(graph_module.meta)
    count = graph_module.meta.get(RESULTS_FOR_CALLER, 0)
    saved = set(places[count:])
    core.meta[OVERWRITABLE] = {i for kind, i in places[:count] if kind is RESULT and (kind, i) not in saved}
    written = graph_module.meta.get(WRITTEN_BACK, {})
    once = {place for place in places if places.count(place) == 1} if written else set()
    core.meta[WRITTEN_BACK] = {
        places[position][1]: argument
        for position, argument in written.items()
        if places[position][0] is RESULT and places[position] in once
    }
    return core, places
