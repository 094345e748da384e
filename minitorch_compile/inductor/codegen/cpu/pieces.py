"""Pointwise groups whose elements come from several regions: what is concatenated, stacked or padded.

Each axis is cut where a region ends, and each combination of pieces gets loops of its own, in which it is known where
the elements come from: no condition is left in them. For torch.cat([x, y]) of 100 and 200 elements:

    for i0 in range(100):  out0[i0] = in0[i0]
    for i0 in range(200):  out0[i0 + 100] = in1[i0]

>>> i = symbol("i", 300)
>>> cut(Axis(i, 300, False), [(i, 100), (i - 290, 0)])
[(0, 100), (100, 290), (290, 300)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from minitorch_compile.inductor.codegen.cpu.writer import CpuKernelWriter
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import AccessHandler
from minitorch_compile.inductor.ir.handler import Number
from minitorch_compile.inductor.ir.index import Index, index, symbol
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import LoopOrder
from minitorch_compile.tensor.numerics.dtype import dtype

MOST_PIECES = 32  # loops in one kernel; cuts of further axes are left to conditions
Bound = tuple[Index, int]
Pieces = dict[Axis, list[tuple[int, int]]]


class BoundHandler(AccessHandler):
    """Notes the numbers with which index expressions are compared: conditions of the form i >= a and i < b."""

    def __init__(self, group: Group) -> None:
        super().__init__(())
        self.bounds: list[Bound] = []
        for member in group.members:
            member.loop.run(self, member.position)

    def index_value(self, index: Index, dtype: dtype) -> object:  # type: ignore[override]
        return index

    def constant(self, value: Number, dtype: dtype) -> object:  # type: ignore[override]
        return value

    def apply(self, prim: str, *operands: object) -> object:  # type: ignore[override]
        if prim in ("ge", "lt") and isinstance(operands[0], Index) and type(operands[1]) is int:
            self.bounds.append((operands[0], operands[1]))
        return super().apply(prim)


def find_pieces(group: Group, order: LoopOrder) -> Pieces:
    """Into which ranges the axes of a pointwise group are cut; empty if there is nothing to cut, or it isn't one."""
    if order.reduced or order.square or order.columns or group.has_reduction or group.has_scan:
        return {}
    bounds = BoundHandler(group).bounds
    pieces: Pieces = {}
    for axis in reversed(order.rows):
        ranges = cut(axis, bounds)
        if len(ranges) > 1 and prod(map(len, pieces.values())) * len(ranges) <= MOST_PIECES:
            pieces[axis] = ranges
    return pieces


def cut(axis: Axis, bounds: Iterable[Bound]) -> list[tuple[int, int]]:
    """The ranges of an axis between the places where a comparison of its variable changes its answer."""
    places = {0, axis.size}
    for position, bound in bounds:
        sign = position.coefficient(axis.variable)
        if len(position.terms) == 1 and abs(sign) == 1:
            distance = bound - position.constant  # v >= distance, or -v >= distance, which ends at -distance
            places.add(distance if sign == 1 else 1 - distance)
    inside = sorted(place for place in places if 0 <= place <= axis.size)
    return list(zip(inside, inside[1:]))


class PieceWriter(CpuKernelWriter):
    """The loops of a pointwise group, once for each piece of each axis."""

    def __init__(
        self,
        group: Group,
        internal: frozenset[Buffer],
        shared: Mapping[Buffer, Buffer],
        order: LoopOrder,
        pieces: Pieces,
    ) -> None:
        super().__init__(group, internal, shared)
        self.order = order
        self.pieces = pieces

    def loops(self) -> None:
        self.unstored.update(member.loop.buffer for member, _ in self.internal_members())
        self.extent = self.order.rows[0].size
        self.walk(0, {})

    def walk(self, depth: int, places: dict[Index, Index]) -> None:
        """The axes from this one inwards, the outer ones being at `places`."""
        if depth == len(self.order.rows):
            for member in self.group.members:
                member.loop.run(self, [part.substitute(places) for part in member.position])
            return
        axis = self.order.rows[depth]
        for start, stop in self.pieces.get(axis, [(0, axis.size)]):
            if depth and stop - start == 1:
                self.walk(depth + 1, {**places, axis.variable: index(start)})
                continue
            variable = symbol(str(axis.variable), stop - start)
            text = self.size_text(stop - start) if depth else piece_of_range(start, stop, axis.size)
            self.enter(f"for {variable} in range({text}):", variable.symbols)
            self.walk(depth + 1, {**places, axis.variable: variable + start})
            self.leave()


def piece_of_range(start: int, stop: int, size: int) -> str:
    """What of the kernel's own range lies in a piece of the outermost axis, counted from the start of the piece.

    >>> piece_of_range(0, 9, 9), piece_of_range(3, 9, 9)
    ('lo, hi', 'max(lo, 3) - 3, hi - 3')
    """
    first = f"max(lo, {start}) - {start}" if start else "lo"
    last = "hi" if stop == size else f"min(hi, {stop})"
    return f"{first}, {last} - {start}" if start else f"{first}, {last}"
