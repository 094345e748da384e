"""Iteration spaces: how the loops of several operations are brought to a common set of axes.

A fused kernel has one list of axes; each operation in it finds its own loop variables as expressions of them. Two
spaces with the same number of points are *unified* by cutting both into the finest pieces that either needs, and
after fusing neighbouring axes are *merged* again wherever no access can tell them apart.

>>> rows_of_heads = own_axes((8, 4, 16), reduced=())       # batch, heads, channels of a head
>>> rows = own_axes((8, 64), reduced=(1,))                 # a sum over all channels
>>> axes, first, second = unify(rows_of_heads, rows)
>>> axes
(i0:8, r0:4 reduced, r1:16 reduced)
>>> second                                                 # where the variables of `rows` went
(i0, 16*r0 + r1)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from minitorch_compile.inductor.ir.index import ZERO, Digit, Index, flatten, symbol, unflatten

Position = tuple[Index, ...]


class Axis(NamedTuple):
    """One loop of a kernel: its variable, how often it runs, and whether it is reduced away."""

    variable: Index
    size: int
    reduced: bool

    def __repr__(self) -> str:
        return f"{self.variable}:{self.size}{' reduced' if self.reduced else ''}"


Axes = tuple[Axis, ...]


def make_axes(pieces: Iterable[tuple[int, bool]]) -> Axes:
    """Axes i0, i1, ... of these sizes (r0, r1, ... if reduced); a size of 1 needs no loop, so it is left out."""
    axes: list[Axis] = []
    for size, reduced in pieces:
        if size != 1:
            number = sum(axis.reduced == reduced for axis in axes)
            axes.append(Axis(symbol(f"{'r' if reduced else 'i'}{number}", size), size, reduced))
    return tuple(axes)


def own_axes(sizes: Sequence[int], reduced: Sequence[int]) -> Axes:
    """The axes of a loop that stands alone."""
    return make_axes((size, dim in reduced) for dim, size in enumerate(sizes))


def sizes_of(axes: Axes) -> tuple[int, ...]:
    return tuple(axis.size for axis in axes)


def count(axes: Axes) -> int:
    """How many points the axes span."""
    total = 1
    for axis in axes:
        total *= axis.size
    return total


def kept(axes: Axes) -> Axes:
    return tuple(axis for axis in axes if not axis.reduced)


def reduced(axes: Axes) -> Axes:
    return tuple(axis for axis in axes if axis.reduced)


# ------------------------------------------------------------------------------------------------ unify


def unify(first: Axes, second: Axes) -> tuple[Axes, Position, Position] | None:
    """Common axes, and the variables of each side in terms of them; None if no common axes exist.

    A side without reduced axes takes over which axes are reduced from the other.
    """
    if count(first) != count(second) or count(first) == 0:
        return None
    cuts = sorted(_boundaries(first) | _boundaries(second))
    if any(above % below for below, above in zip(cuts, cuts[1:])):
        return None
    flags = [_flags(axes, cuts) for axes in (first, second) if any(a.reduced for a in axes)]
    if len(flags) == 2 and flags[0] != flags[1]:
        return None
    marks = flags[0] if flags else [False] * (len(cuts) - 1)
    sizes = [above // below for below, above in zip(cuts, cuts[1:])]
    axes = make_axes(reversed(list(zip(sizes, marks))))
    flat = flatten([a.variable for a in axes], sizes_of(axes))
    return axes, unflatten(flat, sizes_of(first)), unflatten(flat, sizes_of(second))


def unify_with_kept(outer: Axes, full: Axes) -> tuple[Axes, Position, Position] | None:
    """Like `unify`, where `outer` runs once per row: over the kept axes of `full` only."""
    common = unify(outer, kept(full))
    if common is None:
        return None
    pieces: list[tuple[int, bool]] = []
    remaining = list(common[0])
    for axis in full:
        if axis.reduced:
            pieces.append((axis.size, True))
            continue
        left = axis.size
        while left > 1:
            piece = remaining.pop(0)
            pieces.append((piece.size, False))
            left //= piece.size
    axes = make_axes(pieces)
    row = flatten([a.variable for a in kept(axes)], sizes_of(kept(axes)))
    rows = iter(unflatten(row, sizes_of(kept(full))))
    columns = iter([a.variable for a in reduced(axes)])
    position = tuple(next(columns) if axis.reduced else next(rows) for axis in full)
    return axes, unflatten(row, sizes_of(outer)), position


def _boundaries(axes: Axes) -> set[int]:
    """The strides at which a row-major walk over the axes wraps around."""
    result, step = {1}, 1
    for axis in reversed(axes):
        step *= axis.size
        result.add(step)
    return result


def _flags(axes: Axes, cuts: Sequence[int]) -> list[bool]:
    """For each piece between two cuts, innermost first, whether the axis it belongs to is reduced."""
    result, step = [], 1
    pieces = list(zip(cuts, cuts[1:]))
    for axis in reversed(axes):
        result += [axis.reduced for below, _ in pieces if step <= below < step * axis.size]
        step *= axis.size
    return result


# ------------------------------------------------------------------------------------------------ split and merge


def split_digits(axes: Axes, indices: Iterable[Index]) -> tuple[Axes, dict[Index, Index]]:
    """Cuts axes whose digits are used, so that no division is left; returns what replaces the old variables.

    >>> i = symbol("i", 32)
    >>> split_digits((Axis(i, 32, False),), [100 * (i // 4) + i % 4])
    ((i0:8, i1:4), {i: 4*i0 + i1})
    """
    cuts: dict[Index, set[int]] = {axis.variable: {1, axis.size} for axis in axes}
    for digit in [atom for index in indices for atom, _ in index.terms if isinstance(atom, Digit)]:
        if digit.base in cuts:
            cuts[digit.base] |= {digit.divisor, digit.divisor * (digit.modulus or 1)}
    pieces = [_pieces(axis, sorted(cuts[axis.variable])) for axis in axes]
    result = make_axes((size, axis.reduced) for axis, sizes in zip(axes, pieces) for size in sizes)
    variables = iter(axis.variable for axis in result)
    replacements = {}
    for axis, sizes in zip(axes, pieces):
        parts = [next(variables) if size != 1 else ZERO for size in sizes]
        replacements[axis.variable] = flatten(parts, sizes)
    return result, replacements


def _pieces(axis: Axis, cuts: Sequence[int]) -> list[int]:
    """The sizes of the parts of an axis, outermost first; the whole axis if the cuts don't divide each other."""
    if axis.size == 0 or cuts[-1] != axis.size or any(above % below for below, above in zip(cuts, cuts[1:])):
        return [axis.size]
    return [above // below for below, above in zip(cuts, cuts[1:])][::-1]


def merge(axes: Axes, indices: Sequence[Index]) -> tuple[Axes, dict[Index, Index]]:
    """Joins neighbouring axes that every index expression steps through evenly; returns what replaces old variables.

    >>> i, j = symbol("i", 8), symbol("j", 4)
    >>> axes = (Axis(i, 8, False), Axis(j, 4, False))
    >>> merge(axes, [4 * i + j, 8 * i + 2 * j])
    ((i0:32,), {i: i0 // 4, j: i0 % 4})
    >>> merge(axes, [4 * i + j, i + 8 * j])[0]
    (i0:8, i1:4)
    """
    groups: list[list[Axis]] = []
    for axis in axes:
        if (
            groups
            and groups[-1][-1].reduced == axis.reduced
            and all(_steps_evenly(i, groups[-1][-1], axis) for i in indices)
        ):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    merged = make_axes([(count(tuple(group)), group[0].reduced) for group in groups])
    replacements: dict[Index, Index] = {}
    for axis, group in zip(merged, groups):
        parts = unflatten(axis.variable, [a.size for a in group])
        replacements |= {a.variable: part for a, part in zip(group, parts)}
    return merged, replacements


def _steps_evenly(index: Index, outer: Axis, inner: Axis) -> bool:
    """Whether one step of `outer` is as far as all the steps of `inner` together, wherever the two occur."""
    if not index.depends_on(outer.variable) and not index.depends_on(inner.variable):
        return True
    if index.coefficient(outer.variable) != index.coefficient(inner.variable) * inner.size:
        return False
    bases = [atom.base for atom, _ in index.terms if isinstance(atom, Digit)]
    return all(_steps_evenly(base, outer, inner) for base in bases)
