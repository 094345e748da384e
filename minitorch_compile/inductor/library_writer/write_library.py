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
from minitorch_compile.inductor.kernels import convolution
from minitorch_compile.inductor.kernels.vector_tiles import tile_sizes
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


# The kernels that take a plan, each as a generated file defines it.
PLANNED = {name: f'convolution_kernel("{name}", "float32")' for name in convolution.KERNELS} | {
    "flash_attention": 'attention_kernel("float32", "float32")',
    "flash_attention_backward": 'attention_backward_kernel("float32", "float32")',
    "gather_along": 'gather_kernel("float32")',
    "scatter_along": 'scatter_kernel("float32")',
    "max_pool2d": 'max_pool_kernel("float32")',
    "max_pool2d_backward": 'max_pool_backward_kernel("float32")',
}

# Kernels that no compiled graph calls.
OF_NO_GRAPH = "from minitorch_compile.inductor.kernels.along_dimension import gather_kernel, scatter_kernel"


def source_of(kernels: Sequence[KernelSource], planned: Sequence[str] = ()) -> str:
    """A generated file with these kernels, and those of these names that take a plan."""
    texts = [wrapper.kernel_definition(f"{kernel.title}_{number}", kernel) for number, kernel in enumerate(kernels)]
    body = "\n\n\n".join([*texts, *(f"{name} = {PLANNED[name]}" for name in planned)])
    imports = f"{wrapper.imports_for(body)}\n{OF_NO_GRAPH}"
    head = wrapper.HEADER.format(schedule="the library of eager operations", imports=imports)
    return f"{head}\n\n{body}\n"


def compiled(source: str) -> dict[str, NativeFunction]:
    """The functions in a file by their names in it, and those that every call needs, all of them compiled."""
    module = code_cache.load(source)
    functions = {name: value for name, value in vars(module).items() if isinstance(value, NativeFunction)}
    functions |= {function.name: function for function in native_loop.thread_functions()}
    compile_pool.POOL.provide(source, list(functions.values()))
    functions["execute"] = BUILTINS["execute"]
    for function in functions.values():
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


def write_library(names: Iterable[str] = (*PROGRAMS, *PLANNED)) -> bool:
    """Whether a library of these programs and kernels was written."""
    names = list(names)
    programs = {name: open_program(name, PROGRAMS[name]) for name in names if name in PROGRAMS}
    planned = [name for name in names if name in PLANNED]
    functions = compiled(source_of(kernels_of(list(programs.values())), planned))
    data = {
        "functions": {function.name: [str(function.key), str(function.path)] for function in functions.values()},
        "recipes": {name: program.recipe for name, program in programs.items()},
        "planned": {name: functions[name].name for name in planned},
        "tiles": tile_sizes(),
    }
    return write_whole(library_path(), pack(stamp(), "library", json.dumps(data).encode()))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)  # nobody waits for it, and the user's own program runs beside it
    write_library()
