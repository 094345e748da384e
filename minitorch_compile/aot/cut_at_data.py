"""Graphs in which data decide sizes and numbers, for compilers of graphs without such: cut where the data is needed.

`x[mask]` is run as it is. What stands before it and behind it are graphs of their own: there, a size that the data
decided is a number like any other. A part is compiled for each set of sizes that it is met with.

>>> import minitorch_compile as torch
>>> def positive(x):
...     y = (x * 2).sin()
...     return y[y > 0].cos().sum()
>>> with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
...     compiled = torch.compile(positive, backend="aot_eager", fullgraph=True)
...     print(compiled(torch.tensor([0.5, 1.0, 2.0])))
tensor(1.2807)

Autograd records each part as one operation, so a gradient finds its way back through all of them. That is why a hook on
what the graph computes (`y.register_hook(f)`) is such a cut, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile import logs
from minitorch_compile.amp.autocast_mode import _enter_autocast, _exit_autocast
from minitorch_compile.aot.backward_calls import BACKWARD_CALLS
from minitorch_compile.aot.compiled_subgraphs import CompiledSubgraph, examples
from minitorch_compile.aot.size_values import SizeValues
from minitorch_compile.aot.specialized_sizes import with_sizes
from minitorch_compile.control import is_graph_step
from minitorch_compile.dynamo.capture.grad_switches import switch_grad_mode
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.size_nodes import runs_plainly
from minitorch_compile.symbolic import Symbol, SymInt
from minitorch_compile.tensor.modes.symbolic_layout import unknown_sizes
from minitorch_compile.tensor.tensor_base import TensorBase

Compiled = Callable[..., Any]
Backend = Callable[[GraphModule, list[Any]], Compiled]

AS_THEY_ARE = (*BACKWARD_CALLS, switch_grad_mode, _enter_autocast, _exit_autocast)  # on what all parts recorded
MOST_VERSIONS = 32  # of a part; beyond that, the oldest is forgotten
log = logs.artifact("dynamic")


class CutAtData:
    """The callable for such a graph. A part is compiled when it is met with the same sizes once more after `patience`
    times, and run as it is before."""

    def __init__(self, module: GraphModule, example_inputs: Sequence[Any], backend: Backend, patience: int = 0) -> None:
        self.sizes = SizeValues(example_inputs)
        self.placeholders = module.graph.find_nodes(op="placeholder")
        self.results = module.graph.output_node().args[0]
        self.steps: list[Node | Part] = []
        self._plain = Interpreter(module)
        self._subgraphs = {
            node: CompiledSubgraph(node.meta["val"], backend)
            for node in module.graph.find_nodes(op="get_attr")
            if isinstance(node.meta.get("val"), GraphModule)
        }
        for nodes in _stretches(module.graph):
            made = nodes if isinstance(nodes, Node) else Part(module, nodes, backend, patience, bool(self._subgraphs))
            self.steps.append(made)

    def __call__(self, *arguments: Any) -> Any:
        values: dict[Node, Any] = dict(zip(self.placeholders, arguments, strict=True))
        sizes = dict(self.sizes.at(arguments))
        for step in self.steps:
            if isinstance(step, Part):
                values.update(zip(step.outputs, step([values[node] for node in step.inputs], sizes), strict=True))
            else:
                values[step] = self._run(step, values)
                for symbol, dim in step.meta.get("decides", {}).items():
                    sizes[symbol] = values[step] if dim is None else values[step].sizes[dim]
        return map_arg(self.results, values.__getitem__)

    def _run(self, node: Node, values: Mapping[Node, Any]) -> Any:
        if node in self._subgraphs:
            return self._subgraphs[node]
        args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
        return getattr(self._plain, node.op)(node.target, args, kwargs)


class Part:
    """A stretch of a graph, compiled for each set of sizes; with `asks_gradients`, since a branch that ran may have no
    gradient, also for each choice of tensors that require one."""

    def __init__(
        self, module: GraphModule, nodes: list[Node], backend: Backend, patience: int, asks_gradients: bool
    ) -> None:
        self.backend = backend
        self.asks_gradients = asks_gradients
        self.patience = patience
        inside = set(nodes)
        self.inputs = list(dict.fromkeys(x for node in nodes for x in node.all_input_nodes if x not in inside))
        self.outputs = [node for node in nodes if any(user not in inside for user in node.users)]
        self.module = _extracted(module, self.inputs, nodes, self.outputs)
        met = (s for node in self.module.graph.nodes for size in unknown_sizes(node.meta.get("val"))
               for s in size.expression.symbols)  # fmt: skip
        self.symbols = sorted(set(met), key=str)
        self._met: OrderedDict[tuple[int, ...], int] = OrderedDict()  # how often, of those that are not compiled yet
        self._versions: OrderedDict[tuple[int, ...], Compiled] = OrderedDict()

    def __call__(self, arguments: list[Any], sizes: Mapping[Symbol, int]) -> Sequence[Any]:
        at_hand = tuple([sizes[symbol] for symbol in self.symbols])
        if self.asks_gradients:
            at_hand += tuple([x.requires_grad for x in arguments if isinstance(x, TensorBase)])
        version = self._versions.get(at_hand)
        if version is None:
            version = self._version(at_hand, arguments)
        if version is self.module:
            return self.module(*arguments)
        return version(*[x for x, node in zip(arguments, self.inputs, strict=True) if not _is_size(node)])

    def _version(self, at_hand: tuple[int, ...], arguments: list[Any]) -> Compiled:
        """Compiled for these sizes, or the part as it is if they were not met often enough."""
        times = self._met.pop(at_hand, 0)
        if self.symbols and times < self.patience:
            self._met[at_hand] = times + 1
            _forget_oldest(self._met)
            return self.module
        values = dict(zip(self.symbols, at_hand))  # behind the sizes are gradients
        log(f"compiling the part of {', '.join(node.name for node in self.outputs)} for {values}")
        known, _ = with_sizes(self.module, [], values)
        self._versions[at_hand] = self.backend(known, examples([x for x in arguments if isinstance(x, TensorBase)]))
        _forget_oldest(self._versions)
        return self._versions[at_hand]


def _forget_oldest(versions: OrderedDict[tuple[int, ...], Any]) -> None:
    if len(versions) > MOST_VERSIONS:
        versions.popitem(last=False)


# --- where to cut -----------------------------------------------------------------------------------------------------


def _stretches(graph: Graph) -> list[Node | list[Node]]:
    """The calls of a graph: one to be run as it is, or several to be compiled together."""
    is_whole = any(is_graph_step(node.target) and node.target not in BACKWARD_CALLS for node in graph.nodes)
    found: list[Node | list[Node]] = []
    here: list[Node] = []
    for node in graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if is_whole or _is_plain(node, here):  # inside a transform, values mean nothing to others
            found += [*([here] if here else []), node]
            here = []
        else:
            here.append(node)
    return [*found, *([here] if here else [])]


def _is_plain(node: Node, here: Sequence[Node]) -> bool:
    """Whether a call is run as it is: it needs data, changes a mode, is about numbers, or about what is no tensor."""
    if node.op == "get_attr" or runs_plainly(node) or node.target in AS_THEY_ARE or _is_size(node):
        return True
    outside = (x for x in node.all_input_nodes if x not in here)
    return any(not isinstance(x.meta.get("val"), (TensorBase, SymInt)) for x in outside)


def _is_size(node: Node) -> bool:
    return isinstance(node.meta.get("val"), SymInt)


def _extracted(module: GraphModule, inputs: list[Node], nodes: list[Node], outputs: list[Node]) -> GraphModule:
    """The nodes, which need not be ancestors of the outputs, as a graph of their own."""
    graph, counterpart = Graph(), dict[Node, Node]()
    for node in inputs:
        counterpart[node] = graph.placeholder(node.name)
        counterpart[node].meta["val"] = node.meta.get("val")
    for node in nodes:
        counterpart[node] = graph.node_copy(node, counterpart.__getitem__)
    output = graph.output(tuple(counterpart[node] for node in outputs))
    output.meta["val"] = tuple(node.meta.get("val") for node in outputs)
    return LazyGraphModule({}, graph, class_name=module.class_name)
