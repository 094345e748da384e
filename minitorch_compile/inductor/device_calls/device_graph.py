"""Whole graphs of prims on a GPU: fused kernels, launched one after the other over memory from the allocator.

Each stretch that Inductor asks for becomes one `DeviceCall`, of as many kernels as the scheduler leaves. What can't be
in one, such as a sort, runs between them as an operation that is called by itself. Sizes are parameters of the kernels
here, too, so that a graph for other sizes, a matter of tracing, compiles nothing.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.prims import decompose
>>> from minitorch_compile.tensor import empty_fake, tensor
>>> from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
>>> graph = decompose(trace(lambda x: ((x * 2).exp() + 1,), [empty_fake((2,))]))
>>> with using(FakeDriver()) as runtime:
...     target = DeviceGraphs(DeviceKernels(runtime), runtime.devices[0])
...     compiled = target.compile_prims(graph)
...     print(compiled(tensor([0.0, 1.0]).cuda()), len(compiled.launches))
(tensor([2.0000, 8.3891], device='cuda:0'),) 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.aot.call_compiler import OVERWRITABLE
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.node import Node
from minitorch_compile.inductor.device_calls.columns_beside_rows import with_columns_beside_rows
from minitorch_compile.inductor.device_calls.device_call import DeviceCall
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels, key_of
from minitorch_compile.inductor.device_calls.extern_launches import Resources
from minitorch_compile.inductor.device_calls.kernel_rules import KERNEL_RULES
from minitorch_compile.inductor.device_calls.library_rules import library_rules, merging
from minitorch_compile.inductor.device_calls.one_op_graph import DTYPES, NoKernelError, schedule_of
from minitorch_compile.inductor.device_calls.product_choice import EpilogueTimer, device_schedule
from minitorch_compile.inductor.device_calls.recorded_graph import RecordedGraph
from minitorch_compile.inductor.device_calls.split_for_device import split_for_device
from minitorch_compile.inductor.device_calls.steps_together import with_steps_together
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.targets import Target, find_target
from minitorch_compile.kernel_options import DEFAULTS, Options
from minitorch_compile.tensor import no_grad
from minitorch_compile.tensor.dispatch.accelerators import moved
from minitorch_compile.tensor.dispatch.argument_devices import all_tensors
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase


class DeviceGraphs(Target):
    """Makes calls of graphs, for one GPU."""

    def __init__(self, kernels: DeviceKernels, where: Device) -> None:
        self.name = str(where)
        self.kernels, self.where = kernels, where
        self.index = kernels.runtime.index_of(where)
        self.rules = {**KERNEL_RULES, **library_rules(kernels.libraries, in_graphs=True)}
        self.known: dict[Any, bool] = {}  # whether there are kernels for a prim on arguments that look like these

    @property
    def dtypes(self) -> frozenset[dtype]:
        return DTYPES

    @property
    def missing(self) -> frozenset[str]:
        return find_target("cuda").missing

    def lacks(self, node: Node) -> bool:
        """Whether there are no kernels for a call of a prim on a GPU: its operands' sizes and dtypes decide, too."""
        target: Any = node.target
        arguments = map_arg(node.args, lambda x: x.meta["val"])
        key = key_of(target, arguments)
        if key not in self.known:
            try:
                schedule_of(target, arguments, all_tensors(arguments), self.rules)
                self.known[key] = False
            except NoKernelError:
                self.known[key] = True
        return self.known[key]

    def compile_prims(self, graph: GraphModule, options: Options = DEFAULTS) -> GraphCall:
        """A graph of which it lacks nothing, as a function of tensors."""
        return self.compile(lower(graph, self.rules), options)

    def compile(self, loops: LoopGraph, options: Options = DEFAULTS) -> GraphCall:
        kernels = self.kernels
        resources = Resources(kernels.libraries, kernels.launcher, kernels.compile, kernels.compile_ahead)

        def make(planned: Schedule) -> Callable[[list[Any]], Any]:
            return DeviceCall(planned, resources, kernels.kernel, kernels.runtime, self.index).results_of

        timer = EpilogueTimer(kernels.runtime, self.index, options, make)
        split = split_for_device(merging(kernels.libraries, options.max_autotune)(loops))
        scheduled = device_schedule(split, options, kernels.libraries, timer)
        scheduled = with_steps_together(with_columns_beside_rows(scheduled, kernels.launcher.threads))
        return GraphCall(DeviceCall(scheduled, resources, kernels.kernel, kernels.runtime, self.index), self.where)

    def recorded(self, call: GraphCall, graph: GraphModule) -> Callable[..., tuple[Any, ...]]:
        """The same, launched as a recording once it has run. As a method, which is called sooner than an object."""
        return RecordedGraph(call, graph.meta.get(OVERWRITABLE, ())).run


class GraphCall:
    """A call of several kernels as what a compiler returns: tensors in, a tuple of tensors out."""

    def __init__(self, call: DeviceCall, where: Device) -> None:
        self.call, self.where = call, where
        self.launches = call.launches
        self.strides = [buffer.strides for buffer in call.inputs]

    def __call__(self, *inputs: TensorBase) -> tuple[Any, ...]:
        tensors = []
        for x, strides in zip(inputs, self.strides, strict=True):
            if x.storage.block is None or x.storage.flips:  # a seed, or a number in main memory
                x = moved(x, self.where)
            tensors.append(x if x.strides == strides else in_layout(x, strides))
        return tuple(self.call.results_of(tensors))


def in_layout(x: Any, strides: tuple[int, ...]) -> TensorBase:
    """A tensor that lies so, wherever it matters; the same if it does. RuntimeError for a layout whose elements share
    places."""
    order = sorted(range(len(strides)), key=lambda dim: -strides[dim])
    with no_grad():
        dense = x.permute(order).contiguous().permute([order.index(dim) for dim in range(len(order))])
        for found in (x, dense):
            if all(size == 1 or a == b for size, a, b in zip(x.sizes, found.strides, strides)):
                return found
        if all(size == 1 or stride for size, stride in zip(x.sizes, strides)):  # there are gaps
            return x.new_empty_strided(x.sizes, strides).copy_(x)
    raise RuntimeError(
        f"compiled graph: an argument was compiled for strides {list(strides)}, but the tensor has strides"
        f" {list(x.strides)}; compile the graph again for these"
    )
