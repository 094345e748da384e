"""Generated files on disk: one a graph, found again by the hash of everything that determines the machine code.

A second process that compiles the same graph finds the file and, beside it, Numba's compiled kernels. The folder is
`MTC_CACHE_DIR`, else `minitorch_compile` in the user's cache folder. Numba's files are pickles, so a folder that
someone else could write to is never read: a private temporary one is used instead, with a warning.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = write_once(Path(folder) / "graph.py", "x = 1\\n")
...     path.read_text()
'x = 1\\n'
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import pickle
import shutil
import stat
import sys
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import llvmlite
import numba
import numpy as np
import scipy
from llvmlite import binding as llvm

from minitorch_compile import logs

ENVIRONMENT_VARIABLE = "MTC_CACHE_DIR"
# The modules whose code ends up inside compiled kernels: a change in one makes every cached kernel stale.
INLINED_SOURCES = (
    "native",
    "raw_memory",
    "kernel_function",
    "element_functions",
    "tensor_call",
    "vecmath",
    "extern",
    "half_floats",
    "running",
    "tiles",
)

log_cache, log_code = logs.artifact("cache"), logs.artifact("output_code")

_loaded: dict[str, ModuleType] = {}


def load(source: str) -> ModuleType:
    """The module with this text: from this process, from the disk, or compiled now."""
    key = cache_key(source)
    if key in _loaded:
        log_cache(f"{key}: in memory")
        return _loaded[key]
    path = write_once(cache_folder() / key[:2] / f"graph_{key}.py", source)
    if log_code.is_on:
        log_code(f"# {path}\n{source}")
    _loaded[key] = load_module(path, f"minitorch_compile_generated_{key}")
    return _loaded[key]


def forget() -> None:
    """Forgets what this process has loaded; the files on disk stay."""
    _loaded.clear()


def cache_key(source: str) -> str:
    """The name of a source text's compiled form on this machine."""
    return hashlib.sha256(f"{environment()}\n{source}".encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def environment() -> str:
    """All that machine code depends on besides the text: versions, the processor, and the code that is inlined."""
    features = llvm.get_host_cpu_features().flatten()
    versions = (sys.version_info[:3], numba.__version__, llvmlite.__version__, np.__version__, scipy.__version__)
    return f"{versions} {llvm.get_host_cpu_name()} {features} {_inlined_digest()}"


def _inlined_digest() -> str:
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for name in INLINED_SOURCES:
        place = folder / name
        for file in sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------ the folder


def cache_folder() -> Path:
    """The folder for generated files, made if there is none; a temporary one if it can't be used or trusted."""
    wanted = os.environ.get(ENVIRONMENT_VARIABLE)
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return _usable_folder(Path(wanted) if wanted else Path(root) / "minitorch_compile")


@lru_cache(maxsize=8)
def _usable_folder(folder: Path) -> Path:
    problem = folder_problem(folder)
    if problem is None:
        return folder
    replacement = Path(tempfile.mkdtemp(prefix="minitorch_compile-"))
    atexit.register(shutil.rmtree, replacement, ignore_errors=True)
    warnings.warn(
        f"compiled kernels are not kept after this process ends: the cache folder {folder} {problem}."
        f" Set {ENVIRONMENT_VARIABLE} to a folder that only you can write to.",
        stacklevel=3,
    )
    return replacement


def folder_problem(folder: Path) -> str | None:
    """Why a folder can't be used as a cache, or None if it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        return f"can't be made ({error.strerror})"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written to by other users"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "can't be written to"
    return None


def write_once(path: Path, text: str) -> Path:
    """Puts a text into a file unless it is there already; other processes see the whole file or none.

    A file that is right is left alone: Numba takes a new modification time for a new text.
    """
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(temporary, path)
        log_cache(f"{path.stem}: written")
    else:
        log_cache(f"{path.stem}: on disk")
    return path


def load_module(path: Path, name: str) -> ModuleType:
    """Runs a generated file. If Numba's files beside it are damaged, they are thrown away and made again."""
    try:
        return _run_module(path, name)
    except (pickle.UnpicklingError, EOFError, LookupError, ValueError, AttributeError, ImportError, TypeError) as error:
        damaged = list((path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"))
        if not damaged:
            raise
        log_cache(f"{path.stem}: compiled form unreadable ({error}), compiled again")
        for file in damaged:
            file.unlink(missing_ok=True)
        return _run_module(path, name)


def _run_module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks a function's module up by name
    spec.loader.exec_module(module)
    return module
