"""A stand-in for `numba.cuda`: kernels and what surrounds them run here unchanged, without a GPU and without Numba.

>>> from minitorch_compile.cuda_simulator import cuda
>>> @cuda.jit(device=True)
... def square(x):
...     return x * x
>>> @cuda.jit
... def squares(x):
...     x[cuda.grid(1)] = square(x[cuda.grid(1)])
>>> on_device = cuda.to_device(np.arange(4.0))
>>> squares[1, 4](on_device)
>>> on_device.copy_to_host()
array([0., 1., 4., 9.])

Names that are only for kernels, such as `threadIdx`, are of `intrinsics.py`. `warpsize` is always 32.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.expressions import CUDA
from minitorch_compile.cuda_simulator.intrinsics import Intrinsic
from minitorch_compile.cuda_simulator.simulate import SimulatedKernel


class DeviceFunction:
    """A function that only kernels call."""

    def __init__(self, function: FunctionType) -> None:
        self.py_func = function

    def __call__(self, *_: Any) -> Any:
        raise RuntimeError(f"{self.py_func.__name__} is a device function: only kernels call it")


class JittedKernel(SimulatedKernel):
    """A kernel made by `cuda.jit`. Launches return nothing, as Numba's do; a fault is raised."""

    def __getitem__(self, configuration: Any) -> Callable[..., None]:  # type: ignore[override]
        configured = super().__getitem__(configuration)

        def launch(*arguments: Any) -> None:
            configured(*arguments)

        return launch


def jit(function: Any = None, *, device: bool = False, **options: Any) -> Any:
    """A kernel, or with `device` a function that kernels call. Signatures and compilers' options mean nothing here."""

    def make(function: FunctionType) -> Any:
        return DeviceFunction(function) if device else JittedKernel(function, collect=False, counts=False)

    return make(function) if isinstance(function, FunctionType) else make


class DeviceArray:
    """An array in the memory of the simulated device."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data
        self.shape, self.dtype, self.size, self.ndim = data.shape, data.dtype, data.size, data.ndim
        self.__array_interface__ = data.__array_interface__

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        if ary is None:
            return self.data.copy()
        ary[...] = self.data
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self.data[...] = ary.data if isinstance(ary, DeviceArray) else ary


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: DeviceArray | None = None) -> DeviceArray:
    """A copy of an array on the device."""
    if to is None:
        return DeviceArray(np.array(obj))
    to.copy_to_device(obj)
    return to


def device_array(shape: Any, dtype: Any = np.float64) -> DeviceArray:
    """An array on the device, of whatever was in its memory: of zeros."""
    return DeviceArray(np.zeros(shape, dtype))


def device_array_like(ary: Any) -> DeviceArray:
    return device_array(ary.shape, ary.dtype)


def synchronize() -> None:
    """A launch has ended when it returns."""


def is_available() -> bool:
    return True


def __getattr__(name: str) -> Intrinsic:
    return getattr(CUDA, name)
