"""A kernel that was written by hand for any sizes: it takes them as a plan.

The generator writes loops; what slides windows over images it calls (`inductor/kernels/`). Those kernels take all that
they are told as numbers, so one is for all sizes as it is. For each new kind of call the list of that one kernel is
made once, in some microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from minitorch_compile.kernel_library.call_words import FIRST_TENSOR, IN_SCRATCH, NUMBER, Step, planned_words
from minitorch_compile.kernel_library.chunk_lengths import SHORTEST
from minitorch_compile.kernel_library.tile_sizes import TileSizes

MOST_CALLS = 1024  # for which a list is remembered


class Plan(NamedTuple):
    """`numbers`: what the kernel is told. `arrays`: how many it takes. Its range goes up to `extent`, and takes about
    `nanoseconds`. `scratch`: the bytes of memory that a thread needs, if it takes any. `sizes`: what follows that, if
    it isn't told all by `numbers`. `shortest`: of what a thread is given at once, in nanoseconds."""

    numbers: Sequence[int]
    arrays: int
    extent: int
    nanoseconds: float
    scratch: int | None = None
    sizes: tuple[int, ...] = ()
    shortest: float = SHORTEST


class PlannedCall:
    """A kernel with its plan. `call(*arrays)` runs it: inputs, then results, in memory as the plan says."""

    def __init__(self, words: np.ndarray, execute: Callable[[int, int, int], None], parallel: int) -> None:
        self.words, self.execute, self.parallel = words, execute, parallel
        self.address: int = words.ctypes.data

    def __call__(self, *arrays: np.ndarray) -> None:
        self.execute(self.address, id(arrays), self.parallel)


class PlannedKernel:
    """A kernel whose machine code is at `address`, compiled for tiles of these sizes."""

    def __init__(self, address: int, tiles: TileSizes, execute: Callable[[int, int, int], None], parallel: int) -> None:
        self.address, self.tiles, self.execute, self.parallel = address, tiles, execute, parallel
        self.calls: dict[Hashable, PlannedCall | None] = {}

    def call(self, plan: Callable[..., Plan | None], *kind: Hashable) -> PlannedCall | None:
        """The call for what `plan(*kind, tiles)` says; None if that is None, and the kernel isn't for it."""
        try:
            return self.calls[kind]
        except KeyError:
            made = plan(*kind, self.tiles)
        if len(self.calls) >= MOST_CALLS:
            self.calls.clear()
        self.calls[kind] = found = None if made is None else self._planned(made)
        return found

    def _planned(self, plan: Plan) -> PlannedCall:
        arguments = [(FIRST_TENSOR + place, 0) for place in range(plan.arrays)]
        if plan.scratch is not None:
            arguments.append((IN_SCRATCH, 0))
        arguments += [(NUMBER, size) for size in plan.sizes]
        step = Step(self.address, plan.extent, plan.nanoseconds, arguments, plan.shortest)
        return PlannedCall(planned_words(step, plan.numbers, plan.scratch or 0), self.execute, self.parallel)
