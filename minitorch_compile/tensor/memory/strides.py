"""The algebra of sizes and strides: what broadcasting, viewing and contiguity mean, in integers only.

A tensor's element `(i, j, ...)` lies at `offset + i * strides[0] + j * strides[1] + ...` in its storage. All functions
here are pure; none touches data.

>>> contiguous_strides((2, 3, 4))
(12, 4, 1)
>>> broadcast_sizes((3, 1), (4,))
(3, 4)
>>> view_strides((2, 3, 4), (12, 4, 1), (6, 4))
(4, 1)
>>> view_strides((4, 3), (1, 4), (12,)) is None   # a transpose can't be flattened without a copy
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import index

from minitorch_compile.symbolic import WHOLE, SymInt

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
        step *= max(size, 1)
    return tuple(reversed(strides))


_known_strides = lru_cache(maxsize=4096)(_row_major_strides)


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


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front. IndexError, in PyTorch's words, if there is no such dimension.

    A 0-d tensor accepts 0 and -1, as in PyTorch. TypeError for what is no integer.
    """
    if type(dim) is not int:
        dim = index(dim)
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim + limit if dim < 0 else dim


def wrap_dims(dim: int | Sequence[int] | None, ndim: int) -> Ints:
    """The dimensions that a reduction's `dim` names, sorted; None and an empty sequence mean all of them."""
    if dim is None:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, WHOLE) else (index(dim),) if hasattr(dim, "__index__") else tuple(dim)
    if not dims:
        return tuple(range(ndim))
    wrapped = [wrap_dim(d, ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"dim: each dimension may appear once, got {dims}")
    return tuple(sorted(wrapped)) if ndim else ()


def broadcast_sizes(*shapes: Sequence[int]) -> Ints:
    """The common sizes that all shapes expand to.

    RuntimeError if two sizes differ and neither is 1.
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for dim, size in enumerate(shape, ndim - len(shape)):
            if size != 1 and size != result[dim]:
                if result[dim] != 1:
                    raise RuntimeError(
                        f"The size of tensor a ({result[dim]}) must match the size of tensor b ({size}) at"
                        f" non-singleton dimension {dim}"
                        f": the sizes {', '.join(str(list(s)) for s in shapes)} don't broadcast"
                    )
                result[dim] = size
    return tuple(result)


def expand_strides(sizes: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> Ints:
    """Strides under which a tensor reads as if it had the `target` sizes: 0 wherever a size-1 dimension is repeated."""
    lead = len(target) - len(sizes)
    expanded = [0] * lead
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        expanded.append(0 if size == 1 and target[lead + dim] != 1 else stride)
    return tuple(expanded)


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
    if (count % known if unknown else count != known) if known else count:
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
    return size if place > size else place


def view_strides(sizes: Ints, strides: Ints, target: Ints) -> Ints | None:
    """Strides that read the same memory in the same order under the `target` sizes, or None if no strides can.

    The old dimensions fall into *chunks* that are contiguous among themselves; each chunk must be filled exactly by a
    run of new dimensions. Source: PyTorch's at::detail::computeStride.
    """
    if 0 in sizes:
        return strides if sizes == target else contiguous_strides(target)
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
