"""Elements picked, or put, by their places along one dimension.

Arrays are seen as (outer, places along the dimension, inner). `numbers`: how many places the dimension has, how many
are named along it, and the inner size; for scattering also whether it adds. A place that isn't there is left out, and
said in `wrong`: who called computes nothing then, but an error.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types

from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance


def gather_along(lo, hi, x, index, out, wrong, numbers):
    """For the outer places from lo up to hi, out[o, i, j] = x[o, index[o, i, j], j]."""
    length, count, inner = numbers[0], numbers[1], numbers[2]
    for o in range(lo, hi):
        source = advance(x, o * length * inner)
        for i in range(o * count, (o + 1) * count):
            for j in range(inner):
                place = index[i * inner + j]
                if place < 0 or place >= length:
                    wrong[0] = 1
                else:
                    out[i * inner + j] = source[place * inner + j]


def scatter_along(lo, hi, index, values, out, wrong, numbers):
    """For the outer places from lo up to hi, values[o, i, j] is stored at out[o, index[o, i, j], j], or added to it."""
    length, count, inner, adds = numbers[0], numbers[1], numbers[2], numbers[3]
    for o in range(lo, hi):
        target = advance(out, o * length * inner)
        for i in range(o * count, (o + 1) * count):
            for j in range(inner):
                place = index[i * inner + j]
                if place < 0 or place >= length:
                    wrong[0] = 1
                elif adds:
                    target[place * inner + j] += values[i * inner + j]
                else:
                    target[place * inner + j] = values[i * inner + j]


NUMBER, NUMBERS = types.int64, types.CPointer(types.int64)


@cache
def gather_kernel(element: str) -> Any:
    """The compiled kernel for one dtype; compiled when first asked for."""
    signature = types.void(NUMBER, NUMBER, pointer_to(element), NUMBERS, pointer_to(element), NUMBERS, NUMBERS)
    return native_function(f"gather_along_{element}", signature)(gather_along)


@cache
def scatter_kernel(element: str) -> Any:
    """The compiled kernel for one dtype; compiled when first asked for."""
    signature = types.void(NUMBER, NUMBER, NUMBERS, pointer_to(element), pointer_to(element), NUMBERS, NUMBERS)
    return native_function(f"scatter_along_{element}", signature)(scatter_along)


def pointer_to(element: str) -> Any:
    return types.CPointer(ELEMENTS[element])
