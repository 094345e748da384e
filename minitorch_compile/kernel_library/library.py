"""The library of kernels of this process: found on disk when an operation first asks, or done without.

Whether there is one is asked once a process. So an operation doesn't begin to be computed otherwise in the middle of a
program, and last digits stay what they are.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm

from minitorch_compile import config, logs
from minitorch_compile.cuda_runtime.native_code import METH_FASTCALL, MethodDefinition, builtin
from minitorch_compile.kernel_library.blas_routines import CALLING_BLAS, provide_routines
from minitorch_compile.kernel_library.object_files import link, read_own, unpack
from minitorch_compile.kernel_library.planned_kernel import PlannedKernel
from minitorch_compile.kernel_library.pool_memory import HAS_THREADS, MEMORY, PARALLEL, PARALLEL_ADDRESS
from minitorch_compile.kernel_library.pool_memory import address_of_system as system
from minitorch_compile.kernel_library.recipe import Program, Recipe
from minitorch_compile.kernel_library.stamp import stamp
from minitorch_compile.kernel_library.tile_sizes import TileSizes
from minitorch_compile.users_cache import cache_folder

LOOP = ("execute", "parallel_for", "thread_pool_worker", "run_chunk")  # what every call needs
RAISING = (
    "numba_do_raise",
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_runtime_build_excinfo_struct",
    "numba_unpickle",
)
NATIVE_LOOP = "minitorch_compile.inductor.runtime.native_loop"

log = logs.artifact("cache")


class LibraryError(Exception):
    """Why a library can't be used."""


_definitions: list[MethodDefinition] = []  # CPython keeps their addresses


def builtin_at(name: str, address: int) -> Any:
    """The machine code `(nothing, arguments, count)` at an address, as a builtin function."""
    _definitions.append(MethodDefinition(name.encode(), address, METH_FASTCALL, None))
    return builtin(_definitions[-1])


def library_path() -> Path:
    """Where the library for this process lies."""
    return cache_folder() / stamp()[:2] / f"mtc_{stamp()}.library"


class Library:
    """A library that was read: programs and kernels by name, each loaded when it is first asked for."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.functions: dict[str, list[str]] = data["functions"]  # name -> the key of its machine code, and its path
        self.recipes: dict[str, Any] = data["recipes"]
        self.planned: dict[str, str] = data["planned"]  # name -> that of its function
        self.tiles = TileSizes(*data["tiles"])
        self.addresses: dict[str, int] = {}
        self.programs: dict[str, Program | None] = {}
        self.kernels: dict[str, PlannedKernel | None] = {}
        self.execute, self.parallel = self._native_loop()

    def _native_loop(self) -> tuple[Callable[[int, int, int], None], int]:
        """The loop that walks lists, and the address of what it is told: Numba's if that is here already."""
        loaded = sys.modules.get(NATIVE_LOOP)
        if loaded is not None and hasattr(loaded, "provide_threads"):
            loaded.provide_threads()
            return loaded.execute, loaded.PARALLEL_ADDRESS
        provide_symbols()
        execute = builtin_at("execute", self.address_of("execute"))
        if HAS_THREADS:
            MEMORY.begin_in(self.address_of("thread_pool_worker"))
            PARALLEL[0], PARALLEL[2] = self.address_of("parallel_for"), self.address_of("run_chunk")
        return execute, PARALLEL_ADDRESS

    def address_of(self, name: str) -> int:
        """The address of a function; LibraryError if its machine code isn't there any more."""
        if name not in self.addresses:
            key, path = self.functions[name]
            found = unpack(key, read_own(Path(path)) or b"")
            if found is None:
                raise LibraryError(f"the machine code of {name} is gone ({path})")
            self.addresses[name] = link(*found)
        return self.addresses[name]

    def program(self, name: str) -> Program | None:
        """The program of that name; None if there is none."""
        if name not in self.programs:
            self.programs[name] = self._loaded(name) if name in self.recipes else None
        return self.programs[name]

    def _loaded(self, name: str) -> Program | None:
        recipe = Recipe.from_data(self.recipes[name])
        found = self._has(name, [step.function for step in recipe.steps])
        return Program(recipe, self.addresses, self.execute, self.parallel) if found else None

    def kernel(self, name: str) -> PlannedKernel | None:
        """The kernel of that name which takes a plan; None if there is none."""
        if (
            name not in self.kernels
        ):  # a thread that asks meanwhile loads it, too: told that there is none, it would round
            self.kernels[name] = self._loaded_kernel(name)  # another way than its next call does
        return self.kernels[name]

    def _loaded_kernel(self, name: str) -> PlannedKernel | None:
        function = self.planned.get(name)
        if function is not None and name in CALLING_BLAS:
            provide_routines()
        if function is None or not self._has(name, [function]):
            return None
        return PlannedKernel(self.addresses[function], self.tiles, self.execute, self.parallel)

    def _has(self, name: str, functions: Iterable[str]) -> bool:
        """Whether the machine code of these functions is there still, all of it loaded now."""
        try:
            for function in functions:
                self.address_of(function)
        except LibraryError as error:
            log(f"eager kernels of {name}: {error}")
            if config.eager_kernels == "on":
                with suppress(OSError):  # the next process finds no library, and has it written
                    library_path().unlink()
            return False
        return True


def own_symbols() -> dict[str, int]:
    """What machine code calls by name and Numba would provide: memory, threads, Python's integers."""
    symbols = {name: _address(getattr(ctypes.pythonapi, name)) for name in ("PyLong_AsLongLong", "Py_IncRef")}
    memory = {"NRT_Allocate": ctypes.pythonapi.PyMem_RawMalloc, "NRT_Free": ctypes.pythonapi.PyMem_RawFree}
    symbols |= {name: _address(function) for name, function in memory.items()}
    if HAS_THREADS:
        pthread = ("create", "mutex_lock", "mutex_unlock", "cond_wait", "cond_broadcast")
        symbols |= {f"minitorch_pthread_{name}": system(f"pthread_{name}") for name in pthread}
        symbols["minitorch_sched_yield"] = system("sched_yield")
    # What is called where a function raises: those here don't.
    symbols |= dict.fromkeys(RAISING, symbols["Py_IncRef"])
    # The number of BLAS's threads is asked for where a list says that it multiplies matrices; none here does. A plan
    # for which a kernel of images would call BLAS isn't made.
    blas = ("get_blas_threads", "set_blas_threads", "sgemm")
    symbols |= {f"minitorch_{name}": symbols["Py_IncRef"] for name in blas}
    return symbols


def provide_symbols() -> None:
    """Makes them known to LLVM, unless Numba has."""
    for name, address in own_symbols().items():
        if llvm.address_of_symbol(name) is None:
            llvm.add_symbol(name, address)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def read_library() -> Library | None:
    """The library on disk; None if there is none for this process, or it is damaged."""
    path = library_path()
    found = unpack(stamp(), read_own(path) or b"")
    if found is None:
        log(f"no library of eager kernels ({path})")
        return None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        return Library(json.loads(found[1]))
    except LibraryError as error:
        log(f"eager kernels: {error}")
        return None


@cache
def library() -> Library | None:
    """The library of this process, looked for once."""
    return read_library()
