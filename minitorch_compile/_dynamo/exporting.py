"""`torch._dynamo.export(f)(*args)`: a whole function as one graph that stands alone.

>>> from minitorch_compile.nn import Linear
>>> from minitorch_compile.tensor import ones
>>> layer = Linear(2, 1)
>>> module, guards = export(lambda x, scale: {"y": layer(x["a"]) * scale})({"a": ones(1, 2)}, 3)
>>> module({"a": ones(4, 2)}, 3)["y"].shape, [name for name, _ in module.named_parameters()]
(torch.Size([4, 1]), ['G_layer_weight', 'G_layer_bias'])
>>> print(module.graph.compact())
arg0, arg1 -> [linear(arg0, G_layer_weight, G_layer_bias) * 3]

A graph break is an error. What the graph read beside its arguments, such as weights, are the module's own attributes.
Numbers and sizes that the function read are constants: the guards say what was taken for granted. In PyTorch it is in
`torch/_dynamo/eval_frame.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from minitorch_compile import pytree
from minitorch_compile.aot.make_fx import make_fx
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.fx import Graph, GraphModule, Node
from minitorch_compile.fx.pytree_code import _PyTreeCodeGen, _PyTreeInfo
from minitorch_compile.nn import Module
from minitorch_compile.random import fork_rng
from minitorch_compile.tensor import Tensor, no_grad


class ExportResult(NamedTuple):
    """The graph as a module that takes and gives what the function does, and what it was compiled under."""

    graph_module: GraphModule
    guards: Any


def export(
    f: Callable[..., Any],
    *extra_args: Any,
    aten_graph: bool = False,
    pre_dispatch: bool = False,
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "symbolic",
    dynamic_shapes: Any = None,
    **extra_kwargs: Any,
) -> Any:
    """A function of example arguments that gives an ExportResult; with `extra_args`, that result at once.

    aten_graph: go below autograd and composite ops (`make_fx`), each op that is in `decomposition_table` written as the
        table says; `tracing_mode` is make_fx's.
    Unsupported at a graph break, NotImplementedError for `dynamic_shapes` and `pre_dispatch`. The arguments, weights
    and buffers are as before, though the function has run once.
    """
    if dynamic_shapes is not None or pre_dispatch:
        asked = "pre_dispatch" if pre_dispatch else "dynamic_shapes"
        raise NotImplementedError(
            f"torch._dynamo.export: {asked} is not offered, sizes are those of the example; torch.compile(f,"
            " dynamic=True) makes a graph of unknown sizes, which a backend of your own is given"
        )

    def of_arguments(*args: Any, **kwargs: Any) -> ExportResult:
        call = _Call(f, args, kwargs)
        made = call.graph_module()
        if aten_graph:
            made = _below_autograd(made, call.leaves, decomposition_table, tracing_mode)
        return ExportResult(made, call.guards)

    return of_arguments(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else of_arguments


def _names(bound: inspect.BoundArguments) -> list[str]:
    """A name for each of `bound.args` and `bound.kwargs`, which are in the order of the parameters."""
    names: list[str] = []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}_{i}" for i in range(len(value))]
        else:
            names += list(value) if kind is inspect.Parameter.VAR_KEYWORD else [name]
    return names


class _Call:
    """One call of the function, with what went into its graph and came out."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bound = inspect.signature(f.forward if isinstance(f, Module) else f).bind(*args, **kwargs)
        self.names = _names(bound)
        given, nested = pytree.tree_flatten((bound.args, bound.kwargs))
        self.in_spec = pytree.tree_flatten((*bound.args, *bound.kwargs.values()))[1]
        self.leaves = [_copied(leaf) for leaf in given]
        self.inputs: tuple[Any, ...] = ()
        self.outputs: tuple[Any, ...] = ()
        self.captured = GraphModule({}, _empty())
        compiled = optimize(f, self._backend, fullgraph=True, dynamic=False)
        positional, named = pytree.tree_unflatten(self.leaves, nested)
        with fork_rng():
            result = compiled(*positional, **named)
        self.results, self.out_spec = pytree.tree_flatten(result)
        entries = [entry for cache in region_of(compiled).caches for entry in cache.entries]
        self.guards = [guard for entry in entries for guard in entry.guards]

    def _backend(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.captured = module

        def run(*inputs: Any) -> Any:
            before = [(each, each._version, _copied(each)) for each in inputs if isinstance(each, Tensor)]
            self.inputs, self.outputs = inputs, module(*inputs)
            with no_grad():
                for tensor, version, values in before:
                    if tensor._version != version and all(tensor is not leaf for leaf in self.leaves):
                        tensor.copy_(values)  # a buffer: exporting is not training
            return self.outputs

        return run

    def graph_module(self) -> GraphModule:
        """The graph with a placeholder for each leaf of the arguments."""
        graph = Graph()
        placeholders = [graph.placeholder(f"arg{i}") for i in range(len(self.leaves))]
        attributes: dict[str, Any] = {}

        def attribute(name: str, value: Any) -> Node:
            attributes[name] = value
            return graph.get_attr(name)

        known: dict[Node, Node] = {}
        old = [node for node in self.captured.graph.nodes if node.op == "placeholder"]
        for node, value in zip(old, self.inputs, strict=True):
            place = _place(value, self.leaves)
            known[node] = attribute(node.name, value) if place is None else placeholders[place]
        attributes.update(self.captured.attributes)
        returned = graph.graph_copy(self.captured.graph, known)
        results = []
        for i, value in enumerate(self.results):
            place = _place(value, self.outputs)
            if place is not None:
                results.append(returned[place])
            elif isinstance(value, Tensor):
                place = _place(value, self.leaves)
                results.append(attribute(f"result_{i}", value) if place is None else placeholders[place])
            else:
                results.append(value)
        graph.output(results)
        graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(self.names, self.in_spec, self.out_spec)))
        return GraphModule(attributes, graph)


def _place(value: Any, among: Any) -> int | None:
    """Where this very tensor is; None for anything else."""
    return next((i for i, other in enumerate(among) if other is value and isinstance(value, Tensor)), None)


def _copied(leaf: Any) -> Any:
    """A tensor with the same values that nothing else sees; other leaves as they are."""
    return leaf.detach().clone().requires_grad_(leaf.requires_grad) if isinstance(leaf, Tensor) else leaf


def _empty() -> Graph:
    graph = Graph()
    graph.output(())
    return graph


def _below_autograd(module: GraphModule, leaves: list[Any], table: Any, mode: str) -> GraphModule:
    """The same of the ops that it runs, with the nesting of arguments and results around them."""
    codegen: Any = module.graph._codegen

    def flat(*given: Any) -> Any:
        return pytree.tree_leaves(module(*pytree.tree_unflatten(list(given), codegen.pytree_info.in_spec)))

    made = make_fx(flat, table, mode)(*leaves)
    made.graph.set_codegen(_PyTreeCodeGen(codegen.pytree_info))
    made.recompile()
    return made


__all__ = ["ExportResult", "export"]
