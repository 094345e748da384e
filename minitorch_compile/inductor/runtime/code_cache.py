"""Generated files: one a graph, named by the hash of its text and of the machine it is compiled on.

The file is there to be read, stepped through and shown in tracebacks; what runs is the text itself, never what another
process may have left under that name. The machine code of its kernels is kept beside it (`object_store`), in the folder
that `MTC_CACHE_DIR` names (`cache_folder`).

>>> load("x = 1\\n").x
1
"""

from __future__ import annotations

import hashlib
import linecache
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

from numba import config as numba_config

from minitorch_compile import logs
from minitorch_compile.compile_progress import stage
from minitorch_compile.inductor.runtime import compile_pool
from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, write_whole
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction
from minitorch_compile.inductor.runtime.object_store import environment
from minitorch_compile.own_builtins import ORIGINAL

log_cache, log_code = logs.artifact("cache"), logs.artifact("output_code")

_loaded: dict[str, ModuleType] = {}


def load(source: str) -> ModuleType:
    """The module with this text: from this process, or run now, with the kernels that are on disk."""
    key = cache_key(source)
    if key in _loaded:
        log_cache(f"{key}: in memory")
        return _loaded[key]
    path = write_once(cache_folder() / key[:2] / f"mtc_{key}.py", source)
    if log_code.is_on:
        log_code(f"# {path}\n{source}")
    module = run_module(source, path, f"minitorch_compile_generated_{key}")
    call = vars(module).get("call")
    if call is not None and not numba_config.DISABLE_JIT:
        stage("kernels", partial(_ready, list(dict.fromkeys(call.functions))))
        if len(call.functions) > 1:  # one is compiled here, below
            compile_pool.POOL.provide(source, call.functions)
        assert call.address  # asking for it compiles what is left, now and not at the first call
    _loaded[key] = module
    return _loaded[key]


def _ready(functions: list[NativeFunction]) -> tuple[int, int]:
    """How many of the functions have machine code, here or, made by another process, on disk."""
    return sum(function.is_ready() for function in functions), len(functions)


def loaded() -> int:
    """How many files this process has loaded and not forgotten."""
    return len(_loaded)


def forget() -> None:
    """Forgets what this process has loaded; the files on disk stay, and so does what is in use."""
    for module in _loaded.values():
        sys.modules.pop(module.__name__, None)
    _loaded.clear()


def cache_key(source: str) -> str:
    """The name of a source text on this machine."""
    return hashlib.sha256(f"{environment()}\n{source}".encode()).hexdigest()[:32]


def write_once(path: Path, text: str) -> Path:
    """Puts a text into a file unless it is there already."""
    if read_own(path) == text.encode():
        log_cache(f"{path.name}: on disk")
    elif write_whole(path, text.encode()):
        log_cache(f"{path.name}: written")
    return path


def run_module(source: str, path: Path, name: str) -> ModuleType:
    """Runs a text as the module in that file."""
    module = ModuleType(name)
    module.__file__ = str(path)
    vars(module)["__builtins__"] = ORIGINAL
    sys.modules[name] = module  # Numba looks a function's module up by name
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    exec(compile(source, str(path), "exec"), vars(module))
    return module
