"""Targets: each turns a loop graph into something that can be called. Nothing before this point knows which one it is for.

| target     | a group of loops becomes                                                     |
|------------|------------------------------------------------------------------------------|
| `loops`    | nothing: the loop IR is interpreted with NumPy (the meaning of all the others) |
| `cpu`      | a Numba kernel; the whole graph is one file and one native call              |
| `cuda_sim` | a numba.cuda kernel, run in Numba's simulator                                |
| `cuda`     | the same kernel, run on the GPU                                              |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from minitorch_compile import logs
from minitorch_compile.inductor.ir import LoopGraph
from minitorch_compile.inductor.loop_printer import print_graph
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

Compiled = Callable[..., tuple[Any, ...]]

log_ir = logs.artifact("ir_pre_fusion")


class Target(ABC):
    """A way to run loops."""

    name: str

    @abstractmethod
    def compile(self, graph: LoopGraph) -> Compiled:
        """A function from the graph's input tensors to a tuple of its outputs."""


class LoopsTarget(Target):
    """Interprets the loops, unfused."""

    name = "loops"

    def compile(self, graph: LoopGraph) -> Compiled:
        from minitorch_compile.inductor.loop_interpreter import interpret

        if log_ir.is_on:
            log_ir(print_graph(graph))
        constants = list(graph.constants.values())

        def run(*inputs: TensorBase) -> tuple[Any, ...]:
            tensors = [*(as_compiled_for(t, b) for t, b in zip(inputs, graph.inputs)), *constants]
            arrays = interpret(graph, [t.storage.buffer[t.offset :] for t in tensors])
            results = []
            for array, view in zip(arrays, graph.outputs):
                position = graph.inputs.index(view.buffer) if view.buffer in graph.inputs else None
                results.append(wrap(array) if position is None else inputs[position])
            return tuple(results)

        return run


def as_compiled_for(tensor: TensorBase, buffer: Any) -> TensorBase:
    """The tensor with the strides that the graph was compiled for."""
    from minitorch_compile.inductor.tensor_call import restride

    if tensor.strides == buffer.strides:
        return tensor
    return restride(tensor, buffer.sizes, buffer.strides, buffer.name)


class CpuTarget(Target):
    """One file of Numba kernels a graph, called natively."""

    name = "cpu"

    def compile(self, graph: LoopGraph) -> Compiled:
        from minitorch_compile.inductor import code_cache
        from minitorch_compile.inductor.codegen.wrapper import write_file
        from minitorch_compile.inductor.scheduler import schedule

        module = code_cache.load(write_file(schedule(graph)).source)
        constants = tuple(graph.constants.values())
        if not constants:
            return module.run
        return lambda *inputs: module.run(*inputs, *constants)


TARGETS: dict[str, Target] = {target.name: target for target in (LoopsTarget(), CpuTarget())}


def find_target(name: str) -> Target:
    """The target of that name. ValueError, listing the names, for an unknown one."""
    if name not in TARGETS:
        raise ValueError(f"compile_graph: no target named {name!r}. Choose one of: {', '.join(TARGETS)}.")
    return TARGETS[name]
