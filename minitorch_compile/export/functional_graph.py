"""An exported graph as one of ops that changes nothing, the new values of what it wrote to among its results.

Source: `run_decompositions` in torch/export/exported_program.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from minitorch_compile.aot.functionalize import Functionalize
from minitorch_compile.aot.keep_history import keep_history, untracked
from minitorch_compile.aot.make_fx import OpTracer
from minitorch_compile.aot.tracing import Retrace
from minitorch_compile.dynamo.capture.grad_switches import switch_grad_mode
from minitorch_compile.export.capture import output_spec
from minitorch_compile.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    TensorArgument,
)
from minitorch_compile.fx import Graph, GraphModule, Node
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import enable_grad, fake_like
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.tensor_base import TensorBase

CHANGED = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


class _Rerun(Retrace):
    """Runs the graph; a size that is read from a tensor is the symbol that it was, a switch of grad mode stays one."""

    def run_node(self, node: Node) -> Any:
        value = node.meta.get("val")
        is_size = node.op == "call_method" and node.target == "size" and isinstance(value, SymInt)
        return value if is_size else super().run_node(node)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target is switch_grad_mode:  # it says through which ops a gradient goes
            self.tracer.graph.call_function(target, args)
        return super().call_function(target, args, kwargs)


def _know_sizes(tracer: OpTracer, node: Node) -> None:
    """The symbols that are sizes of this argument are read from it, where they are needed."""
    for dim, size in enumerate(node.meta["val"].sizes):
        symbol = size.expression.only_symbol if isinstance(size, SymInt) else None
        if symbol is not None and not tracer.sizes.knows(symbol):
            made = tracer.graph.call_method("size", (node, dim))
            made.meta["val"] = size
            tracer.sizes.know(symbol, made)


def functional_graph(
    module: GraphModule, signature: ExportGraphSignature, table: Mapping[Any, Callable[..., Any]]
) -> tuple[Graph, ExportGraphSignature, dict[str, Any]]:
    """The graph, its signature, and tensors that the program made of numbers.

    NotImplementedError where data decide sizes or branches.
    """
    for node in module.graph.nodes:
        if "runs_plainly" in node.meta:
            raise NotImplementedError(
                f"run_decompositions: '{node.name}' needs data, such as a branch of torch.cond or a size, and stays a"
                " call of the program's; use the graph as it was exported, which module() runs"
            )
    tracer, functional = OpTracer(table), Functionalize()
    inputs = []
    for node in module.graph.find_nodes(op="placeholder"):
        value = node.meta["val"]
        if not isinstance(value, TensorBase):
            tracer.graph.placeholder(node.name).meta["val"] = value
            inputs.append(value)
            continue
        example = fake_like(value)
        example.requires_grad = False
        stand_in = tracer.placeholder(node.name, example)
        inputs.append(functional.bind(fake_like(example), stand_in))
    for node in tracer.graph.find_nodes(op="placeholder"):
        if isinstance(node.meta.get("val"), TensorBase):
            _know_sizes(tracer, node)
    with enable_grad(), dispatch.mode(tracer), dispatch.mode(functional):
        returned = list(_Rerun(module, tracer).run(*inputs))
    changed = [
        (spec, x)
        for spec, x in zip(signature.input_specs, inputs)
        if isinstance(x, TensorBase) and functional.contents_of(x).writes
    ]
    values = [x for _, x in changed] + returned
    made = tracer.finish(tuple(functional.value_of(x) if isinstance(x, TensorBase) else x for x in values))
    for node in made.graph.nodes:
        if node.target in (keep_history, untracked):
            node.replace_all_uses_with(node.args[1])
            made.graph.erase_node(node)
    results = made.graph.output_node().args[0]
    specs = [output_spec(node, CHANGED[spec.kind], _target(spec)) for (spec, _), node in zip(changed, results)]
    specs += [output_spec(result) for result in results[len(changed) :]]
    input_specs, constants = _lifted(made, signature.input_specs)
    return made.graph, ExportGraphSignature(input_specs, specs), constants


def _lifted(made: GraphModule, specs: list[InputSpec]) -> tuple[list[InputSpec], dict[str, Any]]:
    """The graph's own tensors become placeholders, before those of the caller's arguments."""
    place = next((i for i, spec in enumerate(specs) if spec.kind is InputKind.USER_INPUT), len(specs))
    first = list(made.graph.nodes)[place]
    taken = {spec.target for spec in specs}
    free = (name for name in map("lifted_tensor_{}".format, itertools.count()) if name not in taken)
    added, constants = [], {}
    for node, target in zip(made.graph.find_nodes(op="get_attr"), free):
        with made.graph.inserting_before(first):
            placeholder = made.graph.placeholder(f"c_{target}")
        placeholder.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(placeholder)
        made.graph.erase_node(node)
        constants[target] = made.attributes[str(node.target)]
        added.append(InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(placeholder.name), target))
    return [*specs[:place], *added, *specs[place:]], constants


def _target(spec: InputSpec) -> str:
    return spec.arg.name if spec.kind is InputKind.USER_INPUT else str(spec.target)
