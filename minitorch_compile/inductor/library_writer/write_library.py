"""Writes the library of this machine: every program opened, compiled and kept.

    python -m minitorch_compile.inductor.library_writer.write_library

`make lab` starts it in the background, and so does the first process that would have used a library. Kernels that are
on disk are not compiled again.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Iterable, Sequence

from minitorch_compile.inductor.codegen.cpu import wrapper
from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource
from minitorch_compile.inductor.library_writer.open_program import kernels_of, open_program
from minitorch_compile.inductor.runtime import code_cache, compile_pool, native_loop
from minitorch_compile.inductor.runtime.builtin_function import BUILTINS
from minitorch_compile.inductor.runtime.cache_folder import write_whole
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction
from minitorch_compile.kernel_library.library import library_path, own_symbols
from minitorch_compile.kernel_library.object_files import pack
from minitorch_compile.kernel_library.programs import PROGRAMS
from minitorch_compile.kernel_library.stamp import stamp

# What names look like in an object file that the system's library doesn't have.
FOREIGN = re.compile(rb"(?<=\0)(?:Py\w+|_Py\w+|NRT_\w+|numba_\w+|minitorch_\w+|scipy\w+)(?=\0)")


def source_of(kernels: Sequence[KernelSource]) -> str:
    """A generated file with these kernels."""
    texts = [wrapper.kernel_definition(f"{kernel.title}_{number}", kernel) for number, kernel in enumerate(kernels)]
    body = "\n\n\n".join(texts)
    head = wrapper.HEADER.format(schedule="the library of eager operations", imports=wrapper.imports_for(body))
    return f"{head}\n\n{body}\n"


def compiled(source: str) -> list[NativeFunction]:
    """The functions in a file, and those that every call needs, all of them compiled."""
    module = code_cache.load(source)
    own = [value for value in vars(module).values() if isinstance(value, NativeFunction)]
    functions = [*own, *native_loop.thread_functions()]
    compile_pool.POOL.provide(source, functions)
    functions.append(BUILTINS["execute"])
    for function in functions:
        assert function.address  # compiled now, unless it was
        check_symbols(function)
    return functions


def check_symbols(function: NativeFunction) -> None:
    """RuntimeError if machine code calls something by a name that a process without Numba doesn't know."""
    assert function.path is not None
    unknown = {name.decode() for name in FOREIGN.findall(function.path.read_bytes())} - own_symbols().keys()
    unknown = {name for name in unknown if not name.startswith("Py") or not is_in_python(name)}
    if unknown:
        raise RuntimeError(f"write_library: {function.name} needs {', '.join(sorted(unknown))}")


def is_in_python(name: str) -> bool:
    """Whether the interpreter itself has this function or object."""
    return hasattr(ctypes.pythonapi, name)


def write_library(names: Iterable[str] = PROGRAMS) -> bool:
    """Whether a library of these programs was written."""
    programs = {name: open_program(name, PROGRAMS[name]) for name in names}
    functions = compiled(source_of(kernels_of(list(programs.values()))))
    data = {
        "functions": {function.name: [str(function.key), str(function.path)] for function in functions},
        "recipes": {name: program.recipe for name, program in programs.items()},
    }
    return write_whole(library_path(), pack(stamp(), "library", json.dumps(data).encode()))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # nobody waits for it, and the user's own program runs beside it
    write_library()
