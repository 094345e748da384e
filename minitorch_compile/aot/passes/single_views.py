"""Single views: what one view does to a layout, and which single views could lead from one layout to another.

>>> from minitorch_compile.tensor import empty_fake
>>> start = empty_fake((4, 6))
>>> goal = layout_after(ops.permute, ((1, 0),), start)
>>> list(single_views(start, goal, prims=False))
[('view', ((6, 4),)), ('permute', ((1, 0),)), ('expand', ((6, 4),))]

These are candidates; the caller tries them out, which is also the proof. For prims, whose views are spelled otherwise,
the ops of the same meaning are applied to row-major layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase

Candidate = tuple[str, tuple[Any, ...]]

# Views that show elements of another dtype, or elements more than once, are not looked into.
_PLAIN_VIEWS = frozenset(
    ("view", "expand", "permute", "transpose", "t", "squeeze", "unsqueeze", "select", "slice", "detach")
)


def layout_after(target: Any, arguments: Sequence[Any], x: TensorBase) -> TensorBase | None:
    """The fake that a view of the fake `x` gives, on the same memory. None where that can't be said, or fails."""
    prim = "prims" in getattr(target, "namespaces", ())
    rule = _PRIMS.get(target.name) if prim else target.meta if target.name in _PLAIN_VIEWS else None
    if rule is None:
        return None
    try:
        return rule(x, *arguments)
    except (RuntimeError, IndexError, ValueError):  # this layout can't be viewed so without a copy
        return None


def same_layout(a: TensorBase, b: TensorBase, prims: bool) -> bool:
    """Whether two layouts over the same memory show the same; to a caller of prims the strides of single rows don't."""
    if tuple(a.sizes) != tuple(b.sizes):
        return False
    if not prims:
        return a.strides == b.strides and a.offset == b.offset
    steps = lambda x: [s for n, s in zip(x.sizes, x.strides, strict=True) if n > 1]
    return numel(a.sizes) == 0 or (steps(a) == steps(b) and a.offset == b.offset)


# ---------------------------------------------------------------------------------------------- prims as ops


def _broadcast(x: TensorBase, sizes: Sequence[int], dims: Sequence[int]) -> Any:
    aligned = [1] * len(sizes)
    for size, dim in zip(x.sizes, dims, strict=True):
        aligned[dim] = size
    return ops.expand.meta(ops.view.meta(x, tuple(aligned)), tuple(sizes))


def _slice(x: TensorBase, starts: Sequence[int], limits: Sequence[int], steps: Sequence[int]) -> Any:
    for dim, (start, limit, step) in enumerate(zip(starts, limits, steps, strict=True)):
        x = ops.table["slice"].meta(x, dim, start, limit, step)
    return x


_PRIMS: dict[str, Any] = {
    "reshape": ops.view.meta,
    "transpose": ops.permute.meta,
    "squeeze": ops.squeeze.meta,
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
}


# ---------------------------------------------------------------------------------------------- candidates


def single_views(start: TensorBase, goal: TensorBase, prims: bool) -> Iterator[Candidate]:
    """Views, by name and further arguments, one of which leads from `start` to `goal` if a single view of ours does."""
    sizes = tuple(goal.sizes)
    if numel(start.sizes) == numel(sizes):
        yield "reshape" if prims else "view", (sizes,)
    if len(start.sizes) == len(sizes):
        order = _order(start, goal)
        if order is not None:
            yield "transpose" if prims else "permute", (order,)
        yield from _slices(start, goal, prims)
    if prims:
        dims = _broadcast_dims(start, goal)
        if dims is not None:
            yield "broadcast_in_dim", (sizes, dims)
    elif len(start.sizes) <= len(sizes):
        yield "expand", (sizes,)
    elif len(start.sizes) == len(sizes) + 1:
        yield from _selects(start, goal)


def _steps(x: TensorBase) -> list[tuple[int, int]]:
    return list(zip(x.sizes, x.strides, strict=True))


def _order(start: TensorBase, goal: TensorBase) -> tuple[int, ...] | None:
    """The dimension of `start` that each dimension of `goal` is; None if they are others."""
    free = dict(enumerate(_steps(start)))
    order = []
    for wanted in _steps(goal):
        found = next((dim for dim, have in free.items() if have == wanted), None)
        if found is None:
            return None
        order.append(found)
        del free[found]
    return tuple(order)


def _broadcast_dims(start: TensorBase, goal: TensorBase) -> tuple[int, ...] | None:
    """The dimensions of `goal` where those of `start` are found, in order and as far right as possible."""
    dims: list[int] = []
    place = len(goal.sizes) - 1
    for size, stride in reversed(_steps(start)):
        while place >= 0 and size > 1 and _steps(goal)[place] != (size, stride):
            place -= 1
        if place < 0:
            return None
        dims.insert(0, place)
        place -= 1
    return tuple(dims)


def _slices(start: TensorBase, goal: TensorBase, prims: bool) -> Iterator[Candidate]:
    """From where to where `goal` takes each dimension: all at once for prims, for ops if only one is cut."""
    if numel(goal.sizes) == 0:
        return
    offset, cuts = goal.offset - start.offset, {}
    for dim in sorted(range(len(goal.sizes)), key=lambda dim: -start.strides[dim]):
        size, stride = _steps(start)[dim]
        if stride == 0 or size == 1:
            cuts[dim] = (0, goal.sizes[dim], 1)
            continue
        first, offset = divmod(offset, stride)
        step = max(1, goal.strides[dim] // stride) if goal.sizes[dim] > 1 else 1
        cuts[dim] = (first, first + (goal.sizes[dim] - 1) * step + 1, step)
    starts, limits, steps = zip(*(cuts[dim] for dim in range(len(goal.sizes)))) if cuts else ((), (), ())
    if prims:
        yield "slice", (starts, limits, steps)
        return
    cut = [dim for dim, (first, limit, step) in cuts.items() if (first, limit, step) != (0, start.sizes[dim], 1)]
    if len(cut) == 1:
        yield "slice", (cut[0], *cuts[cut[0]])


def _selects(start: TensorBase, goal: TensorBase) -> Iterator[Candidate]:
    for dim, stride in enumerate(start.strides):
        rest = list(_steps(start))
        del rest[dim]
        if rest == _steps(goal):
            yield "select", (dim, (goal.offset - start.offset) // stride if stride else 0)
