"""`torch._utils`: small helpers that libraries borrow.

>>> from minitorch_compile.tensor import float64, ones, zeros
>>> _element_size(float64)
8
>>> flat = _flatten_dense_tensors([ones(2), zeros(1, 2)])
>>> flat, _unflatten_dense_tensors(flat, [ones(2), zeros(1, 2)])
(tensor([1., 1., 0., 0.]), (tensor([1., 1.]), tensor([[0., 0.]])))
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from minitorch_compile.accelerator import get_device_module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, dtype, ops
from minitorch_compile.tensor import device as Device


def _element_size(dtype: dtype) -> int:
    """The bytes of one element."""
    return dtype.itemsize


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of all, one after the other."""
    return ops.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of a flat tensor in the sizes of `tensors`."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors))


def _rebuild_tensor(storage: Any, storage_offset: int, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    """A tensor over a storage."""
    return ops.empty((0,), dtype=storage.dtype).set_(storage, storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """The same, as a pickle of a tensor says it; hooks are not pickled."""
    return _rebuild_tensor(storage, storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """A parameter, likewise."""
    return Parameter(data, requires_grad)


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a GPU: of a number, a device or its name. Without a number, or of None, that of the current GPU if
    it is `optional`. With `allow_cpu`, -1 for the CPU. ValueError for another device.

    >>> _get_device_index("cuda:1"), _get_device_index(2)
    (1, 2)
    """
    if isinstance(device, int):
        return device
    place = None if device is None else Device(device)
    if place is not None and place.type == "cpu" and allow_cpu:
        return -1
    if place is not None and place.type == "cpu":
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    if place is not None and place.index is not None:
        return place.index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {device}")
    return int(get_device_module("cuda").current_device())


def _import_dotted_name(name: str) -> Any:
    """What an importable dotted name stands for.

    >>> _import_dotted_name("os.path.join").__name__
    'join'
    """
    first, *rest = name.split(".")
    return functools.reduce(getattr, rest, __import__(first if not rest else ".".join([first, *rest[:-1]])))


class ExceptionWrapper:
    """An exception that is raised in another thread or process than where it was met, with the traceback as text."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        info: Any = exc_info or sys.exc_info()
        self.exc_type: Any = info[0]
        self.exc_msg = "".join(traceback.format_exception(*info))
        self.where = where

    def reraise(self) -> None:
        """Raises it again; RuntimeError if its class can't be made of a text."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        try:
            exception = self.exc_type(message)
        except TypeError:
            raise RuntimeError(message) from None
        raise exception
