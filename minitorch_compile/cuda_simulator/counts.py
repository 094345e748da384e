"""What a kernel costs, per source line, as the architecture counts it.

A warp is 32 threads that take each step together. Its access to global memory is one request, answered in sectors of
32 bytes: `ideal` is how many would hold the bytes if they lay side by side. Shared memory has 32 banks, each of which
gives one word of 4 bytes at a time: an access takes as many passes as the busiest bank has words to give.

>>> place, counts = Place("copy.py", 3, "copy", "out[i] = x[2 * i]"), Counts()
>>> lanes = np.arange(32)
>>> counts.access(place, "global", "load", lanes, lanes * 8, 4)
>>> line = counts.lines[place]
>>> line.load_requests, line.load_sectors, line.ideal_load_sectors
(1, 8, 4)
>>> counts.access(place, "shared", "load", lanes, lanes * 128, 4)
>>> line.shared_passes, line.bank_conflicts
(32, 31)
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, fields

import numpy as np

from minitorch_compile.cuda_simulator.faults import Place

WARP, SECTOR, BANKS, WORD = 32, 32, 32, 4
ADDRESS_BITS = 48


@dataclass
class LineCounts:
    """What was counted on one line; sums of them are those of a kernel."""

    warp_steps: int = 0  # how often a warp took a step here, and
    thread_steps: int = 0  # how many of its threads took part
    branches: int = 0  # how often a warp decided here, and
    divergent_branches: int = 0  # how often its threads decided differently
    load_requests: int = 0
    load_sectors: int = 0
    ideal_load_sectors: int = 0
    store_requests: int = 0
    store_sectors: int = 0
    ideal_store_sectors: int = 0
    atomic_requests: int = 0
    atomics: int = 0  # by threads
    shared_requests: int = 0
    shared_passes: int = 0
    bank_conflicts: int = 0  # passes beyond what the bytes need
    barriers: int = 0  # by blocks

    @property
    def efficiency(self) -> float:
        """The share of a warp's threads that take part in its steps."""
        return self.thread_steps / (WARP * self.warp_steps) if self.warp_steps else 1.0

    @property
    def coalescing(self) -> float:
        """Which share of the sectors would have been enough."""
        moved = self.load_sectors + self.store_sectors
        return (self.ideal_load_sectors + self.ideal_store_sectors) / moved if moved else 1.0

    def __add__(self, other: LineCounts) -> LineCounts:
        return LineCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(LineCounts)))


class Counts:
    """The counts of a launch. `lines` has those of each line, `total` their sum."""

    def __init__(self) -> None:
        self.lines: dict[Place, LineCounts] = {}

    @property
    def total(self) -> LineCounts:
        return sum(self.lines.values(), LineCounts())

    def at(self, line: int) -> LineCounts:
        """What was counted on lines of that number; those of several files together."""
        return sum((counts for place, counts in self.lines.items() if place.line == line), LineCounts())

    def of(self, text: str) -> LineCounts:
        """What was counted on lines that have this text in them."""
        return sum((counts for place, counts in self.lines.items() if text in place.text), LineCounts())

    def line(self, place: Place) -> LineCounts:
        return self.lines.setdefault(place, LineCounts())

    # ------------------------------------------------------------------------------------------ what happens

    def step(self, place: Place, active: np.ndarray) -> None:
        line = self.line(place)
        line.warp_steps += int(np.count_nonzero(active.reshape(-1, WARP).any(1)))
        line.thread_steps += int(np.count_nonzero(active))

    def branch(self, place: Place, active: np.ndarray, taken: np.ndarray) -> None:
        """Warps decide: of the active lanes, those of `taken` go one way."""
        line = self.line(place)
        some, others = (mask.reshape(-1, WARP).any(1) for mask in (taken, active & ~taken))
        line.branches += int(np.count_nonzero(some | others))
        line.divergent_branches += int(np.count_nonzero(some & others))

    def barrier(self, place: Place) -> None:
        self.line(place).barriers += 1

    def begin_block(self, number: int) -> None:
        """What follows is done by another block: for those who keep blocks apart (`recorder.py`)."""

    def access(
        self,
        place: Place,
        space: str,
        what: str,
        lanes: np.ndarray,
        addresses: np.ndarray,
        itemsize: int,
        array: str = "",
    ) -> None:
        """Lanes read or write `itemsize` bytes each, of an array that messages call `array`."""
        line = self.line(place)
        if space == "shared":
            requests, passes, needed = shared_passes(lanes, addresses, itemsize)
            line.shared_requests += requests
            line.shared_passes += passes
            line.bank_conflicts += passes - needed
        elif space == "global" and what == "atomic":
            line.atomic_requests += len(np.unique(lanes // WARP))
            line.atomics += len(lanes)
        elif space == "global":
            requests, sectors, ideal = global_sectors(lanes, addresses, itemsize)
            setattr(line, f"{what}_requests", getattr(line, f"{what}_requests") + requests)
            setattr(line, f"{what}_sectors", getattr(line, f"{what}_sectors") + sectors)
            setattr(line, f"ideal_{what}_sectors", getattr(line, f"ideal_{what}_sectors") + ideal)

    # ------------------------------------------------------------------------------------------ report

    def table(self) -> str:
        """The source with its counts, line by line, and their sum."""
        rows = [HEADINGS]
        for function, lines in self.functions().items():
            rows.append([""] * len(HEADINGS[:-1]) + [f"--- {function}"])
            rows += [[*cells(counts), f"{number:4} {text}"] for number, text, counts in lines]
        rows.append([*cells(self.total), "     all lines"])
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS) - 1)]
        return "\n".join(
            "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths)), row[-1]]).rstrip() for row in rows
        )

    def functions(self) -> dict[str, list[tuple[int, str, LineCounts | None]]]:
        """For each function that ran: its lines from first to last that was counted, with what was counted there."""
        groups: dict[tuple[str, str], dict[int, LineCounts]] = {}
        for place, counts in self.lines.items():
            groups.setdefault((place.file, place.function), {})[place.line] = counts
        result = {}
        for (file, function), counted in groups.items():
            text = linecache.getlines(file)
            known = {place.line: place.text for place in self.lines if place.file == file}
            result[function] = [
                (n, text[n - 1].rstrip() if n <= len(text) else known.get(n, ""), counted.get(n))
                for n in range(min(counted), max(counted) + 1)
            ]
        return result

    def __str__(self) -> str:
        return self.table()


HEADINGS = ["steps", "threads", "diverge", "sectors", "ideal", "passes", "conflicts", ""]


def cells(counts: LineCounts | None) -> list[str]:
    """The columns of the table for a line; nothing where nothing happened."""
    if counts is None:
        return [""] * (len(HEADINGS) - 1)
    sectors = counts.load_sectors + counts.store_sectors
    ideal = counts.ideal_load_sectors + counts.ideal_store_sectors
    return [
        str(counts.warp_steps),
        f"{counts.efficiency:.0%}",
        f"{counts.divergent_branches}/{counts.branches}" if counts.branches else "",
        str(sectors or ""),
        str(ideal or ""),
        str(counts.shared_passes or ""),
        str(counts.bank_conflicts) if counts.shared_passes else "",
    ]


def global_sectors(lanes: np.ndarray, addresses: np.ndarray, itemsize: int) -> tuple[int, int, int]:
    """(requests, sectors, sectors if the bytes lay side by side) of an access by warps."""
    warps = lanes // WARP
    first, last = addresses // SECTOR, (addresses + itemsize - 1) // SECTOR
    sectors = distinct(warps, first) if np.array_equal(first, last) else distinct(np.tile(warps, 2), np.r_[first, last])
    elements = np.bincount(distinct(warps, addresses) >> ADDRESS_BITS)
    return int(np.count_nonzero(elements)), sectors.size, int((-(-elements * itemsize // SECTOR)).sum())


def shared_passes(lanes: np.ndarray, addresses: np.ndarray, itemsize: int) -> tuple[int, int, int]:
    """(requests, passes, passes without conflicts). Wide elements come for half or a quarter of a warp at a time."""
    words_each = max(1, itemsize // WORD)
    groups = lanes // (WARP // words_each)
    words = (addresses[:, None] // WORD + np.arange(words_each)).reshape(-1)
    asked = distinct(np.repeat(groups, words_each), words)
    count = int(groups.max()) + 1
    per_bank = np.bincount((asked >> ADDRESS_BITS) * BANKS + asked % BANKS, minlength=count * BANKS)
    busiest = per_bank.reshape(count, BANKS).max(1)
    return np.unique(lanes // WARP).size, int(busiest.sum()), int(np.count_nonzero(busiest))


def distinct(groups: np.ndarray, addresses: np.ndarray) -> np.ndarray:
    """The different pairs of a group of lanes and an address, as one number each."""
    return np.unique((groups << ADDRESS_BITS) + addresses)
