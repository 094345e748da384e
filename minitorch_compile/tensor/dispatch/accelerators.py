"""Devices whose memory tensors can lie in, and who runs operations there: a slot for each kind, which a floor above
fills.

Without kernels of its own, a device is memory that calls are carried out of and into: `run_on_host`.

>>> accelerators["cuda"].device(None) if accelerators["cuda"].is_available() else "no GPU"
'no GPU'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from minitorch_compile.tensor.dispatch.strided_results import wrap_as
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.device_storage import Block, DeviceStorage
from minitorch_compile.tensor.memory.memory_format import preserved_strides
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op


class Accelerator(Protocol):
    """One kind of device, such as "cuda"."""

    def is_available(self) -> bool:
        """Whether there is one."""

    def device(self, index: int | None) -> Device:
        """The one of that number, or the current one. An error that says what is missing if there is none."""

    def allocate(self, nbytes: int, where: Device) -> Block:
        """New memory, not filled."""

    def over(self, address: int, nbytes: int, where: Device, owner: Any) -> Block:
        """Memory that another library has there; `owner` keeps it."""

    def pin(self, nbytes: int) -> np.ndarray:
        """Bytes of main memory that it copies to and from while the program goes on."""

    def is_pinned(self, address: int) -> bool:
        """Whether there are such at an address."""

    def where_is(self, address: int) -> Device:
        """On which device memory is."""

    def current_stream(self, where: Device) -> int:
        """The number of the stream that this thread's work there goes to; 0 is the default."""

    def wait_for(self, stream: int, where: Device) -> None:
        """This thread's work there waits for what is in another stream now, which has the driver's number."""

    def let_wait(self, stream: int, where: Device) -> None:
        """What is put into another stream from now on waits for this thread's work there."""

    def run(self, op: Op, bound: Sequence[Any], tensors: Sequence[TensorBase], where: Device) -> Any:
        """A call whose results are to be on a device. `tensors` are those among its arguments."""

    def make(self, op: Op, bound: Sequence[Any], where: Device) -> Any:
        """A new tensor on a device, by an op that makes one of no other."""

    def attends(self, tensors: Sequence[TensorBase], is_causal: bool, scale: float, mask: TensorBase | None) -> bool:
        """Whether a device computes attention of query, key and value, which lie on it or will, without a score
        matrix; with a mask of four dimensions."""


accelerators: dict[str, Accelerator] = {}
in_use: set[str] = set()  # those that have run an op: while there are none, no call need ask for one like it


def run_again(op: Op, bound: Sequence[Any]) -> Any:
    """The results of a call like one that a device has run before; None if there was none, or in main memory."""
    for x in bound:
        if type(x) in (list, tuple) and x:
            x = x[0]
        if isinstance(x, TensorBase):
            block = x.storage.block if x._array is None else None
            return None if block is None else block.run_again(op, bound)
    return None


def located(where: Device) -> Device:
    """A device with its number: "cuda" is the current one. An error if it isn't there."""
    if where.type not in accelerators:
        return CPU if where.type == "cpu" else where
    return accelerators[where.type].device(where.index)


def moved(x: TensorBase, where: Device, non_blocking: bool = False) -> TensorBase:
    """A copy of a tensor's elements on a device, or in main memory. `non_blocking`: from pinned memory, and into it,
    they come when the device comes to it."""
    strides = preserved_strides(tuple(x.sizes), x.strides)
    if non_blocking and where is CPU and x.storage.block is not None and not x.storage.flips and x.strides == strides:
        size = x.dtype.itemsize
        raw = x.storage.block.send(x.offset * size, numel(x.sizes) * size)
        return wrap_as(np.ndarray(x.sizes, x.dtype.numpy, raw, 0, [s * size for s in strides]), strides)
    copy = wrap_as(x.array.copy() if where is CPU and x.device is CPU else x.array, strides)
    if where.type not in accelerators:
        return copy
    memory = copy.storage.buffer[copy.offset :].view("uint8")
    block = accelerators[where.type].allocate(memory.nbytes, where)
    if memory.nbytes:
        block.receive(memory, non_blocking)
    return from_parts(DeviceStorage(block), 0, copy.sizes, copy.strides, x.dtype, where)


def is_pinned(x: TensorBase) -> bool:
    """Whether a tensor lies in memory that a device copies to and from while the program goes on."""
    memory = None if x.is_fake else x.storage.memory.buffer
    if memory is None or not memory.size:
        return False
    return any(accelerator.is_pinned(memory.ctypes.data) for accelerator in accelerators.values())


def pinned(x: Any) -> Any:
    """A copy in such memory, through which gradients flow; the tensor itself if it is there.

    RuntimeError if no device would have a use for it, and for a tensor that isn't in main memory.
    """
    if is_pinned(x):
        return x
    if x.device is not CPU or x.is_fake:
        raise RuntimeError(f"pin_memory: only tensors in main memory can be pinned, got one on {x.device}")
    able = [accelerator for accelerator in accelerators.values() if accelerator.is_available()]
    if not able:
        raise RuntimeError("pin_memory: there is no GPU to pin memory for; leave it out")
    copy = x.clone()
    buffer = copy.storage.buffer
    copy.storage.buffer = able[0].pin(buffer.nbytes).view(buffer.dtype)
    copy.storage.buffer[...] = buffer
    copy._array = None  # the window on the memory that it had
    return copy


def grow(storage: Any, nbytes: int) -> None:
    """Gives a storage at least so many bytes, the first of which are those that it has."""
    if nbytes > storage.nbytes:
        storage.block = storage.block.copy(nbytes)


def run_on_host(op: Op, bound: Sequence[Any], where: Device) -> Any:
    """The call in main memory, on copies; its results on the device."""
    result = op.run_bound(tuple(map(_on_host, bound)))
    if where is CPU:
        return result
    return tuple(moved(x, where) for x in result) if isinstance(result, tuple) else moved(result, where)


def _on_host(value: Any) -> Any:
    """The tensors of an argument in main memory, with the strides that they have."""
    if isinstance(value, TensorBase):
        return value if value.storage.block is None else wrap_as(value.array, value.strides)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_on_host, value))
    return value
