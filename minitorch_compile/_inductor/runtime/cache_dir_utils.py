"""`torch._inductor.runtime.cache_dir_utils`: where the kernels are kept.

>>> import os
>>> os.path.isabs(cache_dir())
True
"""

from __future__ import annotations

from minitorch_compile.users_cache import cache_folder


def cache_dir() -> str:
    """The folder, made if there is none."""
    return str(cache_folder())


default_cache_dir = cache_dir
