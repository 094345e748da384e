"""torch.utils.serialization.config: how save() and load() go about it, where a call doesn't say.

>>> load.mmap, get_crc32_options()
(False, True)
>>> with set_default_mmap_options(mmap.MAP_SHARED):
...     get_default_mmap_options() == mmap.MAP_SHARED
True
>>> get_default_mmap_options() == mmap.MAP_PRIVATE
True
"""

from __future__ import annotations

import mmap
from typing import Any

PRIVATE: int | None = getattr(mmap, "MAP_PRIVATE", None)  # neither is there on Windows
SHARED: int | None = getattr(mmap, "MAP_SHARED", None)


class load:
    """Of load(). mmap: whether files are mapped into memory. mmap_flags: whether what is written to mapped tensors
    stays in memory (MAP_PRIVATE) or is written to the file (MAP_SHARED). endianness: the order of bytes in a file of
    PyTorch's that doesn't say it. calculate_storage_offsets: kept, and of no effect: where bytes lie is read."""

    mmap: bool = False
    endianness: Any = None
    mmap_flags: int | None = PRIVATE
    calculate_storage_offsets: bool = False


class save:
    """Of save(). All are kept and have no effect: a safetensors file has no checksums, its own alignment, and is
    written of main memory."""

    compute_crc32: bool = True
    use_pinned_memory_for_d2h: bool = False
    storage_alignment: int = 64


def get_crc32_options() -> bool:
    """Whether files get checksums where their format has some."""
    return save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Changes that. What save() writes has none in any case."""
    save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """What load(mmap=True) maps with: mmap.MAP_PRIVATE or MAP_SHARED."""
    return load.mmap_flags


class set_default_mmap_options:
    """Changes it, from now on or within a `with`. ValueError for `flags` that are neither of the two."""

    def __init__(self, flags: int) -> None:
        if flags not in (PRIVATE, SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED,"
                f" but got {flags}"
            )
        self.prev = load.mmap_flags
        load.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        load.mmap_flags = self.prev


def maps_shared() -> bool:
    """Whether what is written to mapped tensors goes to the file."""
    return load.mmap_flags is not None and load.mmap_flags == SHARED
