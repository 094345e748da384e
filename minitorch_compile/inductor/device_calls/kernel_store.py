"""Machine code for GPUs on disk: what was made of a kernel's text, found again by the hash of all that determines it.

An entry is written and trusted as those of the CPU's kernels are (`runtime/object_store.py`): it comes from this user's
own folder, its hash and its key are checked, and one that is damaged is as good as none. Numba isn't even imported
where an entry is found.

>>> key = key_of("def kernel(x): ...", ["float32"], (9, 0), threads=256)
>>> key == key_of("def kernel(x): ...", ["float32"], (9, 0), threads=256)
True
>>> key == key_of("def kernel(x): ...", ["float32"], (8, 0), threads=256)
False
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from minitorch_compile import logs
from minitorch_compile.inductor.device_calls.launcher import HEADER
from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, write_whole
from minitorch_compile.inductor.runtime.object_store import pack, unpack
from minitorch_compile.version import __version__

COMPILERS = ("numba", "numba-cuda", "llvmlite", "numpy")
# What kernels call, and what compiles them: a change in these files makes every kernel that was kept stale.
SOURCES = (
    "inductor/codegen/cuda/*.py",
    "inductor/device_calls/numba_launcher.py",
    "inductor/device_calls/ptx_worker.py",
    "inductor/device_calls/strided_loops.py",
    "inductor/kernels/portable_functions.py",
    "tensor/random/philox.py",
)

Code = tuple[str, bytes]  # a kernel's name in its machine code, and this

log = logs.artifact("cache")


@cache
def environment() -> str:
    """All that machine code depends on besides a kernel's text and the GPU."""
    package = Path(__file__).parents[2]
    digest = hashlib.sha256(HEADER.encode())
    for pattern in SOURCES:
        for file in sorted(package.glob(pattern)):
            digest.update(file.read_bytes())
    return f"{__version__} {sys.version} {[*map(_version, COMPILERS)]} {digest.hexdigest()}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def key_of(text: str, parameters: Sequence[str], capability: tuple[int, int], threads: int, together: int = 0) -> str:
    """What the machine code of a kernel is called; `together`: blocks that a multiprocessor has room for."""
    described = f"{environment()}\n{capability} {threads} {together} {list(parameters)}\n{text}"
    return hashlib.sha256(described.encode()).hexdigest()[:32]


def place_of(key: str) -> Path:
    """The file of that key."""
    return cache_folder() / key[:2] / f"mtc_{key}.cubin"


def kept(key: str, make: Callable[[], Code]) -> Code:
    """The machine code of that key, from disk, or made now and kept for other processes."""
    path = place_of(key)
    entry = read_own(path)
    found = None if entry is None else unpack(key, entry)
    if found is not None:
        log(f"GPU kernel {key}: on disk")
        return found
    log(f"GPU kernel {key}: {'not on disk' if entry is None else f'damaged, compiled again ({path})'}")
    return keep(key, *make())


def keep(key: str, symbol: str, code: bytes) -> Code:
    """Writes machine code to disk, for this process and others."""
    write_whole(place_of(key), pack(key, symbol, code))
    return symbol, code
