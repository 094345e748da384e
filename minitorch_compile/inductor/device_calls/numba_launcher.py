"""Kernels compiled by numba-cuda and launched by CUDA's driver, without Numba's dispatcher in between.

Numba makes PTX of the kernel's text, and the driver machine code of that, which is kept on disk (`kernel_store.py`).
How it is launched then: `prepared_launch.py` by itself, `launch_row.py` with others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from minitorch_compile.cuda_runtime.driver import Driver
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.device_calls import kernel_store
from minitorch_compile.inductor.device_calls.launch_row import LaunchRow
from minitorch_compile.inductor.device_calls.launcher import (
    STATUS,
    Kernel,
    Launch,
    Request,
    Row,
    is_array,
    is_pointer,
    number_kind,
)
from minitorch_compile.inductor.device_calls.prepared_launch import LoadedKernel, PreparedLaunch
from minitorch_compile.inductor.device_calls.ptx_pool import POOL
from minitorch_compile.inductor.device_calls.ptx_worker import PtxJob, ptx_of_job
from minitorch_compile.inductor.device_calls.strided_loops import by_adding
from minitorch_compile.users_cache import NOWHERE, cache_folder

BLOCKS_PER_MULTIPROCESSOR = 8


class NumbaLauncher:
    """Compiles for the GPU it launches on."""

    threads, all_blocks = 256, (1 << 31) - 1
    rewritten = staticmethod(by_adding)

    def __init__(self, driver: Driver) -> None:
        self.driver: Any = driver
        properties = driver.properties(0)
        self.capability = properties.major, properties.minor
        self.has_warpgroups = self.capability == (9, 0)
        self.most_blocks = properties.multi_processor_count * BLOCKS_PER_MULTIPROCESSOR

    def compile(self, text: str, name: str, parameters: Sequence[str], block: BlockShape = BlockShape()) -> Kernel:
        """A kernel; it is loaded on each device where it is launched first."""
        threads = int(self.threads * block.times)
        make = lambda: self.code_of(ptx_of_job(self.job(text, name, parameters, block)))
        entry, code = kernel_store.kept(self.key(text, parameters, block), make)
        loaded = LoadedKernel(self.driver, code, entry.encode(), threads, block.shared)
        return lambda blocks, reaches, numbers: PreparedLaunch(loaded, blocks, parameters, reaches, numbers)

    def compile_ahead(self, requests: Sequence[Request]) -> None:
        """Has kernels compiled by other processes, if there are enough of them, and keeps them on disk."""
        missing = [request for request in requests if not self.is_kept(request[0], *request[2:])]
        if not missing or cache_folder() == NOWHERE:
            return
        jobs = {self.job(*request): request for request in missing}

        def deliver(job: PtxJob, ptx: bytes) -> None:
            text, _, parameters, block = jobs[job]
            kernel_store.keep(self.key(text, parameters, block), *self.code_of(ptx))

        POOL.provide([*jobs], deliver)

    def job(self, text: str, name: str, parameters: Sequence[str], block: BlockShape) -> PtxJob:
        threads = int(self.threads * block.times)
        return PtxJob(text, name, tuple(parameters), self.capability, threads, block.together)

    def code_of(self, ptx: bytes) -> kernel_store.Code:
        """Machine code, with the kernel's name in it."""
        return entry_of(ptx).decode(), self.driver.machine_code(0, ptx)

    def is_kept(self, text: str, parameters: Sequence[str], block: BlockShape = BlockShape()) -> bool:
        """Whether a kernel is on disk, so that it needn't be compiled."""
        return kernel_store.place_of(self.key(text, parameters, block)).exists()

    def key(self, text: str, parameters: Sequence[str], block: BlockShape) -> str:
        """What its machine code is called there."""
        return kernel_store.key_of(text, parameters, self.capability, int(self.threads * block.times), block.together)

    def row(self, launches: Sequence[tuple[Launch, Sequence[int]]], places: int) -> Row:
        """Their launches over one buffer of arguments."""
        return LaunchRow(launches, places)


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
        if is_array(kind):
            return types.Array(getattr(types, kind.removesuffix("[]")), 1, "C")
        if is_pointer(kind):
            return types.CPointer(getattr(types, kind))
        return getattr(types, number_kind(kind))

    signature = types.void(*map(type_of, parameters))
    bounds = getattr(function, "launch_bounds", None)  # threads, and how many blocks are to share a multiprocessor
    how = {"device": False, "abi": "numba", "cc": capability, "output": "ptx", "launch_bounds": bounds}
    text, _ = cuda.compile(function, signature, **how)
    if "wgmma" in text:  # which is there on this one architecture, and not on those that come after
        text = re.sub(r"(\.target sm_90)\b", r"\1a", text)
    return text.encode()


def bounded(ptx: bytes, threads: int, together: int) -> bytes:
    """The PTX with the threads of a block, and how many blocks a multiprocessor has at the least, unless that is 0.

    >>> bounded(b".visible .entry add(\\n.param .u64 x\\n)\\n{", 256, 2)
    b'.visible .entry add(\\n.param .u64 x\\n)\\n.maxntid 256, 1, 1\\n.minnctapersm 2\\n{'
    """
    if not together and threads <= 256:
        return ptx  # the compiler's own choice leaves room for several blocks
    bounds = b".maxntid %d, 1, 1\n.minnctapersm %d\n{" % (threads, max(together, 1))
    return re.sub(rb"(\.visible \.entry \w+\([^)]*\)\s*)\{", rb"\1" + bounds, ptx, count=1)
