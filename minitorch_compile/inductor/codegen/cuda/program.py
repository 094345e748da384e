"""A schedule on a CUDA device: its groups as kernels, the rest on the host.

Matrix products, convolutions, scans and scatters have no CUDA kernel of their own yet. Their operands are copied to
the host, the loop interpreter computes them there, and the results are copied back; everything else stays on the
device.

Where no GPU is, `minitorch_compile.cuda_simulator` runs the same text: it races no thread against another unseen, reads
nothing out of bounds, and raises for a barrier that a thread doesn't reach.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator import Counts, simulate
from minitorch_compile.cuda_simulator import cuda as simulated_cuda
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.codegen.cuda.kernels import write_cuda_kernel
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.interpreter import run_operation, window
from minitorch_compile.inductor.ir.loops import Operation
from minitorch_compile.inductor.runtime.tensor_call import index_error
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule, ScheduleStep
from minitorch_compile.inductor.schedule.step_graph import operations_of

# Threads of a block, and blocks at most. In the simulator two warps and two blocks are enough to miss each other.
SIMULATED_LAUNCH, DEVICE_LAUNCH = (64, 2), (256, 132 * 8)

HEADER = """\
import math

from numba import boolean, cuda, float32, float64, int8, int16, int32, int64, uint8

from minitorch_compile.inductor.codegen.cuda import (
    device_functions,
    half_floats,
    indices,
    philox,
    reductions,
    series,
    special_functions,
    vectors,
)

inf, nan, minus_nan, THREADS = math.inf, math.nan, -math.nan, {threads}
"""


@dataclass
class Launch:
    """A compiled kernel and what it is called with."""

    source: KernelSource
    kernel: Any
    blocks: int


class CudaProgram:
    """A schedule made ready to run: `program(arrays)` takes flat arrays, those of inputs and then of constants.

    `simulated`: in the simulator, which may count what the kernels cost.
    """

    def __init__(self, schedule: Schedule, simulated: bool = False, counts: Counts | None = None) -> None:
        self.schedule, self.simulated = schedule, simulated
        self.counts = counts
        self.threads, self.most_blocks = SIMULATED_LAUNCH if simulated else DEVICE_LAUNCH
        self.cuda: Any = simulated_cuda if simulated else numba_cuda()
        self.compiled: dict[str, Any] = {}
        self.steps: list[Launch | list[Operation]] = [self.prepare(step) for step in schedule.steps]

    def prepare(self, step: ScheduleStep) -> Launch | list[Operation]:
        if not isinstance(step, Group) or not step.is_fusible:
            return operations_of(step)
        source = write_cuda_kernel(step, self.schedule.internal, self.threads)
        structure = f"{source.block.times} {source.structure}"
        if structure not in self.compiled:
            text = self.source_of(source, f"{source.title}_{len(self.compiled)}")
            kernel = function_from_source(text, "kernel", {})
            self.compiled[structure] = simulate(kernel, counts=self.counts or False) if self.simulated else kernel
        return Launch(source, self.compiled[structure], blocks_for(source, self.threads, self.most_blocks))

    def source_of(self, kernel: KernelSource, name: str) -> str:
        """The text of one kernel as a module."""
        body = textwrap.indent(f"# {kernel.reason}\n{kernel.body}", "    ")
        header = HEADER.format(threads=int(self.threads * kernel.block.times))
        names = ", ".join([*kernel.names, *(["status"] if kernel.uses_status else [])])
        return f"{header}\n\n@cuda.jit\ndef {name}({names}):\n{body}\n\n\nkernel = {name}\n"

    @property
    def source(self) -> str:
        """All kernels, as text."""
        kernels = [step.source for step in self.steps if isinstance(step, Launch)]
        return "\n\n".join(self.source_of(kernel, f"{kernel.title}_{n}") for n, kernel in enumerate(kernels))

    # ------------------------------------------------------------------------------------------ running

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        memory = self.upload(arrays)
        self.run(memory)
        return self.download(memory)

    def upload(self, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
        """The arrays in the device's memory, by the names of their buffers."""
        graph = self.schedule.graph
        return {b.name: self.to_device(a) for b, a in zip([*graph.inputs, *graph.constants], arrays)}

    def run(self, memory: dict[str, Any]) -> None:
        """Runs every step; results are added to `memory`, or overwritten there."""
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step, Launch):
                    self.launch(step, memory)
                else:
                    self.on_host(step, memory)

    def download(self, memory: dict[str, Any]) -> list[np.ndarray]:
        """The outputs, back on the host."""
        return [window(view, self.fetch([view.buffer], memory)) for view in self.schedule.graph.outputs]

    def launch(self, step: Launch, memory: dict[str, Any]) -> None:
        for buffer in step.source.buffers:
            if buffer.name not in memory:
                memory[buffer.name] = self.cuda.device_array(max(buffer.length, 1), buffer.dtype.numpy)
        pointers = [memory[buffer.name] for buffer in step.source.buffers]
        status = self.cuda.to_device(np.zeros(3, np.int64)) if step.source.uses_status else None
        step.kernel[step.blocks, int(self.threads * step.source.block.times)](
            *pointers, *([] if status is None else [status])
        )
        if status is not None:
            reported = status.copy_to_host()
            if reported[0]:
                raise index_error(reported)

    def on_host(self, operations: list[Operation], memory: dict[str, Any]) -> None:
        for operation in operations:
            reads = buffers_read(operation)
            host = self.fetch(reads, memory)
            run_operation(operation, host)
            for buffer in operation.outputs:
                memory[buffer.name] = self.to_device(host[buffer.name])

    def fetch(self, buffers: Sequence[Buffer], memory: dict[str, Any]) -> dict[str, np.ndarray]:
        return {b.name: memory[b.name].copy_to_host() for b in buffers if b.name in memory}

    def to_device(self, array: np.ndarray) -> Any:
        """The array in the device's memory; an empty one gets room for an element, so that a pointer to it exists."""
        return self.cuda.to_device(array if array.size else np.zeros(1, array.dtype))


def blocks_for(kernel: KernelSource, threads: int, most: int) -> int:
    """How many blocks of so many threads a kernel is launched with: a block works for a row, or each thread alone."""
    per_block = "cuda.shared" in kernel.body
    blocks = kernel.extent if per_block else -(-kernel.extent // threads)
    return max(1, min(blocks, most))


def numba_cuda() -> Any:
    """The GPU, as Numba knows it."""
    from numba import cuda

    return cuda
