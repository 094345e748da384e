"""Functions whose code ends up inside compiled kernels, and what tells that it is still the same.

A kernel on disk is as stale as the oldest function in it, and so is a function that Numba keeps in a cache of its own,
beside the bytecode: Numba looks at the file in which the function stands, and not at those of the functions that it
calls. So both are kept under a digest of all these files.

>>> @kept_njit(error_model="numpy")
... def double(x):
...     return x + x
>>> double(4)
8
>>> len(inlined_digest())
64
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit

from minitorch_compile.tensor.cpu.numba_cache import CachedFunction, cached_on_disk

# Where code lies that ends up inside compiled kernels: a change in it makes every kernel that was kept stale.
INLINED_SOURCES = (
    "machine.py",
    "runtime/*.py",
    "kernels/*.py",
    "kernels/vecmath/*.py",
    "../kernel_library/call_words.py",
    "../kernel_library/pool_memory.py",
    "../kernel_library/*_plan.py",
    "../kernel_library/*_sizes.py",
)


@cache
def inlined_digest() -> str:
    """The hash of these modules."""
    floor = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for pattern in INLINED_SOURCES:
        for file in sorted(floor.glob(pattern)):
            digest.update(file.read_bytes())
    return digest.hexdigest()


class CachedCode(CachedFunction):
    """Numba's cache of one function, for as long as the digest stays the same. Numba's key names the processor."""

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(signature, codegen), inlined_digest())


def kept_njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`njit(cache=True)` with that cache."""

    def decorate(function: Callable[..., Any]) -> Any:
        return function if config.DISABLE_JIT else cached_on_disk(njit(**options)(function), CachedCode)

    return decorate
