"""Memory that several processes look at: a file without a name, mapped by each of them.

>>> import numpy as np
>>> storage = Storage(np.arange(3.0))
>>> share([storage])
>>> other_process = mapped(file_of(storage.buffer), storage.buffer.dtype, 3)
>>> storage.buffer[0] = 7.0
>>> other_process
array([7., 1., 2.])

A process that is forked has the mapping already; to others the file is sent (`multiprocessing.py`).
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.windows import forget_windows


class SharedMap(mmap.mmap):
    """A mapping that keeps its file open: it is what other processes get."""

    file: Any


def share(storages: Iterable[Storage]) -> None:
    """Moves their elements to shared memory, where they stay. What is there already, or has no data, is left alone."""
    owners = {id(s.memory): s.memory for s in storages}
    moving = [s for s in owners.values() if s.buffer is not None and file_of(s.buffer) is None]
    for storage in moving:
        buffer = storage.buffer
        assert buffer is not None
        storage.buffer = mapped(_new_file(buffer.nbytes), buffer.dtype, buffer.size)
        storage.buffer[...] = buffer
    forget_windows(moving)


def mapped(file: Any, dtype: np.dtype, count: int) -> np.ndarray:
    """An array over the beginning of an open file, which it keeps open."""
    memory = SharedMap(file.fileno(), max(count * dtype.itemsize, 1))  # nothing at all can't be mapped
    memory.file = file
    return np.ndarray((count,), dtype, memory)


def file_of(buffer: np.ndarray) -> Any:
    """The file that a storage's buffer is mapped from; None if it is ordinary memory."""
    return buffer.base.file if isinstance(buffer.base, SharedMap) else None


def _new_file(size: int) -> Any:
    """A file of zeros that is gone once nobody has it open; in memory, where the system offers that."""
    in_memory = getattr(os, "memfd_create", None)
    file: Any
    if in_memory is None:
        file = tempfile.TemporaryFile()  # noqa: SIM115  # it is open as long as somebody looks at the memory
    else:
        file = os.fdopen(in_memory("tensor"), "r+b", buffering=0)
    os.ftruncate(file.fileno(), max(size, 1))
    return file
