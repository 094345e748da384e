"""One op on tensors of one layout: the kernels that it comes down to, and what each is called with.

Everything that the sizes say is worked out once, so a call allocates results, and launches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.cuda.device_block import DeviceBlock
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.launcher import SIZE, Kernel, Launcher, Pointer
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel, write_lifted_kernel
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.tensor.memory.device_storage import DeviceStorage
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

STATUS_BYTES = 24  # three int64: what went wrong, the index, the size

Compile = Callable[[LiftedKernel], Kernel]


@dataclass
class Launch:
    """A compiled kernel; `buffers` for its pointers, then the numbers that follow them."""

    kernel: Kernel
    buffers: list[Buffer]
    numbers: list[Any]
    blocks: int
    uses_status: bool


class DeviceCall:
    """A schedule made ready: called with its input tensors, it returns its outputs as tensors on their device."""

    def __init__(self, schedule: Schedule, launcher: Launcher, compile: Compile) -> None:
        graph = schedule.graph
        if graph.constants or graph.written_back:
            raise NoKernelError("its graph has constants, or writes to what it was given")
        self.inputs, self.outputs = graph.inputs, graph.outputs
        if any(view.buffer in self.inputs for view in self.outputs):
            raise NoKernelError("it gives back what it was given")
        self.launches: list[Launch] = []
        for step in schedule.steps:
            assert isinstance(step, Group)
            self.launches.append(_launch(write_lifted_kernel(step, schedule.internal), launcher, compile))
        used = dict.fromkeys(buffer for launch in self.launches for buffer in launch.buffers)
        self.made = [b for b in dict.fromkeys([*used, *(v.buffer for v in self.outputs)]) if b not in self.inputs]

    def __call__(self, runtime: Runtime, index: int, tensors: Sequence[TensorBase]) -> tuple[TensorBase, ...]:
        memory = {
            buffer: Pointer(address_of(x), buffer.length, buffer.dtype.numpy)
            for buffer, x in zip(self.inputs, tensors, strict=True)
        }
        blocks = {}
        for buffer in self.made:
            block = blocks[buffer] = DeviceBlock(runtime, index, buffer.nbytes)
            memory[buffer] = Pointer(block.address, buffer.length, buffer.dtype.numpy)
        stream = runtime.current_stream(index)
        for launch in self.launches:
            arguments: list[Any] = [memory[buffer] for buffer in launch.buffers]
            arguments += launch.numbers
            if launch.uses_status:
                _launch_checked(launch, arguments, runtime, index)
            else:
                launch.kernel(launch.blocks, arguments, stream)
        storages = {buffer: DeviceStorage(block) for buffer, block in blocks.items()}
        where = runtime.devices[index]
        return tuple(
            from_parts(storages[v.buffer], v.offset, Size(v.sizes), tuple(v.strides), v.buffer.dtype, where)
            for v in self.outputs
        )


def address_of(x: TensorBase) -> int:
    """Where the first element of a tensor lies."""
    address: int = x.storage.block.address
    return address + x.offset * x.dtype.itemsize if address else 0


def kinds_of(kernel: LiftedKernel) -> list[str]:
    """The kinds of its parameters. Truth values are bytes in memory."""
    elements = {name: b.dtype for name, b in zip(kernel.source.names, kernel.source.buffers)}
    pointers = ["uint8" if dtype is bool_ else dtype.name for dtype in elements.values()]
    numbers = [f"={dtype.name}" for _, dtype in kernel.numbers.values()]
    status = ["int64"] if kernel.source.uses_status else []
    return [*pointers, *[SIZE] * len(kernel.source.sizes), *numbers, *status]


def _launch(kernel: LiftedKernel, launcher: Launcher, compile: Compile) -> Launch:
    source = kernel.source
    by_name = dict(zip(source.names, source.buffers))
    blocks = source.extent if kernel.per_block else -(-source.extent // launcher.threads)
    return Launch(
        compile(kernel),
        list(by_name.values()),
        [*source.sizes.values(), *(value for value, _ in kernel.numbers.values())],
        max(1, min(blocks, launcher.most_blocks)),
        source.uses_status,
    )


def _launch_checked(launch: Launch, arguments: list[Any], runtime: Runtime, index: int) -> None:
    """Launches a kernel that reads through indices, and waits, to raise IndexError for one out of range."""
    from minitorch_compile.inductor.runtime.tensor_call import index_error

    status = DeviceBlock(runtime, index, STATUS_BYTES)
    status.write(0, np.zeros(STATUS_BYTES, np.uint8))
    launch.kernel(
        launch.blocks, [*arguments, Pointer(status.address, 3, np.dtype(np.int64))], runtime.current_stream(index)
    )
    reported = status.read(0, STATUS_BYTES).view(np.int64)
    if reported[0]:
        raise index_error(reported)
