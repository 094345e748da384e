"""Freezing: what depends on parameters and buffers alone is computed once, and again only after one of them changed.

>>> import minitorch_compile as torch
>>> from minitorch_compile import nn
>>> model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval()
>>> x = torch.randn(2, 3, 8, 8)
>>> frozen = torch.compile(model, options={"freezing": True})
>>> with torch.no_grad():
...     bool((frozen(x) - model(x)).abs().max() < 1e-5)
...     _ = model[1].weight.mul_(2)    # seen by its version counter
...     bool((frozen(x) - model(x)).abs().max() < 1e-5)
True
True

Under `no_grad` only. Batch normalisation in evaluation mode goes into the convolution before it (`conv_scale`), so that
nothing of it is left at run time. PyTorch's option of this name takes parameters for constants whatever happens to
them; here each call compares their version counters, about 50 ns each. Writes that no counter sees (through `.numpy()`
or `.data`) need a new `compile`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.aot.aot_function import aot_function
from minitorch_compile.aot.passes.conv_scale import fold_scale_into_convolution, frozen_nodes
from minitorch_compile.aot.passes.node_facts import is_view, seen_by_caller, tensor_of
from minitorch_compile.aot.passes.pass_list import Pass, on_graphs
from minitorch_compile.aot.subgraph import ancestors, extract
from minitorch_compile.fx import GraphModule, Interpreter, Node
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.tensor_base import TensorBase

Compiled = Callable[..., Any]
Compiler = Callable[[GraphModule, list[Any]], Compiled]

FOLD = Pass(
    "fold_scale_into_convolution",
    "scales and shifts behind a convolution change its parameters",
    on_graphs(fold_scale_into_convolution),
    exact=False,
)


def compile_frozen(
    captured: GraphModule,
    example_inputs: list[Any],
    compiler: Compiler,
    decompose: Callable[[GraphModule], GraphModule],
    before_autograd: Callable[[GraphModule], GraphModule] | None = None,
) -> Compiled:
    """The captured graph without a backward pass, its parameters and buffers frozen."""
    positions = [i for i, node in enumerate(captured.graph.find_nodes(op="placeholder")) if _is_parameter(node)]

    def folded(graph: GraphModule) -> GraphModule:
        return decompose(FOLD(_marked(graph, positions)))

    def compile_rest(graph: GraphModule, examples: list[Any]) -> Compiled:
        computed = _worth_keeping(_marked(graph, positions))
        return FrozenGraph(graph, computed, positions, compiler) if computed else compiler(graph, examples)

    return aot_function(captured, example_inputs, compile_rest, decompose=folded, before_autograd=before_autograd)


def _is_parameter(node: Node) -> bool:
    """Whether the tracer found the argument among the parameters or buffers of a module."""
    container = getattr(node.meta.get("source"), "origin", None)
    return getattr(container, "attribute", None) in ("_parameters", "_buffers")


def _marked(module: GraphModule, positions: Sequence[int]) -> GraphModule:
    placeholders = module.graph.find_nodes(op="placeholder")
    for i in positions:
        placeholders[i].meta["frozen"] = True
    return module


def _worth_keeping(module: GraphModule) -> list[Node]:
    """The frozen tensors that were computed, not only viewed, from parameters, and that anything else reads."""
    frozen, seen = frozen_nodes(module.graph), seen_by_caller(module.graph)
    read = [n for n in module.graph.nodes if n in frozen and any(user not in frozen for user in n.users)]
    return [n for n in read if n not in seen and tensor_of(n) is not None and _is_computed(n)]


def _is_computed(node: Node) -> bool:
    made_of = ancestors([node])
    computes = any(n.op == "call_function" and n.all_input_nodes and not is_view(n) for n in made_of)
    return computes and any(n.op == "placeholder" for n in made_of)


class FrozenGraph:
    """Calls the compiled rest of a graph with what was computed from its parameters, as long as they are the same."""

    def __init__(self, module: GraphModule, computed: list[Node], positions: list[int], compiler: Compiler) -> None:
        placeholders, output = module.graph.find_nodes(op="placeholder"), module.graph.output_node()
        self.positions = positions
        self.frozen_part = extract(module, [placeholders[i] for i in positions], computed)
        rest = extract(module, [*placeholders, *computed], output.args[0])
        rest.graph.output_node().meta["val"] = output.meta["val"]
        rest.meta.update(module.meta)
        self.rest = compiler(rest, [node.meta["val"] for node in [*placeholders, *computed]])
        self._known: tuple[list[Any], tuple[TensorBase, ...]] = ([], ())  # states of the parameters, and what they gave

    def __call__(self, *arguments: Any) -> Any:
        state = [(arguments[i].storage, arguments[i].storage.version) for i in self.positions]
        known, values = self._known
        if not _is_same(known, state):
            with no_grad():
                values = tuple(Interpreter(self.frozen_part).run(*(arguments[i] for i in self.positions)))
            self._known = state, values
        return self.rest(*arguments, *values)


def _is_same(known: list[Any], state: list[Any]) -> bool:
    """Whether all storages are the same and as often written to; inference tensors (below 0) don't count writes."""
    return len(known) == len(state) and all(
        a is b and before == now and now >= 0 for (a, before), (b, now) in zip(known, state, strict=True)
    )
