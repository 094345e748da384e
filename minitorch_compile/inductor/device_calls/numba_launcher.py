"""Kernels compiled by numba-cuda and launched by CUDA's driver, without Numba's dispatcher in between.

Numba makes PTX of the kernel's text; the driver makes machine code of that, and keeps it in its own cache. Parameters
are bare pointers, 64-bit sizes and numbers, so a launch is one call of the driver with a tuple of values.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls.launcher import HEADER, SIZE, Kernel

BLOCKS_PER_MULTIPROCESSOR = 8

CTYPES = {
    "float64": ctypes.c_double,
    "float32": ctypes.c_float,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
    "int16": ctypes.c_int16,
    "int8": ctypes.c_int8,
    "uint8": ctypes.c_uint8,
}


class NumbaLauncher:
    """Compiles for the GPU it launches on."""

    threads = 256

    def __init__(self, driver: Driver) -> None:
        self.driver: Any = driver
        self.most_blocks = driver.properties(0).multi_processor_count * BLOCKS_PER_MULTIPROCESSOR

    def compile(self, text: str, name: str, threads: int, parameters: Sequence[str]) -> Kernel:
        """A kernel; it is loaded on each device where it is launched first."""
        function = function_from_source(HEADER.format(threads=threads) + text, name, {})
        properties = self.driver.properties(0)
        image = ptx_of(function, parameters, (properties.major, properties.minor))
        entry = entry_of(image)
        types = tuple(ctypes.c_void_p if is_pointer(kind) else CTYPES[number_kind(kind)] for kind in parameters)
        numbers = [None if is_pointer(kind) else np.dtype(number_kind(kind)).type for kind in parameters]
        loaded: dict[int, int] = {}

        def launch(blocks: int, arguments: Sequence[Any], stream: StreamHandle) -> None:
            handle = loaded.get(stream.device)
            if handle is None:
                handle = loaded[stream.device] = self.driver.load_kernel(stream.device, image, entry)
            values = tuple(
                value.address if number is None else number(value).item() for value, number in zip(arguments, numbers)
            )
            self.driver.launch_kernel(handle, blocks, threads, (values, types), stream)

        return launch


def entry_of(image: bytes) -> bytes:
    """What Numba calls the kernel in its PTX."""
    found = re.search(rb"\.visible \.entry (\w+)\(", image)
    assert found is not None, "a kernel's PTX has an entry"
    return found[1]


def is_pointer(kind: str) -> bool:
    return kind != SIZE and not kind.startswith("=")


def number_kind(kind: str) -> str:
    """The dtype name of a parameter that is no pointer."""
    return "int64" if kind == SIZE else kind.removeprefix("=")


def ptx_of(function: Any, parameters: Sequence[str], capability: tuple[int, int]) -> bytes:
    """The PTX of a kernel whose parameters are of these kinds."""
    from numba import cuda, types

    signature = types.void(
        *(
            types.CPointer(getattr(types, kind)) if is_pointer(kind) else getattr(types, number_kind(kind))
            for kind in parameters
        )
    )
    text, _ = cuda.compile(function, signature, device=False, abi="numba", cc=capability, output="ptx")
    return text.encode()
