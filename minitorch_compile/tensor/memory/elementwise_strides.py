"""How the result of an elementwise operation lies: in the order of its operands, where they agree on one.

>>> elementwise_strides((2, 3), [((2, 3), (1, 2))])  # of a transposed matrix, the result is transposed, too
(1, 2)
>>> elementwise_strides((2, 3), [((2, 3), (3, 1)), ((2, 3), (1, 2))])  # the first operand counts
(3, 1)

Source: `TensorIterator::reorder_dimensions` of PyTorch's ATen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from minitorch_compile.tensor.memory.strides import (
    Ints,
    contiguous_strides,
    expand_strides,
    is_contiguous,
    is_dense,
    recalled,
)


def elementwise_strides(sizes: Ints, operands: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Ints:
    """The strides of a new pointwise result: dense, in the order of dimensions that the operands already have.

    `operands` are (sizes, strides) pairs, ((), ()) for a number; the first with an opinion decides. Source: PyTorch's
    TensorIterator, where operands of one shape are a case of their own (its "fast setup").
    """
    strides: Ints = recalled(_strides, sizes, tuple(operands))
    return strides


@lru_cache(maxsize=4096)
def _strides(sizes: Ints, operands: tuple[tuple[Sequence[int], Sequence[int]], ...]) -> Ints:
    if len(sizes) < 2 or all(tuple(strides) == contiguous_strides(tuple(shape)) for shape, strides in operands):
        return contiguous_strides(sizes)
    first = tuple(operands[0][1])
    if all(tuple(shape) == sizes for shape, _ in operands):
        if all(is_contiguous(sizes, strides) for _, strides in operands):
            return contiguous_strides(sizes)
        if all(tuple(strides) == first for _, strides in operands) and is_dense(sizes, first):
            return _last_channel_fastest(sizes, first)
    order = _fastest_first(sizes, [expand_strides(shape, strides, sizes) for shape, strides in operands])
    if order == list(range(len(sizes) - 1, -1, -1)):
        return contiguous_strides(sizes)
    result, step = [0] * len(sizes), 1
    for dim in order:
        result[dim] = step
        step *= sizes[dim]
    return tuple(result)


def _last_channel_fastest(sizes: Ints, strides: Ints) -> Ints:
    """The strides themselves, but those of size-1 dimensions as channels_last has them if that is how elements lie."""
    if len(sizes) == 4:
        step, last = 1, [0, 0, 0, 0]
        for dim in (1, 3, 2, 0):
            last[dim] = step
            step *= sizes[dim]
        if all(n == 1 or a == b for n, a, b in zip(sizes, strides, last, strict=True)):
            return tuple(last)
    return strides


def _fastest_first(sizes: Ints, operand_strides: Sequence[Ints]) -> list[int]:
    """Dimensions from the fastest to the slowest: insertion sort, since the comparison is only partial."""
    order = list(range(len(sizes) - 1, -1, -1))
    for i in range(1, len(order)):
        moving = i
        for j in range(i - 1, -1, -1):
            verdict = _compare_dims(order[j], order[moving], sizes, operand_strides)
            if verdict > 0:
                order[j], order[moving] = order[moving], order[j]
                moving = j
            elif verdict < 0:
                break
    return order


def _compare_dims(a: int, b: int, sizes: Ints, operand_strides: Sequence[Ints]) -> int:
    """-1 if dimension `a` is the faster one, 1 if `b` is, 0 if no operand can tell."""
    for strides in operand_strides:
        if strides[a] == 0 or strides[b] == 0:
            continue
        if strides[a] != strides[b]:
            return -1 if strides[a] < strides[b] else 1
        if sizes[a] > sizes[b]:
            return 1
    return 0
