"""The protocols by which other libraries read a tensor's memory: NumPy's, and DLPack, which most others speak.

>>> import numpy as np
>>> from minitorch_compile.tensor import ones
>>> x = ones(2)
>>> np.from_dlpack(x)[0] = 5          # the same memory
>>> x, np.sqrt(x)
(tensor([5., 1.]), tensor([2.2361, 1.0000]))
>>> from_dlpack(np.arange(3))
tensor([0, 1, 2])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import device_exchange, dlpack_capsule
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY
from minitorch_compile.tensor.tensor_base import TensorBase, wrap


class TensorExchange(TensorBase):
    """The part of Tensor that other libraries call."""

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        """What a NumPy function made of this tensor, as a tensor again. Truth values come as uint8, as in PyTorch."""
        values = np.asarray(array)
        return wrap(values.view(np.uint8) if values.dtype == bool else values)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of this memory. BufferError for a tensor that requires grad, lies elsewhere or has a dtype
        that DLPack lacks."""
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.is_fake:
            raise BufferError(f"Can't export a tensor on {self.device}: it has no data")
        if self.storage.block is not None:
            return device_exchange.to_dlpack(self, stream, max_version)
        return self.array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(device type, index): main memory, or a GPU."""
        if self.device.type == "cuda":
            return dlpack_capsule.CUDA, self.device.index or 0
        return np.empty(0).__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """How CuPy, Numba and others read memory of a GPU. AttributeError for a tensor that isn't on one."""
        return device_exchange.cuda_array_interface(self)


class _Capsule:
    """A bare DLPack capsule, in the clothes of an object that gives one."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_asked: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.empty(0).__dlpack_device__()


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor over the memory of another library's array, or of a DLPack capsule. Writes go both ways.

    TypeError for an object without `__dlpack__`; RuntimeError for another device than its own; BufferError for a dtype
    that DLPack lacks, and where `copy=False` can't be had.
    """
    if _is_on_a_gpu(ext_tensor):
        result: Any = device_exchange.from_dlpack(ext_tensor)
        if device is not None and Device(device).type != "cuda":
            raise RuntimeError(f"from_dlpack: the memory is on {result.device}; move the tensor to {device} afterwards")
        return result.clone() if copy else result
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise TypeError(
            f"from_dlpack: expected an object with __dlpack__, or a DLPack capsule, got {type(ext_tensor).__name__}"
        )
    if device is not None and str(device) != "cpu":
        raise RuntimeError(f"from_dlpack: there are no tensors on {device} here; expected device='cpu'")
    array = np.from_dlpack(ext_tensor, copy=copy)
    if array.dtype not in FROM_NUMPY:
        raise TypeError(
            f"from_dlpack: no dtype here holds {array.dtype}; supported are {', '.join(map(str, FROM_NUMPY))}"
        )
    if any(s < 0 for s in array.strides):
        raise ValueError("from_dlpack: at least one stride is negative, which tensors don't support; pass a copy")
    return wrap(writable(array))


def _is_on_a_gpu(source: Any) -> bool:
    """Whether an object, or a bare capsule, has memory of a GPU."""
    if type(source).__name__ == "PyCapsule":
        return dlpack_capsule.device_type(source) in dlpack_capsule.GPUS
    where = getattr(source, "__dlpack_device__", None)
    return where is not None and where()[0] in dlpack_capsule.GPUS


def writable(array: np.ndarray) -> np.ndarray:
    """The array, allowed to be written to: NumPy marks what says nothing of it as read-only, PyTorch doesn't."""
    if array.flags.writeable:
        return array
    interface = array.__array_interface__ | {"data": (array.__array_interface__["data"][0], False)}
    return np.asarray(_Memory(array, interface))


class _Memory:
    """Memory that another array keeps alive, described as NumPy wants it."""

    def __init__(self, owner: np.ndarray, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def to_dlpack(tensor: Any) -> Any:
    """A DLPack capsule of the tensor's memory."""
    return tensor.__dlpack__()
