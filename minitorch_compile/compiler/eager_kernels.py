"""Eager operations on a GPU are compiled, too: the CUDA runtime is told who makes its kernels.

>>> from minitorch_compile.cuda.runtime import kernel_makers
>>> kernel_makers == [kernels_for]
True
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.cuda.runtime import Runtime, kernel_makers


def kernels_of(runtime: Runtime) -> Any:
    """The kernels that a runtime has, made if it has none yet."""
    if runtime.kernels is None:
        runtime.kernels = kernels_for(runtime)
    return runtime.kernels


def kernels_for(runtime: Runtime) -> Any:
    """The kernels of a runtime. The code generator is imported when there is a first operation for it."""
    from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels

    return DeviceKernels(runtime)


kernel_makers[:] = [kernels_for]
