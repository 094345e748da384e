"""Who last wrote each byte, and who has read it since.

Bytes with the same story are one cell. An access cuts the cells at its ends, and a write makes one cell of all that it
covers; so there are as many cells as there are different stories, however large the memory is.

>>> memory = ShadowMemory()
>>> def access(number, is_write):
...     return Access(Moment(StreamHandle(0), number), is_write, f"kernel {number}", StackSummary())
>>> memory.touch(0, 100, access(1, is_write=True))
[]
>>> [before.name for before in memory.touch(50, 60, access(2, is_write=False))]
['kernel 1']
>>> [before.name for before in memory.touch(40, 55, access(3, is_write=True))]
['kernel 1', 'kernel 2']
>>> [(cell.start, cell.end) for cell in memory.cells]
[(0, 40), (40, 55), (55, 60), (60, 100)]
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from traceback import StackSummary

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.vector_clocks import Moment


@dataclass(frozen=True, eq=False)
class Access:
    """A piece of work reads or writes memory. `stack`: where the program put it into its stream."""

    moment: Moment
    is_write: bool
    name: str
    stack: StackSummary


@dataclass
class Cell:
    """Bytes with the same story. Of the reads of one stream the last is enough: the others come before it."""

    start: int
    end: int
    write: Access | None = None
    reads: dict[StreamHandle, Access] = field(default_factory=dict)


class ShadowMemory:
    """The cells of all memory that was ever accessed, by address; they don't overlap."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []

    def touch(self, start: int, end: int, access: Access) -> list[Access]:
        """Notes the access. Earlier ones that must be over: for a read the last write, for a write also the reads."""
        first, last = self._cut(start, end)
        inside = self.cells[first:last]
        before = [cell.write for cell in inside if cell.write is not None]
        if access.is_write:
            before += [read for cell in inside for read in cell.reads.values()]
            self.cells[first:last] = [Cell(start, end, write=access)]
        else:
            self.cells[first:last] = _without_gaps(inside, start, end)
            for cell in self.cells[first : self._place(end)]:
                cell.reads[access.moment.stream] = access
        return list(dict.fromkeys(before))

    def forget(self, start: int, end: int) -> None:
        """The memory is no longer the program's."""
        first, last = self._cut(start, end)
        del self.cells[first:last]

    def _cut(self, start: int, end: int) -> tuple[int, int]:
        """Cuts the cells at both addresses; which lie between."""
        for address in (start, end):
            place = self._place(address)
            cell = self.cells[place - 1] if place else None
            if cell is not None and cell.start < address < cell.end:
                self.cells.insert(place, Cell(address, cell.end, cell.write, dict(cell.reads)))
                cell.end = address
        return self._place(start), self._place(end)

    def _place(self, address: int) -> int:
        """How many cells begin before the address."""
        return bisect_right(self.cells, address - 1, key=lambda cell: cell.start)


def _without_gaps(cells: list[Cell], start: int, end: int) -> list[Cell]:
    """The cells, and new ones where between start and end there is none."""
    filled, at = [], start
    for cell in cells:
        if at < cell.start:
            filled.append(Cell(at, cell.start))
        filled.append(cell)
        at = cell.end
    return filled if at == end else [*filled, Cell(at, end)]
