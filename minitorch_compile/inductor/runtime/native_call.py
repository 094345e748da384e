"""A whole graph as one native call: a list of kernels and what to pass to each, walked by one small compiled loop.

The list is data, so making it costs nothing: only kernels have to be compiled. (A compiled function that calls the
kernels of a four-layer GPT one after the other would take as long to compile as the kernels themselves.)

An argument of a kernel is a number, a tuple of numbers (passed as a pointer to its words), or the name of an array.
Names of `tensors` are arrays that the caller passes; `temporaries` are places in one block of memory that lives during
the call. `Chunks` stand for the range [lo, hi) that a kernel's parameters begin with, where threads may share it out;
what only the kernel itself uses is a `Part` of "scratch", which each thread has for itself. What kernels that are
`InTurns` do, `call_steps.py` shows.

>>> from minitorch_compile.inductor.runtime.kernel_function import kernel
>>> @kernel("doctest_add", types.float64, types.float64, types.float64)
... def add(lo, hi, x, y, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + y[i]
>>> quadruple = NativeCall(
...     tensors=("x", "out"),
...     block=64,
...     temporaries={"double": ("float64", 0)},
...     steps=[
...         (add, 0, 3, "x", "x", "double"),
...         (add, Chunks(3, 2), "double", "double", "out"),
...     ],
... )
>>> x, out = np.arange(3.0), np.empty(3)
>>> quadruple((x, out)); out
array([0., 4., 8.])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba import config, types  # noqa: F401 (types: the example's)

from minitorch_compile.inductor.runtime import native_loop
from minitorch_compile.inductor.runtime.call_steps import CallStep, Chunks, InTurns, Part, ScratchBlock
from minitorch_compile.inductor.runtime.interpreted_call import interpret
from minitorch_compile.inductor.runtime.native_loop import (
    FIRST_TENSOR,
    IN_BLOCK,
    IN_LIST,
    IN_SCRATCH,
    IN_WINDOW,
    MOST_ARGUMENTS,
    NUMBER,
)
from minitorch_compile.inductor.runtime.object_layout import check_layout
from minitorch_compile.kernel_library.call_words import record_words

check_layout()


class NativeCall:
    """`call(arrays)` runs the steps; `arrays` are those that `tensors` names, contiguous, of the right dtypes.

    `scratch` is how many bytes each thread needs; `blas` says that there are matrix products among the kernels.
    """

    def __init__(
        self,
        tensors: Sequence[str],
        steps: Sequence[CallStep],
        block: int = 0,
        temporaries: Mapping[str, tuple[str, int]] | None = None,
        scratch: int = 0,
        blas: bool = False,
    ) -> None:
        self.tensors = tuple(tensors)
        self.steps = list(steps)
        self.block = block
        self.temporaries = dict(temporaries or {})
        self.scratch = scratch
        self.blas = blas

    def __call__(self, arrays: tuple[np.ndarray, ...]) -> None:
        native_loop.execute(self.address, id(arrays), native_loop.PARALLEL_ADDRESS)

    if config.DISABLE_JIT:

        def __call__(self, arrays: tuple[np.ndarray, ...]) -> None:
            interpret(self, arrays)

    # ------------------------------------------------------------------------------------------ as data

    @cached_property
    def address(self) -> int:
        """Where the list lies; asking for it compiles what isn't yet."""
        if self.uses_threads:
            native_loop.provide_threads()
        self.code = self.encoded()
        return int(self.code.ctypes.data)

    @property
    def uses_threads(self) -> bool:
        return any(isinstance(step, InTurns) or any(isinstance(a, Chunks) for a in step) for step in self.steps)

    @property
    def functions(self) -> list[Any]:
        """The native functions that the call needs."""
        kernels = [k for step in self.steps for k in (step.kernels if isinstance(step, InTurns) else (step,))]
        return [kernel[0] for kernel in kernels] + (native_loop.thread_functions() if self.uses_threads else [])

    def encoded(self) -> np.ndarray:
        """The list as integers, in the form that `native_loop` describes; tuples of numbers follow the steps."""
        words: list[int] = [len(self.steps), self.block, self.scratch, int(self.blas)]
        tuples: list[tuple[int, tuple[Any, ...]]] = []  # where a tuple is wanted, and which
        for step in self.steps:
            if isinstance(step, InTurns):
                words += [step.extent, step.length, len(step.kernels)]
                for function, extent, *arguments in step.kernels:
                    self.encode(words, tuples, function, extent, [0, extent, *arguments])
                continue
            function, *arguments = step
            chunks = arguments[0] if arguments and isinstance(arguments[0], Chunks) else None
            words += [*(chunks or (0, 0)), 1]
            arguments = [0, chunks.extent, *arguments[1:]] if chunks else arguments
            self.encode(words, tuples, function, chunks.extent if chunks else 0, arguments)
        for place, record in tuples:
            words[place] = 8 * len(words)
            words += record_words(record)
        return np.array(words, np.int64)

    def encode(self, words: list[int], tuples: list[Any], function: Any, extent: int, arguments: list[Any]) -> None:
        """One kernel: its address, how many arguments it takes, how far its range goes, the arguments."""
        if len(arguments) > MOST_ARGUMENTS:
            raise RuntimeError(f"NativeCall: {function} takes {len(arguments)} arguments, more than {MOST_ARGUMENTS}")
        words += [function.address, len(arguments), extent]
        for argument in arguments:
            if isinstance(argument, ScratchBlock):
                tuples.append((len(words) + 1, (argument.offset, argument.nbytes)))
            elif isinstance(argument, tuple) and not isinstance(argument, Part):
                tuples.append((len(words) + 1, argument))
            words += self.pair(argument)

    def pair(self, argument: Any) -> tuple[int, int]:
        """What the argument counts from, and how many bytes (or just how many) from there."""
        if isinstance(argument, Part):
            base, offset = self.pair(argument.name)
            return base, offset + argument.offset
        if isinstance(argument, ScratchBlock):
            return IN_WINDOW, 0
        if argument in self.temporaries:
            base, start = self.pair("block")
            return base, start + self.temporaries[argument][1]
        if argument == "scratch":
            return IN_SCRATCH, 0
        if isinstance(argument, str):
            known = argument in self.tensors  # the block may be one of them: the caller keeps it from call to call
            return (FIRST_TENSOR + self.tensors.index(argument), 0) if known else (IN_BLOCK, 0)
        return (IN_LIST, 0) if isinstance(argument, tuple) else (NUMBER, int(argument))
