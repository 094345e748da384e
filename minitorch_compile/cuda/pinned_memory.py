"""Pinned memory of the host, as NumPy arrays that give it back when nobody looks at it any more.

A GPU copies to and from pages that stay where they are while the program goes on; other memory the driver has to copy
aside first.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()) as runtime:
...     numbers = pinned_bytes(runtime, 8).view(np.int64)
...     runtime.driver.is_pinned(numbers.ctypes.data), runtime.driver.is_pinned(np.empty(1).ctypes.data)
(True, False)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.host_allocator import CachingHostAllocator


class PinnedMemory:
    """A block of the host allocator, freed with the last array over it."""

    def __init__(self, allocator: CachingHostAllocator, nbytes: int) -> None:
        self.allocator = allocator
        self.address = 0  # so that __del__ has one if no more can be pinned
        self.address = allocator.allocate(nbytes)
        # What NumPy makes an array of, which keeps this object.
        self.__array_interface__: dict[str, Any] = {
            "shape": (nbytes,), "typestr": "|u1", "data": (self.address, False), "version": 3,
        }  # fmt: skip

    def __del__(self) -> None:
        if self.address:
            self.allocator.free(self.address)


def pinned_bytes(runtime: Runtime, nbytes: int) -> np.ndarray:
    """So many bytes, not filled. CudaOutOfMemoryError if the host has no more pages to pin."""
    return np.asarray(PinnedMemory(runtime.host_allocator, nbytes)) if nbytes else np.empty(0, np.uint8)
