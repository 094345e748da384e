"""Products of warpgroups in the simulator, each function alone: against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, int32

from minitorch_compile.cuda_simulator import simulate
from minitorch_compile.cuda_simulator.tensor_cores import LANES, place_in_a, place_in_sums
from minitorch_compile.inductor.codegen.cuda import warpgroups

COLUMNS, DEPTH = 16, 128
LINES = {"rows": (COLUMNS, DEPTH), "columns": (DEPTH, COLUMNS)}  # of the second factor, and what lies in each


def as_bits(x: np.ndarray, element: str) -> np.ndarray:
    """Numbers of two bytes, as their bits."""
    return x.astype(np.float16).view(np.uint16) if element == "float16" else (x.view(np.uint32) >> 16).astype(np.uint16)


def in_panels(lines: np.ndarray) -> np.ndarray:
    """Lines in panels of 64 numbers, chunks of 8 in the places that the hardware wants them at, as words."""
    count, width = lines.shape
    padded = np.zeros((count, -(-width // 64) * 64), np.uint16)
    padded[:, :width] = lines
    chunks = padded.reshape(count, -1, 8, 8).swapaxes(0, 1)  # panel, line, chunk, number
    at = np.arange(8) ^ np.arange(count)[:, None] % 8
    return np.take_along_axis(chunks, at[None, :, :, None], 2).reshape(-1).copy().view(np.int32)


def numbers(*sizes: int) -> np.ndarray:
    """Small whole ones, whose sums are exact."""
    return np.random.default_rng(sum(sizes)).integers(-8, 8, sizes).astype(np.float32)


def product_of(add: Any, finish: str, registers_of_a: int, sums: int, words: int) -> Any:
    """A kernel in which warpgroups multiply what lies in global memory, a register a word."""
    text = f"""
def kernel(a, b, c, out):
    shared, thread = cuda.shared.array({words}, int32, 1024), cuda.threadIdx.x
    for n in range(thread, {words}, cuda.blockDim.x):
        shared[n] = b[n]
    warpgroups.fence_copies()
    cuda.syncthreads()
    first = ({", ".join(f"a[{n}, thread]" for n in range(registers_of_a))})
    old = ({", ".join(f"c[{n}, thread]" for n in range(sums))})
    found = {finish}(add(old, first, shared, 0))
    for n in range({sums}):
        out[n, thread] = found[n]
"""
    from minitorch_compile.generated_source import function_from_source

    return function_from_source(text, "kernel", {"add": add, "cuda": cuda, "int32": int32, "warpgroups": warpgroups})


@pytest.mark.parametrize("element", ["float16", "bfloat16"])
@pytest.mark.parametrize("way", LINES)
@pytest.mark.parametrize("how, finish", [("add", ""), ("begin", "warpgroups.finish_0")])
def test_two_warpgroups_multiply_by_what_lies_in_panels(how: str, finish: str, way: str, element: str) -> None:
    a, b, c = numbers(128, DEPTH), numbers(*LINES[way]), numbers(128, COLUMNS)
    first = as_bits(a, element)
    place = place_in_a(LANES[:, None], np.arange(4)[:, None, None], np.arange(2), 2)
    of_a = [
        np.concatenate(
            [
                np.ascontiguousarray(first[16 * w : 16 * w + 16, k : k + 16][place]).view(np.int32)[..., 0]
                for w in range(8)
            ],
            1,
        )
        for k in range(0, DEPTH, 16)
    ]
    row, column = place_in_sums(LANES, np.arange(8)[:, None] % 4)
    column = column + 8 * (np.arange(8)[:, None] // 4)
    sums = lambda x: np.concatenate([x[16 * w : 16 * w + 16][row, column] for w in range(8)], 1)
    words = in_panels(as_bits(b, element))
    out = np.zeros((8, 256), np.float32)
    add = getattr(warpgroups, f"{how}_{way}_{element}")
    run = product_of(add, finish, DEPTH // 4, COLUMNS // 2, words.size)
    simulate(run)[1, 256](np.concatenate(of_a), words, sums(c).copy(), out)
    np.testing.assert_array_equal(out, sums(c + a @ (b.T if way == "rows" else b)))
