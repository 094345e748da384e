"""Freed memory is kept for the next tensor.

Each operation makes a new array. For one of a megabyte, glibc asks the system for fresh pages, and the first write to
each page interrupts the program; a moment later the array is freed and its pages are given back. In the training step
of a small GPT that was a fifth of the time. Two settings of malloc make it keep what was freed, as the caching
allocators of deep learning frameworks do; the price is that up to KEPT bytes stay with the process.

Set the environment variable MTC_KEEP_MEMORY=0 before importing to leave malloc as it is.
"""

from __future__ import annotations

import ctypes
import sys

from minitorch_compile.environment_variables import KEEP_MEMORY

KEPT = 512 << 20  # bytes at the top of the heap that are not given back
LARGEST = 32 << 20  # bytes; larger arrays get pages of their own, which is the most that glibc allows
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from malloc.h


def keep_freed_memory() -> bool:
    """Lets malloc keep freed memory; whether this system's malloc can be told so (glibc's can)."""
    if not KEEP_MEMORY.value() or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, KEPT))
