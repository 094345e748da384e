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
        return self.array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(device type, index): main memory."""
        return np.empty(0).__dlpack_device__()


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

    TypeError for an object without `__dlpack__`; RuntimeError for memory on a GPU; BufferError for a dtype that DLPack
    lacks, and where `copy=False` can't be had.
    """
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
