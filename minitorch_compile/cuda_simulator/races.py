"""Data races: two threads, one memory cell, at least one of them writes, and nothing between says who is first.

Each cell remembers who read and wrote it last, when, and on which line. What orders two accesses of a block is a
barrier between them, or for threads of a warp a `syncwarp` that both took part in. Blocks are not ordered; but what a
block wrote before a `threadfence` and an atomic may be read by a block that has made an atomic since. Atomics don't
race with each other, and two threads that write the same value don't disagree.

>>> place = Place("kernel.py", 3, "kernel", "s[0] = thread")
>>> races, cells, lanes = Races(width=32), Shadow(4), np.arange(2)
>>> races.begin_block(0)
>>> races.write(cells, np.array([0, 1]), lanes, place)                          # each thread a cell of its own
>>> races.read(cells, np.array([1, 0]), lanes, place)                           # and then its neighbour's
Race(first_is='writes', second_is='reads', first=1, second=0, position=0, line=...)
>>> races.barrier()
>>> races.read(cells, np.array([1, 0]), lanes, place)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator.faults import Place

NEVER = 0  # the clock begins at 1
WARP = 32


class Slot:
    """For each cell: which thread of the grid was there last, at which tick, on which line. Tick 0: nobody was."""

    def __init__(self, cells: int) -> None:
        self.thread, self.tick = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
        self.line = np.zeros(cells, np.int32)
        self.used = False  # whether anybody was anywhere

    def set(self, cells: np.ndarray, thread: np.ndarray, tick: int, line: int) -> None:
        self.thread[cells], self.tick[cells], self.line[cells] = thread, tick, line
        self.used = True


class Shadow:
    """What is known about cells of `grain` bytes: last write, last atomic, and two threads that read since."""

    def __init__(self, cells: int, grain: int = 1) -> None:
        self.grain = grain
        self.written, self.atomic = Slot(cells), Slot(cells)
        self.read, self.read_too = Slot(cells), Slot(cells)

    def unwritten(self, cells: np.ndarray) -> np.ndarray:
        """Whether nobody has written these cells."""
        return (self.written.tick[cells] == 0) & (self.atomic.tick[cells] == 0)


@dataclass
class Race:
    """Two accesses, by the numbers of their threads in the grid; `position` is that of the second among the lanes."""

    first_is: str
    second_is: str
    first: int
    second: int
    position: int
    line: Place


@dataclass
class Races:
    """The clock of a launch, and who has waited for whom. `width` is the number of lanes of a block."""

    width: int
    tick: int = 0
    waited: int = 0  # when the block's threads last met at a barrier
    block: int = 0
    acquired: bool = False  # whether this block has made an atomic
    fenced: int = NEVER  # when this block made its last fence
    released: dict[int, int] = field(default_factory=dict)  # for each block: what is before it is seen by others
    lines: list[Place] = field(default_factory=list)
    numbers: dict[Place, int] = field(default_factory=dict)
    warp_waited: Any = None  # [warp, lane, other lane]: when the two last met at a syncwarp

    def begin_block(self, number: int) -> None:
        self.tick += 1
        self.block, self.waited, self.acquired, self.fenced = number, self.tick, False, NEVER
        self.warp_waited = np.full((self.width // WARP, WARP, WARP), NEVER, np.int64)

    # ------------------------------------------------------------------------------------------ what orders

    def barrier(self) -> None:
        """All threads of the block have met."""
        self.tick += 1
        self.waited = self.tick

    def warp_barrier(self, lanes: np.ndarray) -> None:
        """These lanes have met those of their own warp."""
        self.tick += 1
        present = np.zeros((self.width // WARP, WARP), bool)
        present[lanes // WARP, lanes % WARP] = True
        self.warp_waited[present[:, :, None] & present[:, None, :]] = self.tick

    def fence(self) -> None:
        self.tick += 1
        self.fenced = self.tick

    def signal(self) -> None:
        """The block has made an atomic: others see what was fenced before, and it sees what they have fenced."""
        self.acquired = True
        if self.fenced != NEVER:
            self.released[self.block] = self.fenced

    def unordered(self, slot: Slot, cells: np.ndarray, me: np.ndarray) -> np.ndarray:
        """Whether another thread's access in a slot may come before or after mine."""
        if not slot.used:
            return np.zeros(cells.shape, bool)
        thread, tick = slot.thread[cells], slot.tick[cells]
        here = (tick >= self.waited) & (thread != me)
        elsewhere = (thread < self.block * self.width) & (tick > 0)  # blocks run in the order of their numbers
        if here.any():
            mine, its = me % self.width, thread % self.width
            same_warp = here & (mine // WARP == its // WARP)
            met = self.warp_waited[mine // WARP, mine % WARP, its % WARP]
            here &= ~(same_warp & (met > tick))
        if elsewhere.any() and self.acquired:
            seen = np.array([self.released.get(int(block), NEVER) for block in thread // self.width])
            elsewhere &= ~(tick < seen)
        return here | elsewhere

    # ------------------------------------------------------------------------------------------ accesses

    def find(
        self, shadow: Shadow, slots: tuple[tuple[str, Slot], ...], cells: np.ndarray, me: np.ndarray, what: str
    ) -> Race | None:
        """The first access in these slots that collides with mine."""
        for first_is, slot in slots:
            if not slot.used:
                continue
            colliding = np.flatnonzero(self.unordered(slot, cells, me))
            if colliding.size:
                position = int(colliding[0])
                cell = cells[position]
                line = self.lines[slot.line[cell]]
                return Race(first_is, what, int(slot.thread[cell]), int(me[position]), position, line)
        return None

    def read(self, shadow: Shadow, cells: np.ndarray, lanes: np.ndarray, place: Place) -> Race | None:
        """Lanes read a cell each."""
        me, line = self.begin(lanes, place)
        race = self.find(shadow, (("writes", shadow.written), ("changes", shadow.atomic)), cells, me, "reads")
        first = shadow.read
        taken = (first.thread[cells] != me) & self.unordered(first, cells, me)
        first.set(cells[~taken], me[~taken], self.tick, line)
        # Of many that read now, one is kept in the first slot, another in the second.
        others = first.thread[cells] != me
        shadow.read_too.set(cells[others], me[others], self.tick, line)
        return race

    def write(
        self, shadow: Shadow, cells: np.ndarray, lanes: np.ndarray, place: Place, differs: Any = None
    ) -> Race | None:
        """Lanes write a cell each; `differs`: whether it is another value than the one that is there."""
        me, line = self.begin(lanes, place)
        readers = (("reads", shadow.read), ("reads", shadow.read_too), ("changes", shadow.atomic))
        race = self.find(shadow, readers, cells, me, "writes")
        if race is None:
            new = slice(None) if differs is None else np.flatnonzero(differs)
            race = self.find(shadow, (("writes", shadow.written),), cells[new], me[new], "writes")
            if race is not None and differs is not None:
                race.position = int(np.flatnonzero(differs)[race.position])
        shadow.written.set(cells, me, self.tick, line)
        return race

    def change(self, shadow: Shadow, cells: np.ndarray, lanes: np.ndarray, place: Place) -> Race | None:
        """Lanes read and write a cell each, as one step."""
        me, line = self.begin(lanes, place)
        slots = (("writes", shadow.written), ("reads", shadow.read), ("reads", shadow.read_too))
        race = self.find(shadow, slots, cells, me, "changes")
        shadow.atomic.set(cells, me, self.tick, line)
        return race

    def begin(self, lanes: np.ndarray, place: Place) -> tuple[np.ndarray, int]:
        """The numbers of lanes in the grid, and of the line; a new tick."""
        self.tick += 1
        if place not in self.numbers:
            self.numbers[place] = len(self.lines)
            self.lines.append(place)
        return self.block * self.width + lanes, self.numbers[place]
