"""Captured graphs with tensors on a GPU: Inductor's stages as anywhere, at whose end kernels are launched there.

What is compiled stays on the GPU: stretches of fused kernels (`inductor/device_calls/device_graph.py`), and between
them, as single operations, what can't be fused. A graph that has to do with several devices runs call by call, each an
operation by itself, and says so once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from minitorch_compile import config
from minitorch_compile.aot import JointGraph, Partition, chosen_partition
from minitorch_compile.aot.partitioning.in_memory import min_traffic_partition
from minitorch_compile.compile_progress import stage
from minitorch_compile.compiler.fallback import with_fallbacks
from minitorch_compile.compiler.pipeline import Compiled, Inductor
from minitorch_compile.compiler.whole_calls import stays_whole
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.kernel_options import Options
from minitorch_compile.prims import decompose
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user

_told: list[bool] = []


def compiled_on_device(inductor: Inductor, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
    """The graph as a function on tensors of the GPU that it has to do with."""
    where = only_device(graph, example_inputs)
    if where is None:
        if inductor.options.get("reuse_temporaries"):
            warn_user("torch.compile: skipping cudagraphs due to cpu device: a graph with tensors on several devices")
        return call_by_call(graph)
    return DeviceInductor(inductor, where).compile(graph, example_inputs)


def only_device(graph: GraphModule, example_inputs: Sequence[Any]) -> Device | None:
    """The GPU that all results are made on; None if some are on another, or brought back to main memory. Numbers and
    indices in main memory may join, as in PyTorch."""
    found = {x.device for x in _tensors([*example_inputs, *graph.attributes.values()])}
    for node in graph.graph.nodes:
        made = {x.device for x in _tensors(node.meta.get("val"))}
        read = {x.device for source in node.all_input_nodes for x in _tensors(source.meta.get("val"))}
        found |= made
        if node.op == "output":
            made = read
        if any(x.type == "cpu" for x in made) and (node.op == "output" or any(x.type != "cpu" for x in read)):
            return None
    devices = [x for x in found if x.type != "cpu"]
    return devices[0] if len(devices) == 1 and devices[0].type == "cuda" else None


def _tensors(values: Any) -> Iterator[TensorBase]:
    return (x for x in tree_leaves(values) if isinstance(x, TensorBase))


def call_by_call(graph: GraphModule) -> GraphModule:
    """The graph as it is."""
    if not _told:
        _told.append(True)
        warn_user(
            "torch.compile: a graph with tensors on several devices, one of them cuda, isn't fused; it runs operation"
            " by operation"
        )
    return graph


class DeviceInductor(Inductor):
    """Inductor for graphs on one GPU, with the options of another."""

    def __init__(self, like: Inductor, where: Device) -> None:
        from minitorch_compile.compiler.eager_kernels import kernels_of
        from minitorch_compile.cuda.runtime import required
        from minitorch_compile.inductor.device_calls.attention_rules import decompositions_in_graphs
        from minitorch_compile.inductor.device_calls.device_graph import DeviceGraphs

        self.target, self.pass_options, self.options = like.target, like.pass_options, like.options
        self.where = where
        runtime: Runtime = required()
        kernels = kernels_of(runtime)
        self.graphs = DeviceGraphs(kernels, where)
        self.attention = decompositions_in_graphs(kernels.libraries)

    def before_autograd(self, graph: GraphModule) -> GraphModule:
        stage("differentiating")
        return without_moves(graph, self.where)

    def decompose(self, graph: GraphModule) -> GraphModule:
        stage("decomposing")
        return decompose(graph, keep=stays_whole, decompositions=self.attention)

    def partition(self, joint: JointGraph) -> Partition:
        """What is in memory anyway is saved, unless another partitioner was chosen: there is more memory on a GPU than
        time to write it twice."""
        stage("partitioning")
        return min_traffic_partition(joint) if config.partitioner == "min_cut" else chosen_partition(joint)

    def compile_forward(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        return with_fallbacks(self.post_grad(graph), example_inputs, self.compile_prims, self.graphs, self.where)

    compile_backward = compile_forward

    def compile_prims(self, graph: GraphModule, example_inputs: list[Any]) -> Compiled:
        """With mode="reduce-overhead", as a CUDA graph from the second call on."""
        stage("scheduling")
        options = Options.of(self.options)
        call = self.graphs.compile_prims(graph, options)
        return self.graphs.recorded(call, graph) if options.reuse_temporaries else call


def without_moves(graph: GraphModule, where: Device) -> GraphModule:
    """The graph without moves to a device of what is computed there anyway."""
    for node in graph.graph.find_nodes(op="call_function"):
        source = node.args[0] if node.args else None
        if node.target is ops.to_device and node.args[1] == where and isinstance(source, Node):
            if source.op == "call_function":
                source.meta["val"] = node.meta["val"]
                node.replace_all_uses_with(source)
                graph.graph.erase_node(node)
    return graph
