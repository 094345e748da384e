"""`on_gpu(kernel, blocks, threads, *arrays)`: the kernel on this machine's GPU, if there is one, beside the simulator.

The kernel's text is what the simulator runs: its name `cuda` stands for `numba.cuda` there. The arrays stay as they
are; each run has its own copies.

>>> from minitorch_compile.cuda_simulator import cuda
>>> def double(x):
...     x[cuda.grid(1)] *= 2
>>> print(on_gpu(double, 1, 4, np.ones(4, np.float32), device=None))
double: no GPU here; the simulator says what it does and costs
"""

from __future__ import annotations

import time
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator import simulate

RUNS = 20
Size = int | tuple[int, ...]


def numba_cuda() -> ModuleType | None:
    """Numba for CUDA, if there is a device that it can use."""
    from numba import config, cuda

    return cuda if not config.ENABLE_CUDASIM and cuda.is_available() else None


def on_gpu(kernel: FunctionType, blocks: Size, threads: Size, *arrays: Any, device: Any = numba_cuda) -> str:
    """A line about the run: time of a launch, and whether all arrays are then what the simulator makes of them."""
    module = device() if device is not None else None
    if module is None:
        return f"{kernel.__name__}: no GPU here; the simulator says what it does and costs"
    simulated = [copied(each) for each in arrays]
    simulate(kernel)[blocks, threads](*simulated)
    compiled = module.jit(of_module(kernel, module))
    on_device = [module.to_device(each) if isinstance(each, np.ndarray) else each for each in arrays]
    compiled[blocks, threads](*on_device)
    module.synchronize()
    alike = all(
        np.allclose(ours.copy_to_host(), theirs, rtol=1e-4, atol=1e-4, equal_nan=True)
        for ours, theirs in zip(on_device, simulated)
        if isinstance(theirs, np.ndarray)
    )
    begun = time.perf_counter()
    for _ in range(RUNS):
        compiled[blocks, threads](*on_device)
    module.synchronize()
    microseconds = 1e6 * (time.perf_counter() - begun) / RUNS
    same = "the same values as" if alike else "OTHER VALUES THAN"
    return f"{kernel.__name__}: {same} in the simulator, {microseconds:.1f} us a launch on the GPU"


def copied(argument: Any) -> Any:
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def of_module(function: FunctionType, module: Any) -> FunctionType:
    """The function with `module` as what it calls `cuda`, and so the device functions that it calls."""
    names = dict(function.__globals__)
    for name, value in list(names.items()):
        inner = getattr(value, "py_func", None)
        if name in function.__code__.co_names and isinstance(inner, FunctionType):
            names[name] = module.jit(of_module(inner, module), device=True)
    names["cuda"] = module
    result = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    result.__module__ = function.__module__
    return result
