"""What the tensor floor asks of CUDA: where there is memory, and who runs an operation there.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import ones
>>> with using(FakeDriver()):
...     ones(2, device="cuda") + 1
tensor([2., 2.], device='cuda:0')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.cuda import runtime
from minitorch_compile.cuda.device_block import DeviceBlock, ForeignBlock
from minitorch_compile.cuda.pinned_memory import pinned_bytes
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.accelerators import accelerators, in_use, moved, run_on_host
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.tensor_base import TensorBase


class CudaAccelerator:
    """The slot's "cuda"."""

    def is_available(self) -> bool:
        return runtime.find() is not None

    def device(self, index: int | None) -> Device:
        """AssertionError if there is no GPU, RuntimeError for one that isn't there."""
        found = runtime.required()
        return found.devices[found.index_of(index)]

    def allocate(self, nbytes: int, where: Device) -> DeviceBlock:
        """OutOfMemoryError if there is none."""
        found = runtime.required()
        return DeviceBlock(found, found.index_of(where), nbytes)

    def over(self, address: int, nbytes: int, where: Device, owner: Any) -> DeviceBlock:
        found = runtime.required()
        return ForeignBlock(found, found.index_of(where), address, nbytes, owner)

    def pin(self, nbytes: int) -> np.ndarray:
        """AssertionError if there is no GPU."""
        return pinned_bytes(runtime.required(), nbytes)

    def is_pinned(self, address: int) -> bool:
        found = runtime.in_use()  # while nobody has used a GPU, nobody has pinned memory for one
        return found is not None and found.driver.is_pinned(address)

    def where_is(self, address: int) -> Device:
        found = runtime.required()
        return found.devices[found.driver.device_of_address(address)]

    def current_stream(self, where: Device) -> int:
        found = runtime.required()
        return found.current_stream(found.index_of(where)).handle

    def wait_for(self, stream: int, where: Device) -> None:
        found = runtime.required()
        found.order(_numbered(where, stream), found.current_stream(found.index_of(where)))

    def let_wait(self, stream: int, where: Device) -> None:
        found = runtime.required()
        found.order(found.current_stream(found.index_of(where)), _numbered(where, stream))

    def run(self, op: Op, bound: Sequence[Any], tensors: Sequence[TensorBase], where: Device) -> Any:
        """By kernels, if the compiler is there and has some; else in main memory."""
        in_use.add("cuda")
        if where.type != "cuda" or not runtime.kernel_makers:
            return run_on_host(op, bound, where)
        if op is ops.copy and bound[2] and bound[1].storage.block is None:
            # non_blocking: what comes from main memory is on its way before it is stored.
            bound = bound[0], moved(bound[1], where, non_blocking=True), False
            tensors = bound[:2]
        found = next(x.storage.block.runtime for x in tensors if x.storage.block is not None)
        return found.made_kernels().run(op, bound, tensors, where)

    def make(self, op: Op, bound: Sequence[Any], where: Device) -> Any:
        """By a kernel, if the compiler is there; else in main memory."""
        if not runtime.kernel_makers:
            return run_on_host(op, bound, where)
        return runtime.required().made_kernels().make(op, bound, where)

    def attends(self, tensors: Sequence[TensorBase], is_causal: bool, scale: float, mask: TensorBase | None) -> bool:
        """Also of tensors without data, which a program is traced on."""
        found = runtime.find() if runtime.kernel_makers else None
        return found is not None and bool(found.made_kernels().attends(tensors, is_causal, scale, mask))


def _numbered(where: Device, number: int) -> StreamHandle:
    """The stream that other libraries mean by a number: 1 is the default stream."""
    assert where.index is not None
    return StreamHandle(where.index, 0 if number == 1 else number)


accelerators["cuda"] = CudaAccelerator()
