"""How many threads a large operation may use: one number, which native code reads where it lies.

>>> before = get_num_threads()
>>> set_num_threads(1)
>>> get_num_threads()
1
>>> set_num_threads(before)
"""

from __future__ import annotations

import os

import numpy as np
from threadpoolctl import ThreadpoolController

from minitorch_compile.tensor.cpu import blas


def usable_cores() -> int:
    """The processors that this process may use: fewer than there are under `taskset` or in some containers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# At first what BLAS was told by the environment (OMP_NUM_THREADS and its like), or one for each processor.
THREAD_COUNT = np.array([blas.thread_count() or usable_cores()], np.int64)


def get_num_threads() -> int:
    """How many threads a large operation may use."""
    return int(THREAD_COUNT[0])


def set_num_threads(num: int) -> None:
    """Lets large operations use up to `num` threads, eager and compiled. RuntimeError unless positive."""
    if not isinstance(num, int) or num < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {num!r}")
    THREAD_COUNT[0] = num
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        library.set_num_threads(num)


_between_operations = [1]


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` said, 1 if nothing."""
    return _between_operations[0]


def set_num_interop_threads(num: int) -> None:
    """How many operations may run at a time: kept, since they run one after the other. RuntimeError unless positive."""
    if not isinstance(num, int) or num < 1:
        raise RuntimeError(f"Expected positive number of threads, got {num!r}")
    _between_operations[0] = num
