"""Which strides show the memory of a tensor under other sizes, and which of its elements a slice shows.

All in integers, as in `strides.py`; none of it touches data.

>>> view_strides((2, 3, 4), (12, 4, 1), (6, 4))
(4, 1)
>>> view_strides((4, 3), (1, 4), (12,)) is None   # a transpose can't be flattened without a copy
True
>>> infer_sizes((2, -1), 6)
(2, 3)
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.symbolic import SymInt, expect_at_most, expect_equal, is_unbacked
from minitorch_compile.tensor.memory.strides import Ints, contiguous_strides, is_contiguous, is_dense, numel


def infer_sizes(sizes: Sequence[int], count: int) -> Ints:
    """`sizes` with a single -1 replaced so that they hold `count` elements. RuntimeError if they can't."""
    unknown = [dim for dim, size in enumerate(sizes) if size == -1]
    if len(unknown) > 1:
        raise RuntimeError(f"only one dimension can be inferred, got sizes {list(sizes)}")
    known = numel(size for size in sizes if size != -1)
    if any(size < -1 for size in sizes):
        raise RuntimeError(f"invalid shape dimension in {list(sizes)}: sizes are >= 0, or -1 once")
    if unknown and known == 0:
        raise RuntimeError(
            f"cannot reshape tensor of {count} elements into shape {list(sizes)}: the size of -1 is ambiguous"
        )
    fits = (expect_equal(count % known, 0) if unknown else expect_equal(count, known)) if known else not count
    if not fits:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")
    return tuple(count // known if size == -1 else size for size in sizes)


def clipped_range(start: int | None, end: int | None, size: int) -> tuple[int, int]:
    """What slice(start, end) means for a size: both ends counted from the front and clipped, as Python does.

    >>> clipped_range(-2, None, 5), clipped_range(1, 9, 5)
    ((3, 5), (1, 5))
    """
    if not isinstance(size, SymInt) and not isinstance(start, SymInt) and not isinstance(end, SymInt):
        return slice(start, end).indices(size)[:2]
    return _clipped(0 if start is None else start, size), _clipped(size if end is None else end, size)


def _clipped(place: int, size: int) -> int:
    if place < 0:
        place = place + size
        return place if place >= 0 else 0
    return place if expect_at_most(place, size) else size


def view_strides(sizes: Ints, strides: Ints, target: Ints) -> Ints | None:
    """Strides that read the same memory in the same order under the `target` sizes, or None if no strides can.

    The old dimensions fall into *chunks* that are contiguous among themselves; each chunk must be filled exactly by a
    run of new dimensions. Source: PyTorch's at::detail::computeStride.
    """
    if 0 in sizes:
        return strides if sizes == target else contiguous_strides(target)
    if any(map(is_unbacked, (*sizes, *target))) and is_contiguous(sizes, strides):
        return contiguous_strides(target)
    result = [0] * len(target)
    new_dim = len(target) - 1
    step = strides[-1] if strides else 1
    chunk, filled = 1, 1
    for dim in range(len(sizes) - 1, -1, -1):
        chunk *= sizes[dim]
        ends = dim == 0 or (sizes[dim - 1] != 1 and strides[dim - 1] != chunk * step)
        if not ends:
            continue
        while new_dim >= 0 and (filled < chunk or target[new_dim] == 1):
            result[new_dim] = filled * step
            filled *= target[new_dim]
            new_dim -= 1
        if filled != chunk:
            return None
        if dim > 0:
            step, chunk, filled = strides[dim - 1], 1, 1
    for dim in range(new_dim, -1, -1):  # only size-1 dimensions are left, in front (or the tensor is 0-d)
        result[dim] = filled * step
    return tuple(result)


def is_inside(window: tuple[Sequence[int], Sequence[int], int], sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a window (sizes, strides, first element counted from the tensor's own) has elements of the tensor only,
    all of which lie together.

    >>> [is_inside(((2,), (2,), first), (4,), (1,)) for first in (-1, 0, 1, 2)]
    [False, True, True, False]
    """
    lengths, steps, first = window
    last = first + sum((n - 1) * step for n, step in zip(lengths, steps, strict=True))
    inside = not numel(lengths) or (first >= 0 and last < numel(sizes))
    return bool(inside and is_dense(sizes, strides))
