"""From a captured graph to something that runs: the stages between Dynamo and the kernels, and where one may stop.

    eager                          the captured graph, interpreted
    aot_eager                      forward and backward traced ahead of time, interpreted
    aot_eager_decomp_partition     the same over prims, interpreted with NumPy
    loops                          lowered to loops, the loops interpreted
    cuda_sim                       lowered to CUDA kernels, run in a simulator
    inductor                       lowered to Numba kernels in one file, compiled

The last three are targets of the same loops; every target is a backend (`inductor/targets.py`). Their floor, and Numba
with it, is imported when the first function is compiled to kernels: a program that compiles none starts without it.

Each backend is the one before it with one more stage, and all give the same numbers. So a wrong result is found by
asking which is the first backend that shows it.

>>> import minitorch_compile as torch
>>> double = torch.compile(lambda x: x + x, backend="aot_eager")
>>> double(torch.tensor([1.0, 2.0]))
tensor([2., 4.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile import config
from minitorch_compile.aot import JointGraph, Partition, aot_eager, aot_function, chosen_partition
from minitorch_compile.aot.cut_at_data import CutAtData
from minitorch_compile.aot.passes import custom_pass, prepare
from minitorch_compile.aot.specialized_sizes import SpecializedGraphs, for_known_sizes
from minitorch_compile.aot.unknown_floats import ForAllFloats
from minitorch_compile.compile_progress import stage
from minitorch_compile.compiler.backends import register_backend
from minitorch_compile.compiler.fallback import with_fallbacks
from minitorch_compile.compiler.freezing import compile_frozen
from minitorch_compile.compiler.pass_options import split_options
from minitorch_compile.compiler.whole_calls import stays_whole
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.size_nodes import has_plain_calls
from minitorch_compile.garbage import collected_rarely
from minitorch_compile.prims import aot_eager_decomp, decompose
from minitorch_compile.prims.decompositions.attention import AS_PRIMS
from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor.grad_mode import is_grad_enabled
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.inductor.targets import Target

Compiled = Callable[..., Any]


@register_backend
def eager(graph: GraphModule, example_inputs: list[Any]) -> Compiled:
    """The captured graph as it is, run call by call."""
    return graph


def is_on_a_device(graph: GraphModule, example_inputs: Sequence[Any]) -> bool:
    """Whether a tensor that the graph is given, has, or makes lies in the memory of a device."""
    made = (node.meta.get("val") for node in graph.graph.nodes)
    values = (*example_inputs, *graph.attributes.values(), *made)
    return any(isinstance(x, TensorBase) and x.device.type not in ("cpu", "meta") for x in values)


def in_main_memory(backend: Compiled) -> Compiled:
    """The backend for graphs in main memory; what it makes of others would be the same calls on a device."""

    @functools.wraps(backend)
    def chosen(graph: GraphModule, example_inputs: list[Any], **options: Any) -> Any:
        if is_on_a_device(graph, example_inputs):
            return graph
        return backend(graph, example_inputs, **options)

    return chosen


register_backend(in_main_memory(aot_eager))
register_backend(in_main_memory(for_known_sizes(aot_eager_decomp)), name="aot_eager_decomp_partition")


class Inductor:
    """The backend that makes kernels: joint graph, prims, partition, and each half lowered to one target.

    Every stage is a method, so that a subclass can watch what passes through it (`inspection.py`).
    """

    def __init__(self, target: str, options: Mapping[str, Any] | None = None) -> None:
        self.target = target
        self.pass_options, self.options = split_options(options or {})

    def found_target(self) -> Target:
        """The target itself; the floor that it stands on is imported if it wasn't yet."""
        with collected_rarely():
            from minitorch_compile.inductor.targets import find_target

        return find_target(self.target)

    def __call__(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        if is_on_a_device(graph, example_inputs):
            from minitorch_compile.compiler.device_graphs import compiled_on_device  # which is an Inductor, too

            return compiled_on_device(self, graph, example_inputs)
        return self.compile(graph, example_inputs)

    def compile(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        """The graph as a function on tensors, for each size of its arguments that is met."""
        if has_plain_calls(graph.graph):  # sizes that the data decide seldom come twice
            return CutAtData(graph, example_inputs, self.compile, patience=1)
        if any(isinstance(x, SymInt) for x in example_inputs):
            return SpecializedGraphs(self.compile, graph, example_inputs)
        if any(isinstance(x, SymFloat) for x in example_inputs):
            return ForAllFloats(self.compile, graph, example_inputs)
        with config.patch(self.pass_options):
            return self._compile(graph, example_inputs)

    def _compile(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        if config.freezing and not is_grad_enabled():
            return compile_frozen(graph, example_inputs, self.compile_forward, self.decompose, self.before_autograd)
        return aot_function(
            graph,
            example_inputs,
            self.compile_forward,
            self.compile_backward,
            self.partition,
            self.decompose,
            self.before_autograd,
        )

    def before_autograd(self, graph: GraphModule) -> GraphModule:
        """The functional program, with what the target has a kernel for as one operation, gradient included."""
        stage("differentiating")
        return prepare(graph) if self.found_target().has_attention else graph

    def decompose(self, graph: GraphModule) -> GraphModule:
        """The joint graph (only forward, if nothing requires grad) over prims, as far as it goes."""
        from minitorch_compile.inductor.lowering.layout_choice import with_suited_layouts

        stage("decomposing")
        return with_suited_layouts(decompose(graph, keep=stays_whole, decompositions=AS_PRIMS))

    def partition(self, joint: JointGraph) -> Partition:
        """What is saved for the backward pass, by the partitioner that the options choose."""
        stage("partitioning")
        return chosen_partition(joint)

    def compile_forward(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        return with_fallbacks(self.post_grad(graph), example_inputs, self.compile_prims, self.found_target())

    def compile_backward(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        return with_fallbacks(self.post_grad(graph), example_inputs, self.compile_prims, self.found_target())

    def post_grad(self, graph: GraphModule) -> GraphModule:
        """One half of the cut graph after the user's own passes. The backward half comes later, hence `patch`."""
        with config.patch(self.pass_options):
            return custom_pass("post_grad_custom_post_pass", custom_pass("post_grad_custom_pre_pass", graph))

    def compile_prims(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        """A graph of nothing but prims, or a stretch of one, as kernels of the target."""
        from minitorch_compile.inductor import compile_graph

        stage("scheduling")
        return compile_graph(graph, example_inputs, self.target, self.options)


register_backend(Inductor("loops"), name="loops")
register_backend(Inductor("cpu"), name="inductor")
register_backend(Inductor("cuda_sim"), name="cuda_sim", tags=("debug",))
register_backend(Inductor("cuda"), name="cuda", tags=("debug",))
