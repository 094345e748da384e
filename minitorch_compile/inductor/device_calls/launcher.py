"""Who compiles the text of a kernel, and launches it: a GPU by way of Numba, or the simulator.

A kernel is a Python function over pointers, sizes and numbers; its text is what it is known by. What stays the same
from call to call is said once, when a launch is prepared.

>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> driver = FakeDriver()
>>> memory = driver.allocate(0, 8)
>>> text = "def kernel(out, n):\\n    for i in range(cuda.grid(1), n, cuda.gridsize(1)):\\n        out[i] = i * i"
>>> kernel = SimulatedLauncher(driver).compile(text, "kernel", ["int32", SIZE])
>>> launch = kernel(1, [(2, np.dtype(np.int32))], [2])
>>> launch([memory], StreamHandle(0))
>>> driver.bytes_at(memory, 8).view(np.int32).tolist()
[0, 1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.codegen.shared.kernel_source import BlockShape
from minitorch_compile.inductor.lowering.half_precision import HALF
from minitorch_compile.tensor.numerics.dtype import bool_, dtype

# Among the kinds of parameters, which are else the dtype names of pointers, "float32[]" for a pointer that is an array
# of Numba's, after all others, or "=float32" of numbers.
SIZE = "size"

HEADER = """\
import math

from numba import boolean, complex64, complex128, cuda, float32, float64
from numba import int8, int16, int32, int64, uint8, uint16, uint32

from minitorch_compile.inductor.codegen.cuda import (
    complex_functions,
    device_functions,
    half_floats,
    indices,
    philox,
    reductions,
    series,
    special_functions,
    vectors,
)

inf, nan, minus_nan, THREADS = math.inf, math.nan, -math.nan, {threads}


"""

Reach = tuple[int, np.dtype]  # how many elements a kernel may reach from a pointer, and what they are
Launch = Callable[..., None]  # of addresses for the pointers, a stream, and the open numbers if there are some
Row = Callable[[Sequence[int], StreamHandle], None]  # of the addresses in a call's memory
Kernel = Callable[[int, Sequence[Reach], Sequence[Any]], Launch]  # blocks, the pointers' reach, sizes and numbers


class Open(NamedTuple):
    """Stands for a number of a kernel that each launch is given: the one at this place among those of the call."""

    place: int


# What `compile` is asked for: text, name, kinds of parameters, and threads.
Request = tuple[str, str, Sequence[str], BlockShape]


class Launcher(Protocol):
    """What kernels are compiled and launched by. `threads` of a block, and `most_blocks` of a launch, or `all_blocks`
    where each has a piece of work of its own; whether the GPU multiplies by warpgroups (`codegen/cuda/warpgroups.py`).
    """

    threads: int
    has_warpgroups: bool
    most_blocks: int
    all_blocks: int

    def rewritten(self, text: str) -> str:
        """The text of a kernel of loops as it is compiled best."""

    def compile(self, text: str, name: str, parameters: Sequence[str], block: BlockShape = BlockShape()) -> Kernel:
        """A kernel from the text of its function, whose parameters are of these kinds, pointers first. One that takes
        a `status` has it last, a pointer for three int64. `block`: how many threads it has."""

    def is_kept(self, text: str, parameters: Sequence[str], block: BlockShape = BlockShape()) -> bool:
        """Whether a kernel is on disk, so that it needn't be compiled."""

    def compile_ahead(self, requests: Sequence[Request]) -> None:
        """Says which kernels will be asked for, so that several can be compiled at the same time."""

    def row(self, launches: Sequence[tuple[Launch, Sequence[int]]], places: int) -> Row:
        """What puts all launches of a call into a stream, in order: each with the places of its buffers among so many
        in the call's memory. None of them has open numbers."""


class SimulatedLauncher:
    """Runs kernels in the simulator, on the memory of a driver without a GPU."""

    threads, most_blocks, all_blocks = 32, 2, 2
    has_warpgroups = False

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    def rewritten(self, text: str) -> str:
        return text

    def compile(self, text: str, name: str, parameters: Sequence[str], block: BlockShape = BlockShape()) -> Kernel:
        from minitorch_compile.cuda_simulator import simulate

        threads = int(self.threads * block.times)
        function = function_from_source(HEADER.format(threads=threads) + text, name, {})
        kinds = [kind for kind in parameters if not is_pointer(kind)]

        def prepared(blocks: int, reaches: Sequence[Reach], numbers: Sequence[Any]) -> Launch:
            kernel = simulate(function)[blocks, threads, 0, block.shared]

            def launch(addresses: Sequence[int], stream: StreamHandle, given: Sequence[Any] = ()) -> None:
                filled = (given[number.place] if isinstance(number, Open) else number for number in numbers)
                values = [number_of(kind)(number) for kind, number in zip(kinds, filled, strict=True)]
                arrays = [self.array(address, *reach) for address, reach in zip(addresses, reaches, strict=True)]
                status = arrays[len(parameters) - len(kinds) - 1 :] if parameters[-1] == STATUS else []
                pointers = arrays[: len(arrays) - len(status)]
                self.driver.launch(lambda: _run(kernel, [*pointers, *values, *status]), stream)

            return launch

        return prepared

    def is_kept(self, text: str, parameters: Sequence[str], block: BlockShape = BlockShape()) -> bool:
        """Never: there is no machine code."""
        return False

    def compile_ahead(self, requests: Sequence[Request]) -> None:
        """Nothing: to compile takes no time here."""

    def row(self, launches: Sequence[tuple[Launch, Sequence[int]]], places: int) -> Row:
        """One after the other."""

        def run(memory: Sequence[int], stream: StreamHandle) -> None:
            for launch, used in launches:
                launch([memory[place] for place in used], stream)

        return run

    def array(self, address: int, length: int, element: np.dtype) -> np.ndarray:
        """The elements that a pointer reaches, as an array that is no part of another one."""
        memory: Any = memoryview(self.driver.bytes_at(address, length * element.itemsize))  # type: ignore[arg-type]
        return np.frombuffer(memory, element)


STATUS = "status"  # the kind of the last parameter, of a kernel that reads through indices


def is_pointer(kind: str) -> bool:
    return kind != SIZE and not kind.startswith("=")


def array_of(pointer: str) -> str:
    """The kind of a pointer whose elements are changed by atomic operations."""
    return f"{pointer}[]"


def is_array(kind: str) -> bool:
    return kind.endswith("[]") or kind == STATUS


def number_kind(kind: str) -> str:
    """The dtype name of a parameter that is no pointer."""
    return "int64" if kind == SIZE else kind.removeprefix("=")


def number_of(kind: str) -> Any:
    """What makes a number for a parameter of that kind."""
    return np.dtype(number_kind(kind)).type


def _run(kernel: Callable[..., Any], values: Sequence[Any]) -> None:
    kernel(*values)


def memory_dtype(element: dtype) -> np.dtype:
    """What elements are in memory, for kernels: truth values are bytes, floats of two bytes are bits."""
    if element is bool_:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16) if element in HALF else element.numpy
