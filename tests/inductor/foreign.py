"""Kernels compiled for a machine that this is not: generated, passed through LLVM's verifier, and assembled.

    python -m tests.inductor.foreign aarch64-unknown-linux-gnu generic float32 float64

Numba's code generator is replaced in the whole process, so everything that a kernel calls is compiled for that machine,
too, with the same passes. Nothing is run. The element types are those of the kernels that are written by hand. Prints a
line for each kernel: its name, the bytes of its object file, and how many of its lines work on whole vectors.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import caching, codegen
from numba.core.registry import cpu_target

from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.kernels import channels_last, convolution
from minitorch_compile.inductor.kernels.along_dimension import gather_kernel, scatter_kernel
from minitorch_compile.inductor.kernels.attention import attention_kernel
from minitorch_compile.inductor.kernels.attention_backward import attention_backward_kernel
from minitorch_compile.inductor.kernels.pooling import max_pool_backward_kernel, max_pool_kernel
from minitorch_compile.inductor.kernels.product_tiles import (
    batched_tiles_kernel,
    pack_panels_kernel,
    packed_product_kernel,
)
from minitorch_compile.inductor.kernels.winograd import winograd_kernel
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.machine import Machine, named, target_of, using
from minitorch_compile.inductor.runtime import code_cache, kernel_function
from minitorch_compile.inductor.runtime.blas import batched_product_kernel, product_kernel
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction
from minitorch_compile.inductor.runtime.native_loop import thread_functions
from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import PROGRAMS

# Of each way in which a kernel is written, one program at least.
GENERATED = [
    "every_unary_function", "every_unary_function_in_float64", "every_binary_function", "conversions",
    "float16_arithmetic", "bfloat16_arithmetic", "reductions_of_half_floats", "reductions_of_rows",
    "reductions_of_columns", "extremes_and_their_places", "transposes_in_tiles", "written_across_the_grain",
    "running_results_of_every_kind", "running_results_of_integers", "series_in_float32", "random_numbers", "padding",
    "storing_elements", "combining_where_values_meet", "layer_norm",
]  # fmt: skip
VECTOR_OF = {"aarch64": r"\bv\d+\.(4s|2d)\b", "x86_64": r"%zmm\d+"}  # what whole vectors are called in assembly


class ForeignLibrary(codegen.AOTCodeLibrary):
    """Numba asks where a kernel lies: nowhere."""

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class ForeignCode(codegen.AOTCPUCodegen):
    """Numba's code generator, with another target machine."""

    _library_class = ForeignLibrary

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._tm = target_of(machine.triple).create_target_machine(
            cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="default"
        )
        super().__init__("foreign")

    def _init(self, module: Any) -> None:
        self._tm_features = self.machine.features
        self._target_data = self._tm.target_data
        self._data_layout = str(self._target_data)
        self._loopvect, self._opt_level, self._engine = False, 0, None

    def _create_empty_module(self, name: str) -> Any:
        module = super()._create_empty_module(name)
        module.triple = self.machine.triple
        return module

    def set_env(self, name: str, environment: Any) -> None:
        """Where a function's globals lie is of no use to who doesn't run it."""

    def _get_host_cpu_name(self) -> str:
        return self.machine.cpu


def compiled(function: NativeFunction) -> tuple[bytes, str]:
    """A kernel's machine code and the same as text, made from what LLVM's verifier has passed."""
    library = function.compiled._library
    library._final_module.verify()
    return library.emit_native_object(), library.get_asm_str()


def generated_kernels() -> Iterator[NativeFunction]:
    """The kernels of the programs, and what starts threads for them."""
    for name in GENERATED:
        function, arrays = PROGRAMS[name]
        source = write_file(cpu_schedule(lower(record(function, tensors_of(arrays))))).source
        yield from code_cache.run_module(source, Path(f"<{name}>"), name).call.functions
    yield from thread_functions()


def extern_kernels(elements: list[str]) -> Iterator[NativeFunction]:
    """The kernels that are written by hand."""
    for element in elements:
        yield from (convolution.convolution_kernel(name, element) for name in convolution.KERNELS)
        yield from (channels_last.channels_last_kernel(name, element) for name in channels_last.KERNELS)
        yield from (pack_panels_kernel(element), packed_product_kernel(element), batched_tiles_kernel(element))
        yield from (product_kernel(element), batched_product_kernel(element))
        yield from (max_pool_kernel(element), max_pool_backward_kernel(element))
        yield from (gather_kernel(element), scatter_kernel(element))
        for mask in (element, "bool"):
            yield from (attention_kernel(element, mask), attention_backward_kernel(element, mask))
    yield winograd_kernel("float32")


def compile_for(machine: Machine, elements: list[str]) -> Iterator[tuple[str, bytes, str]]:
    """Each kernel's name, object file and assembly. The process compiles for that machine from then on."""
    cpu_target.target_context._internal_codegen = ForeignCode(machine)
    kernel_function.check_compiles_here = lambda: None  # Numba does compile for it now
    caching.Cache.load_overload = caching.Cache.save_overload = lambda *_: None  # what is kept would be for no one
    with using(machine):
        for function in dict.fromkeys([*generated_kernels(), *extern_kernels(elements)]):
            yield function.name, *compiled(function)


if __name__ == "__main__":
    triple, cpu, *elements = sys.argv[1:]
    vector = re.compile(VECTOR_OF[triple.partition("-")[0]])
    for name, code, text in compile_for(named(cpu, triple=triple), elements):
        assert any(section.size() for section in llvm.ObjectFileRef.from_data(code).sections()), name
        print(name, len(code), sum(bool(vector.search(line)) for line in text.splitlines()))
