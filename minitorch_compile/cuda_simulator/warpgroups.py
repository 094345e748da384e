"""Products of warpgroups in the simulator: the twins of `inductor/codegen/cuda/warpgroups.py`, which draws the panels.

>>> word_of(np.arange(3), np.array(8), lines=64).tolist()      # chunk 8 of lines 0, 1, 2: the first of panel 1
[2048, 2084, 2120]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.arithmetic import Value
from minitorch_compile.cuda_simulator.block import WARP
from minitorch_compile.cuda_simulator.intrinsics import Site, intrinsic
from minitorch_compile.cuda_simulator.memory import DeviceMemory
from minitorch_compile.cuda_simulator.tensor_cores import (
    LANES,
    OPERANDS,
    fragment_matrix,
    in_warps,
    place_in_a,
    place_in_sums,
    whole_warps,
)
from minitorch_compile.cuda_simulator.wide_access import read_wide

GROUP = 4 * WARP  # threads
CHUNK = 4  # words
PANEL = 8  # chunks of a line
DEPTH = 16


def word_of(line: Any, chunk: Any, lines: int) -> Any:
    """Where a chunk of a line begins, in panels of so many lines."""
    return CHUNK * (PANEL * (lines * (chunk // PANEL) + line) + (chunk % PANEL ^ line % PANEL))


def panels(at: Site, words: DeviceMemory, place: np.ndarray, lines: int, chunks: int) -> np.ndarray:
    """What lies from a place on, in words [line, word]; read by threads of one warpgroup, whose first is `at`'s."""
    line, chunk = (index.reshape(-1) for index in np.indices((lines, chunks)))
    readers = place[0] + line % GROUP
    found = read_wide(at.block, at.place, words, readers, place[1] + word_of(line, chunk, lines), CHUNK)
    return found.reshape(lines, chunks * CHUNK)


def product(name: str, by_rows: bool) -> Callable[..., Value]:
    read, _ = OPERANDS[name]

    def add(at: Site, sums: Value, a: Value, words: DeviceMemory, place: Value) -> Value:
        block, columns, depth = at.block, 2 * len(sums), DEPTH * len(a) // 4
        if block.width % GROUP:
            raise TypeError(f"a warpgroup has {GROUP} threads, the block {block.width}\n    {at.place}")
        whole_warps(at, f"a product of warpgroups of {name}")
        lines, chunks = (columns, depth // 8) if by_rows else (depth, columns // 8)
        steps = [fragment_matrix(name, block, a[n : n + 4], place_in_a, (16, DEPTH)) for n in range(0, len(a), 4)]
        first, starts = np.concatenate(steps, 2), block.vector(place).astype(np.int64)
        product = np.zeros((len(first), 16, columns))
        for thread in range(0, block.width, GROUP):
            found = panels(at, words, np.array([thread, starts[thread]]), lines, chunks)
            second = read(np.ascontiguousarray(found)).reshape(lines, -1).astype(np.float64)
            warps = slice(thread // WARP, (thread + GROUP) // WARP)
            product[warps] = first[warps] @ (second.T if by_rows else second)
        row, column = place_in_sums(LANES, np.arange(len(sums))[:, None] % 4)
        column = column + 8 * (np.arange(len(sums))[:, None] // 4)
        total = (product[:, row, column] + in_warps(block, sums)).astype(np.float32)
        return tuple(total[:, number].reshape(-1) for number in range(len(sums)))

    return add


for _name in ("bfloat16", "float16"):  # what is begun is done at once
    intrinsic(f"warpgroups.add_rows_{_name}", f"warpgroups.begin_rows_{_name}")(product(_name, by_rows=True))
    intrinsic(f"warpgroups.add_columns_{_name}", f"warpgroups.begin_columns_{_name}")(product(_name, by_rows=False))


@intrinsic("warpgroups.finish_0", "warpgroups.finish_1")
def finish(at: Site, sums: Value) -> Value:
    return sums


@intrinsic("warpgroups.fence_copies")
def fence_copies(at: Site) -> None:
    """Copies are seen by all who read shared memory: here there is but one way to it."""
