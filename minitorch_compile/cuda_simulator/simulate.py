"""`simulate(kernel)[blocks, threads](*arrays)`: runs a kernel of numba.cuda, and says what it does wrong and costs.

>>> from minitorch_compile.cuda_simulator import cuda
>>> @cuda.jit
... def scale(out, x, factor):
...     i = cuda.grid(1)
...     if i < out.size:
...         out[i] = factor * x[i]
>>> x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
>>> run = simulate(scale, counts=True)[4, 32](out, x, np.float32(2))
>>> out[:4].tolist(), run.faults, run.counts.total.load_sectors, run.counts.of("if").divergent_branches
([0.0, 2.0, 4.0, 6.0], [], 13, 1)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value, is_number, typed
from minitorch_compile.cuda_simulator.block import Block, Launch, Size
from minitorch_compile.cuda_simulator.counts import Counts
from minitorch_compile.cuda_simulator.faults import Faults, KernelFault
from minitorch_compile.cuda_simulator.frame import run
from minitorch_compile.cuda_simulator.memory import global_memories
from minitorch_compile.cuda_simulator.source import Definition, plain_function

MOST_THREADS = 1024  # of a block


@dataclass
class Run:
    """What one launch did: the faults that were collected, and what was counted."""

    faults: list[KernelFault] = field(default_factory=list)
    counts: Counts | None = None


class SimulatedKernel:
    """A kernel that waits for the sizes of its grid in brackets: `kernel[blocks, threads, stream, shared_bytes]`."""

    def __init__(self, kernel: Any, collect: bool, counts: bool | Counts) -> None:
        self.py_func = plain_function(kernel)
        self.collect, self.counts = collect, counts

    def __getitem__(self, configuration: Any) -> Configured:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError(
                f"{self.py_func.__name__}: expected [blocks, threads], with a stream and the bytes of shared memory"
                f" after them if need be; got {configuration!r}"
            )
        blocks, threads = size_of("blocks", configuration[0]), size_of("threads", configuration[1])
        if not 1 <= np.prod(threads) <= MOST_THREADS:
            raise ValueError(f"{self.py_func.__name__}: a block has 1 to {MOST_THREADS} threads, got {threads}")
        return Configured(self, blocks, threads, int(configuration[3]) if len(configuration) == 4 else 0)

    def new_counts(self) -> Counts | None:
        """Where a launch counts."""
        return self.counts if isinstance(self.counts, Counts) else Counts() if self.counts else None

    def __call__(self, *_: Any) -> None:
        raise ValueError(f"{self.py_func.__name__}: a kernel is launched as kernel[blocks, threads](...)")


@dataclass
class Configured:
    """A kernel and the sizes of its grid: called, it runs block after block."""

    kernel: SimulatedKernel
    blocks: Size
    threads: Size
    shared_bytes: int

    def __call__(self, *arguments: Any) -> Run:
        kernel, function = self.kernel, self.kernel.py_func
        faults, counts = Faults(kernel.collect), kernel.new_counts()
        launch = Launch(self.blocks, self.threads, faults, counts, self.shared_bytes)
        values = on_device(Definition.of(function).names, arguments)
        with np.errstate(all="ignore"):
            for z, y, x in itertools.product(*(range(size) for size in reversed(self.blocks))):
                block = Block(launch, (x, y, z))
                run(function, block, values, {}, block.existing)
        return Run(faults.reported, counts)


def simulate(kernel: Any, *, collect: bool = False, counts: bool | Counts = False) -> SimulatedKernel:
    """A kernel that runs here. `kernel` is a Python function, or what a `cuda.jit` has made of it.

    A fault raises KernelFault; with `collect`, the kernel runs on, and the `Run` that a launch returns has them all.
    With `counts` it has what was counted on each line; given a `Counts`, launches add to that.
    """
    return SimulatedKernel(kernel, collect, counts)


def size_of(what: str, size: Any) -> Size:
    """The sizes of a grid or a block, from a number or a tuple."""
    sizes = tuple(size) if isinstance(size, Sequence) else (size,)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(s, (int, np.integer)) and s >= 1 for s in sizes):
        raise ValueError(f"{what}: expected one to three numbers of at least 1, got {size!r}")
    x, y, z = (*(int(s) for s in sizes), 1, 1)[:3]
    return x, y, z


def on_device(names: Sequence[str], arguments: Sequence[Any]) -> list[Value]:
    """A launch's arguments as values of kernels: arrays in global memory, numbers with types."""
    numbered = [*names, *(f"argument {number}" for number in range(len(names), len(arguments)))]
    arrays = {name: array for name, a in zip(numbered, arguments) if (array := array_of(a)) is not None}
    memories = global_memories(arrays)
    return [memories.get(name) or on_every_thread(name, argument) for name, argument in zip(numbered, arguments)]


def on_every_thread(name: str, argument: Any) -> Value:
    """A number, or a tuple of numbers, that all threads get."""
    if isinstance(argument, tuple):
        return tuple(on_every_thread(name, part) for part in argument)
    value = typed(argument)
    if not is_number(value):
        raise TypeError(f"{name}: a kernel takes arrays and numbers, got {argument!r}")
    return value


def array_of(argument: Any) -> np.ndarray | None:
    """The NumPy array that an argument is or wraps, without a copy; None for a number."""
    if isinstance(argument, np.ndarray):
        return argument
    if isinstance(argument, (np.generic, int, float, complex)) or not hasattr(argument, "__array_interface__"):
        return None
    return np.asarray(argument)
