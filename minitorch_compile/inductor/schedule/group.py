"""A group: loops that run as one kernel, over one set of axes.

Inside a group, an operation belongs either to every point or to every row (the kept axes only). A row's work falls into
*stages*, one inner loop each: what needs a finished reduction waits for the next stage. Softmax has three:

    for row:                    kept axes
        for column: maximum     stage 0
        for column: e, sum      stage 1, after the maximum
        for column: e / sum     stage 2, after the sum

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, total = Buffer.contiguous("x", (4, 8), float32), Buffer.contiguous("total", (4,), float32)
>>> out = Buffer.contiguous("out", (4, 8), float32)
>>> first = Group.of(Loop(total, (4, 8), lambda ops, at: ops.load(x, x.address(at)), (1,), "sum"))
>>> divide = lambda ops, at: ops.apply("div", ops.load(x, x.address(at)), ops.load(total, at[0]))
>>> first.fuse(Group.of(Loop(out, (4, 8), divide)))
Group(i0:4, r0:8 reduced; stage 0: total; stage 1: out)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import Access, Accesses, accesses_of
from minitorch_compile.inductor.ir.index import Index
from minitorch_compile.inductor.ir.iteration import (
    Axes,
    Position,
    count,
    kept,
    merge,
    own_axes,
    split_digits,
    unify,
    unify_with_kept,
)
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.ir.ordered_loops import Scan, Scatter


@dataclass(frozen=True)
class WhyNot:
    """Why two groups can't be, or weren't, fused."""

    reason: str


@dataclass(eq=False)
class Member:
    """A loop in a group: `position` gives its variables in terms of the group's axes."""

    loop: Loop
    accesses: Accesses
    position: Position
    inner: bool  # runs at every point of the group; else once a row

    @cached_property
    def _variables(self) -> dict[Index, Index]:
        pairs = zip(self.accesses.position, self.position)
        return {own: place for own, place in pairs if not own.is_constant}

    def in_group(self, index: Index) -> Index:
        """An index expression of the loop in terms of the group's axes."""
        return index.substitute(self._variables)

    @cached_property
    def reads(self) -> list[Access]:
        return [access._replace(address=self.in_group(access.address)) for access in self.accesses.reads]

    @cached_property
    def write(self) -> Access:
        (access,) = self.accesses.writes
        return access._replace(address=self.in_group(access.address))

    def moved(self, replacements: Mapping[Index, Index], inner: bool) -> Member:
        """The member after the group's axes were replaced."""
        position = tuple(part.substitute(replacements) for part in self.position)
        return Member(self.loop, self.accesses, position, inner)


class Group:
    """Fused loops over common axes, in an order in which each finds its inputs ready."""

    def __init__(self, axes: Axes, members: Iterable[Member]) -> None:
        self.axes = axes
        self.members = list(members)

    @staticmethod
    def of(loop: Loop) -> Group:
        """The group of one loop."""
        axes = own_axes(loop.sizes, loop.row_dims)
        accesses = accesses_of(loop)
        variables = iter(axis.variable for axis in axes)
        position = tuple(own if own.is_constant else next(variables) for own in accesses.position)
        return Group(axes, [Member(loop, accesses, position, inner=True)])

    # ------------------------------------------------------------------------------------------ what it touches

    @property
    def is_fusible(self) -> bool:
        """A scatter depends on the order of all its positions, and may write anywhere, so it stays alone."""
        return not any(isinstance(member.loop, Scatter) for member in self.members)

    @cached_property
    def has_scan(self) -> bool:
        return any(isinstance(member.loop, Scan) for member in self.members)

    @cached_property
    def outputs(self) -> list[Buffer]:
        return [member.loop.buffer for member in self.members]

    @cached_property
    def inputs(self) -> list[Buffer]:
        """The buffers that it reads and doesn't write itself."""
        read = dict.fromkeys(access.buffer for member in self.members for access in member.accesses.reads)
        return [buffer for buffer in read if buffer not in self.outputs]

    @cached_property
    def has_reduction(self) -> bool:
        return any(axis.reduced for axis in self.axes)

    @property
    def operations(self) -> int:
        return sum(member.accesses.operations + len(member.accesses.reads) for member in self.members)

    def writer(self, buffer: Buffer) -> Member | None:
        return next((member for member in self.members if member.loop.buffer is buffer), None)

    # ------------------------------------------------------------------------------------------ fusing

    def fuse(self, later: Group) -> Group | WhyNot:
        """One group that does the work of both; `later` may read what this one writes."""
        result = self._fuse_in_order(later)
        if isinstance(result, Group):
            return result
        first, second = self.in_memory_order(later), later.in_memory_order(self)
        if first is None or second is None:
            return result
        other = first._fuse_in_order(second)
        return other if isinstance(other, Group) else result

    def _fuse_in_order(self, later: Group) -> Group | WhyNot:
        common = _common_axes(self, later)
        if isinstance(common, WhyNot):
            return common
        axes, first, second = common
        members = [*first, *second]
        for member in second:
            for access in member.reads:
                writer = next((m for m in first if m.loop.buffer is access.buffer), None)
                if writer is not None and writer.write.address != access.address:
                    return WhyNot(f"{member.loop.buffer.name} reads {access} where {writer.write} is written")
        return Group(axes, members)

    def in_memory_order(self, other: Group) -> Group | None:
        """The same group with its axes sorted by how far apart they step in a buffer that both groups touch."""
        for buffer in [*other.inputs, *other.outputs]:
            address = self._address_in(buffer)
            if address is None or not address.is_affine:
                continue
            strides = [address.coefficient(axis.variable) for axis in self.axes]
            if all(stride > 0 for stride in strides) and not self.has_scan:
                order = sorted(range(len(self.axes)), key=lambda n: -strides[n])
                return Group(tuple(self.axes[n] for n in order), self.members)
        return None

    def _address_in(self, buffer: Buffer) -> Index | None:
        for member in self.members:
            for access in [*member.reads, member.write]:
                if access.buffer is buffer and member.inner:
                    return access.address
        return None

    # ------------------------------------------------------------------------------------------ after fusing

    def merged(self) -> Group:
        """The same group with as few axes as its accesses allow, and axes cut where that saves a division."""
        return self._replaced(*split_digits(self.axes, self.indices()))._merged()

    def _merged(self) -> Group:
        return self._replaced(*merge(self.axes, self.indices()))

    def indices(self) -> list[Index]:
        """Every index expression in the group, in terms of its axes."""
        return [member.in_group(index) for member in self.members for index in member.accesses.indices]

    def _replaced(self, axes: Axes, replacements: Mapping[Index, Index]) -> Group:
        return Group(axes, [member.moved(replacements, member.inner) for member in self.members])

    def stages(self, scans_are_loops: bool = True) -> list[int]:
        """For each member, the stage that it runs in; a member of a row runs before the inner loop of its stage.

        `scans_are_loops`: a running result is there after the loop of its stage, not at once.
        """
        stage_of: dict[Buffer, int] = {}
        ready: dict[Buffer, int] = {}
        for member in self.members:
            needed = [ready[access.buffer] for access in member.accesses.reads if access.buffer in ready]
            stage = max(needed, default=0)
            stage_of[member.loop.buffer] = stage
            waits = member.loop.is_reduction or (scans_are_loops and isinstance(member.loop, Scan))
            ready[member.loop.buffer] = stage + waits
        return list(stage_of.values())

    def __repr__(self) -> str:
        stages = self.stages()
        parts = [", ".join(map(repr, self.axes)) or "once"]
        for stage in range(max(stages) + 1):
            names = [member.loop.buffer.name for member, s in zip(self.members, stages) if s == stage]
            parts.append(f"stage {stage}: {', '.join(names)}")
        return f"Group({'; '.join(parts)})"


def _common_axes(first: Group, second: Group) -> tuple[Axes, list[Member], list[Member]] | WhyNot:
    """Common axes for two groups, and their members moved onto them."""
    if not (first.is_fusible and second.is_fusible):
        return WhyNot("a scatter runs in order, alone")
    if count(first.axes) == 0 or count(second.axes) == 0:
        return WhyNot("one of them has nothing to do")
    same = unify(first.axes, second.axes)
    if same is not None:
        axes, positions = same[0], same[1:]
        return axes, _move(first, positions[0], True), _move(second, positions[1], True)
    rows = _unify_rows(first, second)
    if rows is not None:
        return rows
    return WhyNot(f"their loops differ: {_describe(first)} and {_describe(second)}")


def _unify_rows(first: Group, second: Group) -> tuple[Axes, list[Member], list[Member]] | None:
    """The case that one group has a point for each row of the other."""
    if second.has_reduction and not first.has_reduction:
        found = unify_with_kept(first.axes, second.axes)
        if found is not None:
            return found[0], _move(first, found[1], False), _move(second, found[2], True)
    if first.has_reduction and not second.has_reduction:
        found = unify_with_kept(second.axes, first.axes)
        if found is not None:
            return found[0], _move(first, found[2], True), _move(second, found[1], False)
    return None


def _move(group: Group, position: Position, inner: bool) -> list[Member]:
    replacements = {axis.variable: place for axis, place in zip(group.axes, position)}
    return [member.moved(replacements, member.inner and inner) for member in group.members]


def _describe(group: Group) -> str:
    parts = [str([axis.size for axis in kept(group.axes)])]
    reduced = [axis.size for axis in group.axes if axis.reduced]
    return parts[0] + (f" reducing {reduced}" if reduced else "")
