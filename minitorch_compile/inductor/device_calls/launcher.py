"""Who compiles the text of a kernel, and launches it: a GPU by way of Numba, or the simulator.

A kernel is a Python function over pointers, sizes and numbers; its text is what it is known by.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> driver = FakeDriver()
>>> memory = driver.allocate(0, 8)
>>> text = "def kernel(out, n):\\n    for i in range(cuda.grid(1), n, cuda.gridsize(1)):\\n        out[i] = i * i"
>>> kernel = SimulatedLauncher(driver).compile(text, "kernel", 4, ["int32", SIZE])
>>> kernel(1, [Pointer(memory, 2, np.dtype(np.int32)), 2], StreamHandle(0))
>>> driver.bytes_at(memory, 8).view(np.int32).tolist()
[0, 1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.generated_source import function_from_source

SIZE = "size"  # among the kinds of parameters, which are else the dtype names of pointers, or "=float32" of numbers

HEADER = """\
import math

from numba import boolean, cuda, float32, float64, int8, int16, int32, int64, uint8

from minitorch_compile.inductor.codegen.cuda import device_functions, philox, reductions

inf, nan, minus_nan, THREADS = math.inf, math.nan, -math.nan, {threads}


"""


class Pointer(NamedTuple):
    """Where elements begin, how many a kernel may reach, and what they are."""

    address: int
    length: int
    element: np.dtype


Kernel = Callable[[int, Sequence[Any], StreamHandle], None]  # blocks, arguments, stream


class Launcher(Protocol):
    """What kernels are compiled and launched by. `threads` of a block, and `most_blocks` of a launch."""

    threads: int
    most_blocks: int

    def compile(self, text: str, name: str, threads: int, parameters: Sequence[str]) -> Kernel:
        """A kernel from the text of its function, whose parameters are of these kinds."""


class SimulatedLauncher:
    """Runs kernels in the simulator, on the memory of a driver without a GPU."""

    threads, most_blocks = 32, 2

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    def compile(self, text: str, name: str, threads: int, parameters: Sequence[str]) -> Kernel:
        from minitorch_compile.cuda_simulator import simulate

        function = function_from_source(HEADER.format(threads=threads) + text, name, {})

        def launch(blocks: int, arguments: Sequence[Any], stream: StreamHandle) -> None:
            values = [self.argument(value, kind) for value, kind in zip(arguments, parameters, strict=True)]
            self.driver.launch(lambda: _simulated(simulate(function)[blocks, threads], values), stream)

        return launch

    def argument(self, value: Any, kind: str) -> Any:
        if isinstance(value, Pointer):
            nbytes = value.length * value.element.itemsize
            return np.frombuffer(memoryview(self.driver.bytes_at(value.address, nbytes)), value.element)  # type: ignore[arg-type]
        return np.int64(value) if kind == SIZE else np.dtype(kind.removeprefix("=")).type(value)


def _simulated(kernel: Callable[..., Any], values: Sequence[Any]) -> None:
    kernel(*values)
