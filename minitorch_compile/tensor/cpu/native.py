"""Native functions that Numba keeps on disk, for a second process to find. Importing this imports Numba.

>>> @native
... def halve(x):
...     return x / 2
>>> halve(3)
1.5
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from numba import config, njit

from minitorch_compile.tensor.cpu import target_processor as named_processor  # noqa: F401 (before anything is compiled)
from minitorch_compile.tensor.cpu.numba_cache import cached_on_disk


def native(function: Callable[..., Any], **options: Any) -> Any:
    """`numba.njit` for a function in a file, kept on disk. It runs without the GIL; x / 0 is inf, as in NumPy."""
    compiled = njit(error_model="numpy", nogil=True, **options)(function)
    return (
        compiled
        if config.DISABLE_JIT or not os.path.isfile(function.__code__.co_filename)
        else cached_on_disk(compiled)
    )
