"""The algebra of sizes and strides: what broadcasting and contiguity mean, in integers only.

A tensor's element `(i, j, ...)` lies at `offset + i * strides[0] + j * strides[1] + ...` in its storage. All functions
here are pure; none touches data.

>>> contiguous_strides((2, 3, 4))
(12, 4, 1)
>>> broadcast_sizes((3, 1), (4,))
(3, 4)
>>> expand_strides((3, 1), (1, 1), (3, 4))   # read again and again, for it stays where it is
(1, 0)
>>> is_contiguous((4, 3), (1, 4)), is_dense((4, 3), (1, 4))   # a transpose
(False, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from minitorch_compile.symbolic import expect_equal, is_unbacked

Ints = tuple[int, ...]


def numel(sizes: Iterable[int]) -> int:
    """How many elements a tensor of these sizes has; 1 for a 0-d tensor."""
    count = 1
    for size in sizes:
        count *= size
    return count


def contiguous_strides(sizes: Ints) -> Ints:
    """Row-major strides. A size-0 dimension counts as 1, as in PyTorch."""
    try:
        return _known_strides(sizes)
    except TypeError:  # what is asked of an unknown size must be asked again each time
        return _row_major_strides(sizes)


def _row_major_strides(sizes: Ints) -> Ints:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1) if type(size) is int or not is_unbacked(size) else size
    return tuple(reversed(strides))


_known_strides = lru_cache(maxsize=4096)(_row_major_strides)


def recalled(known: Any, *arguments: Any) -> Any:
    """What a rule on sizes says, which is made to remember by lru_cache; of an unknown size it is asked each time."""
    try:
        return known(*arguments)
    except TypeError:
        return known.__wrapped__(*arguments)


def is_contiguous(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements lie in row-major order without gaps; strides of size-1 dimensions don't matter."""
    if 0 in sizes:
        return True
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def is_dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements fill a stretch of storage exactly once, in some order of the dimensions."""
    if 0 in sizes:
        return True
    step = 1
    for stride, size in sorted((s, n) for n, s in zip(sizes, strides, strict=True) if n != 1):
        if stride != step:
            return False
        step *= size
    return True


def broadcast_sizes(*shapes: Sequence[int]) -> Ints:
    """The common sizes that all shapes expand to.

    RuntimeError if two sizes differ and neither is 1.
    """
    sizes: Ints = recalled(_common_sizes, *shapes)
    return sizes


@lru_cache(maxsize=4096)
def _common_sizes(*shapes: Sequence[int]) -> Ints:
    ndim = max((len(shape) for shape in shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for dim, size in reversed(list(enumerate(shape, ndim - len(shape)))):  # as PyTorch looks at them
            if size == 1:
                continue
            if result[dim] == 1:
                result[dim] = size
            elif not expect_equal(size, result[dim]):
                raise RuntimeError(
                    f"The size of tensor a ({result[dim]}) must match the size of tensor b ({size}) at"
                    f" non-singleton dimension {dim}"
                    f": the sizes {', '.join(str(list(s)) for s in shapes)} don't broadcast"
                )
    return tuple(result)


def expand_strides(sizes: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> Ints:
    """Strides under which a tensor reads as if it had the `target` sizes: 0 wherever a size-1 dimension is repeated."""
    lead = len(target) - len(sizes)
    expanded = [0] * lead
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        expanded.append(0 if size == 1 and target[lead + dim] != 1 else stride)
    return tuple(expanded)
