"""The stride arithmetic that the checks take as the truth, written as directly as the lesson states it."""

from __future__ import annotations

import itertools

from minitorch_compile.tensor.memory.strides import numel

Ints = tuple[int, ...]


def row_major(sizes: Ints) -> Ints:
    return tuple(numel(max(size, 1) for size in sizes[dim + 1 :]) for dim in range(len(sizes)))


def visited(sizes: Ints, strides: Ints) -> list[int]:
    """The storage positions that a view reads, in reading order."""
    indices = itertools.product(*map(range, sizes))
    return [sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in indices]
