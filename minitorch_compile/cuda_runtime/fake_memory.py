"""The memory of a device that isn't there: bytes on the host under addresses that are made up, and checked.

No address is used twice, and between any two blocks lies a gap. So who reaches out of a block, or into one that was
freed, is told.

>>> memory = FakeMemory(start=0x10000, total=4096)
>>> address = memory.allocate(100)
>>> memory.bytes_at(address + 96, 4)
array([255, 255, 255, 255], dtype=uint8)
>>> memory.bytes_at(address + 96, 8)
Traceback (most recent call last):
minitorch_compile.cuda_runtime.errors.CudaError: CUDA error: bytes 96 to 104 of the block at 0x10000, which has 100 \
(access: CUDA_ERROR_ILLEGAL_ADDRESS)
>>> memory.free(address)
>>> memory.free(address)
Traceback (most recent call last):
minitorch_compile.cuda_runtime.errors.CudaError: CUDA error: the block at 0x10000 was freed before \
(cuMemFree: CUDA_ERROR_INVALID_VALUE)
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from minitorch_compile.cuda_runtime.errors import CudaError, CudaOutOfMemoryError

ALIGNMENT = 512  # of every address; the real driver promises 256
GAP = 512  # bytes between two blocks at least
# Fresh memory has no meaning. These bytes are NaN in every floating type, so who reads before writing sees it.
FRESH = 0xFF


class FakeMemory:
    """`total` bytes from address `start` on. Without `backed` there are only addresses, and nothing can be read."""

    def __init__(self, start: int, total: int, backed: bool = True) -> None:
        self.total, self.used, self.backed = total, 0, backed
        self._next = start
        self._sizes: dict[int, int] = {}
        self._bytes: dict[int, np.ndarray] = {}
        self._starts: list[int] = []  # of the live blocks, in order
        self._freed: set[int] = set()

    def allocate(self, nbytes: int) -> int:
        """The address of a new block. CudaOutOfMemoryError if it doesn't fit beside the others."""
        if nbytes <= 0:
            raise CudaError("cuMemAlloc", "CUDA_ERROR_INVALID_VALUE", f"expected at least 1 byte, got {nbytes}")
        if self.used + nbytes > self.total:
            raise CudaOutOfMemoryError("cuMemAlloc")
        address = self._next
        self._next += -(-(nbytes + GAP) // ALIGNMENT) * ALIGNMENT
        self._sizes[address] = nbytes
        self._starts.append(address)
        self.used += nbytes
        if self.backed:
            self._bytes[address] = np.full(nbytes, FRESH, np.uint8)
        return address

    def free(self, address: int) -> None:
        """Forgets a block. CudaError if none begins there."""
        if address not in self._sizes:
            reason = "was freed before" if address in self._freed else "was never allocated"
            raise CudaError("cuMemFree", "CUDA_ERROR_INVALID_VALUE", f"the block at {address:#x} {reason}")
        self.used -= self._sizes.pop(address)
        self._bytes.pop(address, None)
        del self._starts[bisect_right(self._starts, address) - 1]
        self._freed.add(address)

    def bytes_at(self, address: int, nbytes: int) -> np.ndarray:
        """A view of these bytes. CudaError unless all of them lie in one live block."""
        number = bisect_right(self._starts, address) - 1
        start = self._starts[number] if number >= 0 else 0
        size = self._sizes.get(start, 0)
        first, end = address - start, address - start + nbytes
        if number < 0 or first >= size + GAP:
            raise _illegal(f"no live block at {address:#x}")
        if end > size:
            raise _illegal(f"bytes {first} to {end} of the block at {start:#x}, which has {size}")
        if not self.backed:
            raise _illegal("this driver has addresses only; make it with backed=True")
        return self._bytes[start][first:end]


def _illegal(explanation: str) -> CudaError:
    return CudaError("access", "CUDA_ERROR_ILLEGAL_ADDRESS", explanation)
