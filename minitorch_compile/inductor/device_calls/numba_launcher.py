"""Kernels compiled by numba-cuda and launched by CUDA's driver, without Numba's dispatcher in between.

Numba makes PTX of the kernel's text, and the driver machine code of that, which is kept on disk (`kernel_store.py`).
Parameters are bare pointers, 64-bit sizes and numbers. Each has eight bytes in a buffer that is filled when a launch is
prepared; a launch writes the pointers, and is one call of the driver.
"""

from __future__ import annotations

import ctypes
import re
import struct
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls import kernel_store
from minitorch_compile.inductor.device_calls.launcher import HEADER, STATUS, Kernel, is_pointer, number_kind

BLOCKS_PER_MULTIPROCESSOR = 8
WORD = 8  # bytes of the buffer for each parameter
ADDRESS = 1  # in its place below
STATUS_WORDS = (0, 0, 3, 8, ADDRESS, 3, 8)  # two owners, elements, bytes of each, where, size and stride


class NumbaLauncher:
    """Compiles for the GPU it launches on."""

    threads = 256

    def __init__(self, driver: Driver) -> None:
        self.driver: Any = driver
        properties = driver.properties(0)
        self.capability = properties.major, properties.minor
        self.most_blocks = properties.multi_processor_count * BLOCKS_PER_MULTIPROCESSOR

    def compile(self, text: str, name: str, parameters: Sequence[str]) -> Kernel:
        """A kernel; it is loaded on each device where it is launched first."""

        def make() -> kernel_store.Code:
            function = function_from_source(HEADER.format(threads=self.threads) + text, name, {})
            ptx = ptx_of(function, parameters, self.capability)
            return entry_of(ptx).decode(), self.driver.machine_code(0, ptx)

        key = kernel_store.key_of(text, parameters, self.capability, self.threads)
        entry, code = kernel_store.kept(key, make)
        loaded = LoadedKernel(self.driver, code, entry.encode(), self.threads)
        return lambda blocks, reaches, numbers: PreparedLaunch(loaded, blocks, parameters, numbers)


class LoadedKernel:
    """A kernel's machine code, and its handle on each device where it was launched."""

    def __init__(self, driver: Any, image: bytes, entry: bytes, threads: int) -> None:
        self.driver, self.image, self.entry, self.threads = driver, image, entry, threads
        self.handles: dict[int, Any] = {}

    def handle(self, device: int) -> Any:
        if device not in self.handles:
            self.handles[device] = self.driver.load_kernel(device, self.image, self.entry)
        return self.handles[device]


class PreparedLaunch:
    """The buffer that a kernel's parameters are read from: numbers are in it already, a call writes the pointers.

    A status is an array of Numba's, since atomic operations want one: seven words, the fifth of which is its address.
    """

    def __init__(self, loaded: LoadedKernel, blocks: int, parameters: Sequence[str], numbers: Sequence[Any]) -> None:
        self.loaded, self.blocks = loaded, blocks
        checked = parameters[-1] == STATUS
        plain = parameters[:-1] if checked else parameters
        words = len(plain) + (len(STATUS_WORDS) if checked else 0)
        self.buffer = ctypes.create_string_buffer(WORD * words)
        start = ctypes.addressof(self.buffer)
        self.table = (ctypes.c_void_p * words)(*(start + WORD * place for place in range(words)))
        self.where = ctypes.addressof(self.table)
        places = [place for place, kind in enumerate(plain) if not is_pointer(kind)]
        for place, number in zip(places, numbers, strict=True):
            value = np.dtype(number_kind(plain[place])).type(number).tobytes()
            self.buffer[WORD * place : WORD * place + len(value)] = value
        self.pointers = struct.Struct(f"{len(plain) - len(places)}Q")
        self.status: int | None = None
        if checked:
            struct.pack_into("7Q", self.buffer, WORD * len(plain), *STATUS_WORDS)
            self.status = WORD * (len(plain) + STATUS_WORDS.index(ADDRESS))
        self.turn = threading.Lock()
        self.launch = loaded.driver.launch_kernel

    def __call__(self, addresses: Sequence[int], stream: StreamHandle) -> None:
        handle = self.loaded.handles.get(stream.device) or self.loaded.handle(stream.device)
        with self.turn:  # the driver has read the buffer when it returns
            if self.status is not None:
                struct.pack_into("Q", self.buffer, self.status, addresses[-1])
                addresses = addresses[:-1]
            self.pointers.pack_into(self.buffer, 0, *addresses)
            self.launch(handle, self.blocks, self.loaded.threads, self.where, stream)


def entry_of(image: bytes) -> bytes:
    """What Numba calls the kernel in its PTX."""
    found = re.search(rb"\.visible \.entry (\w+)\(", image)
    assert found is not None, "a kernel's PTX has an entry"
    return found[1]


def ptx_of(function: Any, parameters: Sequence[str], capability: tuple[int, int]) -> bytes:
    """The PTX of a kernel whose parameters are of these kinds."""
    from numba import cuda, types

    def type_of(kind: str) -> Any:
        if kind == STATUS:
            return types.Array(types.int64, 1, "C")
        if is_pointer(kind):
            return types.CPointer(getattr(types, kind))
        return getattr(types, number_kind(kind))

    signature = types.void(*map(type_of, parameters))
    text, _ = cuda.compile(function, signature, device=False, abi="numba", cc=capability, output="ptx")
    return text.encode()
