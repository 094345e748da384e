"""Machine code on disk: an object file for each kernel, found again by the hash of all that determines it.

Kernels are kept one by one, not by graph: a model whose last layer was changed finds those of the others, and so does
the same model in another program. An entry is a line (a mark, the hash of the rest), a line with its key and the name
of the function, and the object file that LLVM made. Nothing is unpickled, and nothing is linked before its hash was
found right; that the bytes come from this user is the folder's business (`cache_folder`). An entry that is damaged, or
is another one's, is as good as none: it is compiled again and replaced.

>>> entry = pack("key", "symbol", b"machine code")
>>> unpack("key", entry)
('symbol', b'machine code')
>>> unpack("key", entry[:-1]), unpack("another", entry)
(None, None)
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
import scipy
from llvmlite import binding as llvm
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from minitorch_compile import logs
from minitorch_compile.inductor.machine import Machine, current
from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, write_whole
from minitorch_compile.inductor.runtime.inlined_code import inlined_digest
from minitorch_compile.kernel_library import object_files
from minitorch_compile.kernel_library.object_files import MARK, pack, unpack  # noqa: F401 (MARK: what entries begin with)
from minitorch_compile.version import __version__

numba_runtime: Any = importlib.import_module("numba.core.runtime._nrt_python")  # private: the functions' addresses

# What the user can set that changes the code that Numba makes, besides the processor.
NUMBA_SETTINGS = (
    "OPT",
    "BOUNDSCHECK",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO_DEFAULT",
)

log = logs.artifact("cache")

# ------------------------------------------------------------------------------------------------ keys


def environment() -> str:
    """All that machine code depends on besides the text: versions, the machine, and the code that is inlined."""
    return environment_of(current())


@lru_cache
def environment_of(machine: Machine) -> str:
    versions = (__version__, sys.version, numba.__version__, llvmlite.__version__, np.__version__, scipy.__version__)
    settings = [str(getattr(numba.config, name, None)) for name in NUMBA_SETTINGS]
    layout = (tuple.__basicsize__, object.__basicsize__, llvm.get_process_triple())  # native_loop reads objects
    return f"{versions} {machine.key} {settings} {layout} {inlined_digest()}"


def key_of(name: str, signature: Any, function: Any) -> str | None:
    """What a function's machine code is called; None for one that depends on more than a key can say.

    That is any function which isn't ours: what such a function calls may change without our noticing.
    """
    if not function.__module__.startswith("minitorch_compile") or function.__closure__:
        return None
    code = function.__code__
    seen = [
        (called, _described(function.__globals__[called])) for called in _names(code) if called in function.__globals__
    ]
    text = f"{environment()}\n{name} {signature}\n{_text_of(code)}\n{seen}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _text_of(code: CodeType) -> str:
    """What a code object does, without where it stands."""
    constants = [_text_of(c) if isinstance(c, CodeType) else f"{type(c).__name__} {c!r}" for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_varnames} {code.co_argcount} {code.co_names} {constants}"


def _names(code: CodeType) -> list[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return sorted({*code.co_names}.union(*inner))


def _described(value: Any) -> str:
    """A global that a kernel reads: a number, or something with a name, whose own text `environment` covers."""
    if isinstance(value, ModuleType):
        return value.__name__
    named = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"{getattr(value, '__module__', '')}.{named}" if named else repr(value)


# ------------------------------------------------------------------------------------------------ entries


def path_of(key: str) -> Path:
    return cache_folder() / key[:2] / f"mtc_{key}.o"


def find(key: str, place: Path | None = None) -> int | None:
    """The address of a function whose machine code was kept, in the folder or at a place of its own; None if it
    wasn't."""
    path = place or path_of(key)
    entry = read_own(path)
    if entry is None:
        log(f"kernel {key}: not on disk")
        return None
    found = unpack(key, entry)
    if found is None:
        log(f"kernel {key}: damaged, compiled again ({path})")
        return None
    log(f"kernel {key}: on disk")
    return link(*found)


def keep(key: str, symbol: str, code: bytes, place: Path | None = None) -> None:
    """Keeps a function's object file for later processes."""
    write_whole(place or path_of(key), pack(key, symbol, code))


def place_beside(function: Any) -> Path | None:
    """A place beside the bytecode, for a function that each process needs; None where nothing can be written there."""
    source = Path(function.__code__.co_filename)
    if not source.is_file():
        return None
    folder = source.parent / "__pycache__"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    made_for = hashlib.sha256(current().key.encode()).hexdigest()[:8]
    name = f"{source.stem}.{function.__name__}.{sys.implementation.cache_tag}-{made_for}.o"
    return folder / name if os.access(folder, os.W_OK) else None


# ------------------------------------------------------------------------------------------------ linking


@cache
def _provide_numbas_functions() -> None:
    """What Numba's machine code calls. Its runtime's part Numba would provide when it first compiles: maybe never."""
    assert cpu_target.target_context  # making it provides the others
    for name, address in numba_runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def link(symbol: str, code: bytes) -> int:
    """Loads an object file into this process, with what Numba's machine code calls; the address of a function."""
    with global_compiler_lock:
        _provide_numbas_functions()
        return object_files.link(symbol, code, numba.config.USE_LLVMLITE_MEMORY_MANAGER)
