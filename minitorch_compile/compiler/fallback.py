"""Graphs with operations that no kernel can be generated for: the rest is compiled, in stretches around them.

Sorting, Fourier transforms, matrix inverses and complex numbers are not in the kernel generator's language. A graph
that has one of them is cut there, like this one at `sort`:

    x -> mul -> exp -> | sort -> getitem | -> sum

The *stages* are numbered: a prim belongs to the first stage in which all its arguments exist, a fallback runs after
the stage of its latest argument, and what it returns exists from the next stage on. So there are as few stretches as
possible, and everything between two fallbacks is fused as if they weren't there.

>>> import minitorch_compile as torch
>>> x = torch.tensor([1.0, 0.0])
>>> torch.compile(lambda x: (x.exp() * 2).sort().values.log() / 2)(x)
tensor([0.3466, 0.8466])

Source: the fallback kernels of TorchInductor (`torch/_inductor/lowering.py`, `make_fallback`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch_compile import logs
from minitorch_compile.aot.interpret import in_layout
from minitorch_compile.aot.subgraph import extract
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.node import Node
from minitorch_compile.prims.prim import Prim
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.strides import is_dense
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.inductor.targets import Target

Compiled = Callable[..., tuple[Any, ...]]
PrimCompiler = Callable[[GraphModule, list[Any]], Compiled]
Values = dict[Node, Any]

log = logs.artifact("fallbacks")


def with_fallbacks(
    graph: GraphModule, example_inputs: list[Any], compile_prims: PrimCompiler, target: Target, where: Device = CPU
) -> Compiled:
    """The graph as a function on tensors, which lie on a device: what the target can compute is compiled by
    `compile_prims`, everything else run as it is."""
    fallbacks = find_fallbacks(graph, target.dtypes, target.missing, target.lacks)
    if not fallbacks:
        return compile_prims(graph, example_inputs)
    if log.is_on:
        calls = [node for node in fallbacks if node.target is not operator.getitem]
        log("\n".join(f"{node.name} = {node.target!r}: no kernel, runs as it is" for node in calls))
    return StagedProgram(graph, fallbacks, compile_prims, where)


def find_fallbacks(
    graph: GraphModule,
    dtypes: Collection[dtype],
    missing: Collection[str] = (),
    lacks: Callable[[Node], bool] = lambda node: False,
) -> dict[Node, None]:
    """The calls that can't become kernels, in order: of ops that aren't prims, of prims without a lowering or that are
    `missing` on this target, of what else it `lacks`, and on tensors of other dtypes than these."""
    is_beyond = lambda node: any(x.dtype not in dtypes for x in _tensors_of(node))
    is_out_of_reach = lambda node: is_beyond(node) or any(map(is_beyond, node.all_input_nodes)) or lacks(node)
    found: dict[Node, None] = {}
    for node in graph.graph.find_nodes(op="call_function"):
        if node.target is operator.getitem:
            if node.args[0] in found:
                found[node] = None
        elif not has_kernels(node.target, missing) or is_out_of_reach(node):
            found[node] = None
    return found


def has_kernels(target: Any, missing: Collection[str]) -> bool:
    """Whether a call is of a prim that the kernel generator knows."""
    from minitorch_compile.inductor.lowering import WITHOUT_A_KERNEL

    return isinstance(target, Prim) and target.name not in WITHOUT_A_KERNEL and target.name not in missing


def _tensors_of(node: Node) -> list[TensorBase]:
    return [x for x in tree_leaves(node.meta.get("val")) if isinstance(x, TensorBase)]


@dataclass(frozen=True)
class Stretch:
    """Compiled prims: reads some values, makes others."""

    call: Compiled
    inputs: list[Node]
    outputs: list[Node]

    def __call__(self, values: Values) -> None:
        results = self.call(*(values[node] for node in self.inputs))
        values.update(zip(self.outputs, results, strict=True))


@dataclass(frozen=True)
class Fallback:
    """One call, run as it is; what is made of no tensor is made on the device `where`. The stretches that follow were
    compiled for the strides that its result should have."""

    node: Node
    where: Device

    def __call__(self, values: Values) -> None:
        args = map_arg(self.node.args, values.__getitem__)
        reads_tensors = any(map(_tensors_of, self.node.all_input_nodes))
        with nullcontext() if reads_tensors else self.where:
            result = self.node.target(*args)  # type: ignore[operator]
        expected = self.node.meta["val"]
        values[self.node] = in_layout(result, tuple(expected.strides)) if isinstance(result, TensorBase) else result


class StagedProgram:
    """A graph cut into steps; calling it runs them in order, and forgets each value after its last use."""

    def __init__(
        self, graph: GraphModule, fallbacks: dict[Node, None], compile_prims: PrimCompiler, where: Device
    ) -> None:
        self.inputs = graph.graph.find_nodes(op="placeholder")
        output = graph.graph.output_node()
        self.outputs: Sequence[Node] = output.args[0]
        self.layouts = [tuple(x.strides) if is_dense(x.sizes, x.strides) else None for x in output.meta["val"]]
        self.steps = _steps(graph, fallbacks, compile_prims, where)
        self.dead_after = _last_uses(self.steps, keep=set(self.outputs))

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        values: Values = dict(zip(self.inputs, arguments, strict=True))
        for step, dead in zip(self.steps, self.dead_after, strict=True):
            step(values)
            for node in dead:
                del values[node]
        return tuple(in_layout(values[node], to) for node, to in zip(self.outputs, self.layouts, strict=True))


def _steps(
    graph: GraphModule, fallbacks: dict[Node, None], compile_prims: PrimCompiler, where: Device
) -> list[Stretch | Fallback]:
    stage = _stages(graph, fallbacks)
    steps: list[Stretch | Fallback] = []
    for number in range(max(stage.values()) + 1):
        here = [node for node in stage if stage[node] == number]
        prims = [node for node in here if node not in fallbacks]
        if prims:
            steps.append(_stretch(graph, prims, compile_prims))
        steps += [Fallback(node, where) for node in here if node in fallbacks]
    return steps


def _stages(graph: GraphModule, fallbacks: dict[Node, None]) -> dict[Node, int]:
    """For each call, the number of its stage."""
    stage: dict[Node, int] = {}
    for node in graph.graph.find_nodes(op="call_function"):
        among_fallbacks = node in fallbacks
        stage[node] = max(
            (stage[x] + (x in fallbacks and not among_fallbacks) for x in node.all_input_nodes if x in stage),
            default=0,
        )
    _postpone_constants(stage, fallbacks)
    return stage


def _postpone_constants(stage: dict[Node, int], fallbacks: dict[Node, None]) -> None:
    """What is computed from nothing belongs beside its first user: alone, it would be a kernel launched early."""
    from_nothing: set[Node] = set()
    for node in stage:
        if node not in fallbacks and all(x in from_nothing for x in node.all_input_nodes):
            from_nothing.add(node)
    for node in reversed(stage):
        if node in from_nothing:
            stage[node] = min((stage[user] for user in node.users if user in stage), default=stage[node])


def _stretch(graph: GraphModule, prims: list[Node], compile_prims: PrimCompiler) -> Stretch:
    inside = set(prims)
    inputs = list(dict.fromkeys(x for node in prims for x in node.all_input_nodes if x not in inside))
    outputs = [node for node in prims if any(user not in inside for user in node.users) and not _is_tuple(node)]
    piece = extract(graph, inputs, outputs)
    return Stretch(compile_prims(piece, [node.meta["val"] for node in inputs]), inputs, outputs)


def _is_tuple(node: Node) -> bool:
    return not isinstance(node.meta["val"], TensorBase)


def _last_uses(steps: Sequence[Stretch | Fallback], keep: set[Node]) -> list[list[Node]]:
    """For each step, the values that nobody needs after it."""
    seen = set(keep)
    dead: list[list[Node]] = []
    for step in reversed(steps):
        read = step.node.all_input_nodes if isinstance(step, Fallback) else step.inputs
        made = [step.node] if isinstance(step, Fallback) else step.outputs
        last = [node for node in dict.fromkeys([*made, *read]) if node not in seen]
        seen.update(last)
        dead.append(last)
    return dead[::-1]
