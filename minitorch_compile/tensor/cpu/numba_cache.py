"""Numba's cache of compiled functions, made safe to share and to do without. Importing this imports Numba.

Numba keeps what it compiles as pickles, beside the bytecode of the module, which they are trusted like. Three things
are different here. Where the package can't be written to, they lie in the user's own folder (`users_cache`), and if
that is missing, too, nothing is kept. A file that is damaged, or can't be read or written, is no error: the function
is compiled. And files are named by what they were compiled for: Numba numbers them in the order in which it compiles,
so two processes that begin at the same time, one with float32 and one with float64, may give one name to both, and
machine code for the wrong type writes past the end of an array.

>>> import numba
>>> isinstance(cached_on_disk(numba.njit(cached_on_disk))._cache, CachedFunction)
True
"""

from __future__ import annotations

import hashlib
import importlib
from contextlib import suppress
from typing import Any

from minitorch_compile import logs
from minitorch_compile.users_cache import cache_folder

caching: Any = importlib.import_module("numba.core.caching")  # its classes are private

log = logs.artifact("cache")


class OwnFolder(caching.UserWideCacheLocator):
    """A place in the user's own folder."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._cache_path = str(cache_folder() / "functions" / self.get_suitable_cache_subpath(file))


class Places(caching.CompileResultCacheImpl):
    """Beside the bytecode, else in the user's own folder: no other is known to be the user's alone."""

    _locator_classes = [caching.InTreeCacheLocator, OwnFolder]


class NamedByTypes(caching.IndexDataCacheFile):
    """Files whose names say what they were compiled for. The index is written last: what it names is there."""

    def save(self, key: Any, data: Any) -> None:
        number = int(hashlib.sha256(repr(key).encode()).hexdigest()[:15], 16)
        self._save_data(self._data_name(number), data)
        self._save_index({**self._load_index(), key: self._data_name(number)})


class CachedFunction(caching.FunctionCache):
    """The cache of one function."""

    _impl_class = Places

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = NamedByTypes(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 (a file that is damaged can raise anything)
            log(f"{self._name}: damaged, compiled again ({error})")
            with suppress(OSError):
                self.flush()  # else it could not be kept anew: the index is read for that, too
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a full disk, a folder that became read-only: a cache may do without
            log(f"{self._name} can't be kept ({error.strerror})")


def cached_on_disk(dispatcher: Any, cache: type[CachedFunction] = CachedFunction) -> Any:
    """The function, kept from now on, if there is a place for it."""
    with suppress(RuntimeError):  # no place: neither beside the package nor in a folder of the user's own
        dispatcher._cache = cache(dispatcher.py_func)
    return dispatcher
