"""Targets: each turns a loop graph into something that can be called. Nothing before this point knows which one it is
for.

| target     | a group of loops becomes                                                     |
|------------|------------------------------------------------------------------------------|
| `loops`    | nothing: the loop IR is interpreted with NumPy (the meaning of all the others) |
| `cpu`      | a Numba kernel; the whole graph is one file and one native call              |
| `cuda_sim` | a numba.cuda kernel, run in our simulator                                    |
| `cuda`     | the same kernel, run on the GPU                                              |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile import logs
from minitorch_compile.fx.node import Node
from minitorch_compile.inductor.codegen.cpu import wrapper
from minitorch_compile.inductor.ir.dependencies import SERIES
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.ir.printer import print_graph
from minitorch_compile.inductor.kernels.scipy_functions import MISSING
from minitorch_compile.inductor.runtime import code_cache
from minitorch_compile.inductor.runtime.fast_path import FastPath
from minitorch_compile.inductor.runtime.tensor_call import flat, restride
from minitorch_compile.inductor.schedule import cpu_schedule
from minitorch_compile.kernel_options import DEFAULTS, Options
from minitorch_compile.tensor.numerics.dtype import (
    bfloat16,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

Compiled = Callable[..., tuple[Any, ...]]

log_ir, log_code = logs.artifact("ir_pre_fusion"), logs.artifact("output_code")


class Target(ABC):
    """A way to run loops. `dtypes` are those of the tensors that it can have to do with.

    `has_attention`: it knows attention as one kernel, or as one prim.
    """

    name: str
    has_attention = False

    @property
    def dtypes(self) -> frozenset[dtype]:
        return frozenset((float64, float32, int64, int32, int16, int8, uint8, bool_))

    @property
    def missing(self) -> frozenset[str]:
        """The prims that have a lowering, but that this target cannot compute."""
        return frozenset()

    def lacks(self, node: Node) -> bool:
        """Whether it can't compute a call of a prim that isn't missing, because of its arguments."""
        return False

    @abstractmethod
    def compile(self, graph: LoopGraph, options: Options = DEFAULTS) -> Compiled:
        """A function from the graph's input tensors to a tuple of its outputs."""


class LoopsTarget(Target):
    """Interprets the loops, unfused."""

    name = "loops"
    has_attention = True

    @property
    def dtypes(self) -> frozenset[dtype]:
        return super().dtypes | {float16, bfloat16}

    def compile(self, graph: LoopGraph, options: Options = DEFAULTS) -> Compiled:
        from minitorch_compile.inductor.ir.interpreter import interpret

        if log_ir.is_on:
            log_ir(print_graph(graph))
        return on_arrays(graph, lambda arrays: interpret(graph, arrays))


def on_arrays(graph: LoopGraph, program: Callable[[Sequence[np.ndarray]], list[np.ndarray]]) -> Compiled:
    """A function on tensors, from one that takes flat arrays and returns an array for each output."""
    constants = list(graph.constants.values())

    def run(*inputs: TensorBase) -> tuple[Any, ...]:
        tensors = [*(as_compiled_for(t, b) for t, b in zip(inputs, graph.inputs)), *constants]
        arrays = program([flat(t) for t in tensors])
        results = []
        for array, view in zip(arrays, graph.outputs):
            position = graph.inputs.index(view.buffer) if view.buffer in graph.inputs else None
            results.append(wrap(array) if position is None else inputs[position])
        return tuple(results)

    return run


def as_compiled_for(tensor: TensorBase, buffer: Any) -> TensorBase:
    """The tensor with the strides that the graph was compiled for."""
    if tensor.strides == buffer.strides:
        return tensor
    return restride(tensor, buffer.sizes, buffer.strides, buffer.name)


class CpuTarget(Target):
    """One file of Numba kernels a graph, called natively."""

    name = "cpu"
    has_attention = True

    @property
    def dtypes(self) -> frozenset[dtype]:
        return super().dtypes | {float16, bfloat16}

    @property
    def missing(self) -> frozenset[str]:
        return frozenset(MISSING)

    def compile(self, graph: LoopGraph, options: Options = DEFAULTS) -> Compiled:
        if options.max_autotune:
            from minitorch_compile.inductor.tuning.autotune import tuned_schedule as schedule_of
        else:
            schedule_of = cpu_schedule.cpu_schedule
        scheduled = schedule_of(graph, options)
        quick = wrapper.write_file(scheduled, options.reuse_temporaries)
        module = code_cache.load(quick.source)
        module.call.traffic = quick.traffic
        run = module.run
        if quick.may_doubt:
            # Written now, though hardly ever compiled: the text takes a tenth of the memory of the loops behind it.
            careful = wrapper.write_file(scheduled, options.reuse_temporaries, careful=True).source
            run = FastPath(run, lambda: code_cache.load(careful).run)
        constants = tuple(graph.constants.values())
        if not constants:
            return run
        return lambda *inputs: run(*inputs, *constants)


class CudaTarget(Target):
    """Kernels for the GPU, or for `minitorch_compile.cuda_simulator`."""

    def __init__(self, name: str, simulated: bool) -> None:
        self.name = name
        self.simulated = simulated

    @property
    def missing(self) -> frozenset[str]:
        from minitorch_compile.inductor.codegen.cuda.spelling import SERIES_FUNCTIONS, SPECIAL_FUNCTIONS

        return SERIES - SPECIAL_FUNCTIONS - SERIES_FUNCTIONS

    def compile(self, graph: LoopGraph, options: Options = DEFAULTS) -> Compiled:
        if not self.simulated:
            check_cuda()
        from minitorch_compile.inductor.codegen.cuda.program import CudaProgram
        from minitorch_compile.inductor.schedule.fit import Limits
        from minitorch_compile.inductor.schedule.scheduler import schedule

        program = CudaProgram(schedule(graph, Limits(operations=options.max_fusion_size)), self.simulated)
        if log_code.is_on:
            log_code(program.source)
        return on_arrays(graph, program)


def check_cuda() -> None:
    """RuntimeError unless this process has a GPU."""
    from numba import config, cuda

    if config.ENABLE_CUDASIM or not cuda.is_available():
        raise RuntimeError("target 'cuda': no CUDA device found; target 'cuda_sim' runs the same kernels without one")


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (LoopsTarget(), CpuTarget(), CudaTarget("cuda_sim", True), CudaTarget("cuda", False))
}


def find_target(name: str) -> Target:
    """The target of that name. ValueError, listing the names, for an unknown one."""
    if name not in TARGETS:
        raise ValueError(f"compile_graph: no target named {name!r}. Choose one of: {', '.join(TARGETS)}.")
    return TARGETS[name]
