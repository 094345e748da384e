"""Native functions that Numba keeps on disk, for a second process to find. Importing this imports Numba.

>>> @native
... def halve(x):
...     return x / 2
>>> halve(3)
1.5

Numba numbers the files of one function in the order in which it is compiled for different types. Two processes that
begin at the same time, one with float32 and one with float64, may then give one name to both, and machine code for the
wrong type writes past the end of an array. So here the name follows from the types.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

from numba import config, njit
from numba.core.caching import IndexDataCacheFile


class _NamedByTypes(IndexDataCacheFile):
    """Files whose names say what they were compiled for. The index is written last: what it names is there."""

    def save(self, key: Any, data: Any) -> None:
        number = int(hashlib.sha256(repr(key).encode()).hexdigest()[:15], 16)
        self._save_data(self._data_name(number), data)
        self._save_index({**self._load_index(), key: self._data_name(number)})


def native(function: Callable[..., Any], **options: Any) -> Any:
    """`numba.njit` for a function in a file, kept on disk. It runs without the GIL; x / 0 is inf, as in NumPy."""
    compiled = njit(error_model="numpy", nogil=True, **options)(function)
    if config.DISABLE_JIT or not os.path.isfile(function.__code__.co_filename):
        return compiled
    compiled.enable_caching()
    cache = compiled._cache
    cache._cache_file = _NamedByTypes(
        cache.cache_path, cache._impl.filename_base, cache._impl.locator.get_source_stamp()
    )
    return compiled
