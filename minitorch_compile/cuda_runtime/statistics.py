"""What an allocator counts, under the names of torch.cuda.memory_stats.

What happens to blocks is noted, which is quick; thousands of notes are added up at once, when somebody asks.

>>> statistics = AllocatorStatistics()
>>> statistics.note(HANDED_OUT, "small_pool", 512, 500, 0, 0)
>>> statistics.note(HANDED_OUT, "large_pool", 4096, 4000, 0, 0)
>>> statistics.note(GIVEN_BACK, "small_pool", 512, 500, 0, 0)
>>> figures = statistics.figures()
>>> [figures[f"allocated_bytes.all.{metric}"] for metric in ("current", "peak", "allocated", "freed")]
[4096, 4608, 4608, 512]
>>> figures["allocation.small_pool.current"], figures["allocation.large_pool.current"]
(0, 1)
"""

from __future__ import annotations

from typing import Literal

import numpy as np

PoolName = Literal["small_pool", "large_pool"]

# Each kind is counted in pieces and in bytes, under these two names of PyTorch's.
NAMES = {
    "allocated": ("allocation", "allocated_bytes"),  # what the program holds
    "active": ("active", "active_bytes"),  # and what streams may still use after it was freed
    "segment": ("segment", "reserved_bytes"),  # what the driver has given
    "inactive_split": ("inactive_split", "inactive_split_bytes"),  # free parts of segments that are in use
    "requested": (None, "requested_bytes"),  # what the program holds, before rounding
}
METRICS = ("current", "peak", "allocated", "freed")
# PyTorch can be told not to split large blocks. We can't, so nothing is ever too large.
NEVER_TOO_LARGE = {
    "max_split_size": -1,
    **{f"oversize_{what}.{metric}": 0 for what in ("allocations", "segments") for metric in METRICS},
}
# What a note says of a block. What the program gives back, streams may still use; then it is reclaimed later.
HANDED_OUT, GIVEN_BACK, RECLAIMED, GIVEN_BACK_AND_RECLAIMED = 0, 1, 2, 3
SIGNS = {  # of what each of the four adds to a tally
    "allocated": np.array([1, -1, 0, -1]),
    "active": np.array([1, 0, -1, -1]),
    "requested": np.array([1, -1, 0, -1]),
}
FIELDS = 6  # of a note: what it says, the pool, bytes, bytes that were asked for, inactive pieces and their bytes
MOST_NOTES = 4096
COUNTERS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free")


class Tally:
    """Pieces and bytes: how many there are, were at most, and came in all. `total` counts what its parts count."""

    __slots__ = ("before", "came_bytes", "came_pieces", "most_bytes", "most_pieces", "nbytes", "pieces", "total")

    def __init__(self, total: Tally | None = None) -> None:
        self.total = total
        self.pieces = self.nbytes = self.most_pieces = self.most_bytes = self.came_pieces = self.came_bytes = 0
        self.reset_accumulated()

    def change(self, pieces: int, nbytes: int) -> None:
        """So many more, or fewer."""
        self.change_often(np.array([pieces]), np.array([nbytes]))
        if self.total is not None:
            self.total.change(pieces, nbytes)

    def change_often(self, pieces: np.ndarray, nbytes: np.ndarray) -> None:
        """So many changes, one after the other; the total is not told."""
        self.most_pieces = max(self.most_pieces, self.pieces + int(pieces.cumsum().max(initial=0)))
        self.most_bytes = max(self.most_bytes, self.nbytes + int(nbytes.cumsum().max(initial=0)))
        self.came_pieces += int(pieces[pieces > 0].sum())
        self.came_bytes += int(nbytes[nbytes > 0].sum())
        self.pieces += int(pieces.sum())
        self.nbytes += int(nbytes.sum())

    def come_and_go(self, pieces: int, nbytes: int) -> None:
        """So many came in the places of as many that went; the total is not told."""
        self.came_pieces += pieces
        self.came_bytes += nbytes

    def reset_peaks(self) -> None:
        self.most_pieces, self.most_bytes = self.pieces, self.nbytes

    def reset_accumulated(self) -> None:
        """What came and went is counted from now on."""
        self.before = [*self._came_and_gone()]

    def figures(self) -> list[dict[str, int]]:
        """PyTorch's four, of the pieces and of the bytes."""
        came, gone, came_bytes, gone_bytes = (now - then for now, then in zip(self._came_and_gone(), self.before))
        return [
            {"current": self.pieces, "peak": self.most_pieces, "allocated": came, "freed": gone},
            {"current": self.nbytes, "peak": self.most_bytes, "allocated": came_bytes, "freed": gone_bytes},
        ]

    def _came_and_gone(self) -> tuple[int, int, int, int]:
        gone = self.came_pieces - self.pieces, self.came_bytes - self.nbytes
        return self.came_pieces, gone[0], self.came_bytes, gone[1]


class PoolTallies:
    """A tally of each kind, for one pool or for all."""

    def __init__(self, total: PoolTallies | None = None) -> None:
        def tally(kind: str) -> Tally:
            return Tally(None if total is None else getattr(total, kind))

        self.allocated = tally("allocated")
        self.active = tally("active")
        self.segment = tally("segment")
        self.inactive_split = tally("inactive_split")
        self.requested = tally("requested")

    def all(self) -> list[Tally]:
        return [getattr(self, kind) for kind in NAMES]


class AllocatorStatistics:
    """Tallies for each pool and for all; and how often something rare happened."""

    def __init__(self) -> None:
        self.all = PoolTallies()
        self.pools: dict[PoolName, PoolTallies] = {
            "small_pool": PoolTallies(self.all),
            "large_pool": PoolTallies(self.all),
        }
        self.counters = dict.fromkeys(COUNTERS, 0)
        self._notes: list[int | str] = []  # one after the other, FIELDS each
        self._handed_on: dict[tuple[PoolName, int, int], int] = {}  # how often, by what `handed_on` is told

    def note(self, what: int, pool: PoolName, size: int, requested: int, pieces: int, inactive: int) -> None:
        """What happened to a block of `size` bytes; `requested` of them were asked for. `pieces`, `inactive`: how many
        inactive parts of segments there are more, and bytes in them."""
        notes = self._notes
        notes += what, pool, size, requested, pieces, inactive
        if len(notes) > MOST_NOTES * FIELDS:
            self.settle()

    def handed_on(self, pool: PoolName, size: int, requested: int) -> None:
        """A block was given back, and handed out for as much again: it changes nothing but what came and went."""
        key = pool, size, requested
        self._handed_on[key] = self._handed_on.get(key, 0) + 1

    def settle(self) -> None:
        """Adds up what was noted."""
        handed_on, self._handed_on = self._handed_on, {}
        for (pool, taken, asked), times in handed_on.items():
            for tallies in (self.all, self.pools[pool]):
                for kind, each in (("allocated", taken), ("active", taken), ("requested", asked)):
                    getattr(tallies, kind).come_and_go(times, times * each)
        notes, self._notes = self._notes, []
        what = np.array(notes[0::FIELDS], np.int64)
        size, requested, pieces, inactive = (np.array(notes[field::FIELDS], np.int64) for field in range(2, FIELDS))
        pools = np.array(notes[1::FIELDS], object)
        for name, tallies in (("all", self.all), *self.pools.items()):
            mine = slice(None) if name == "all" else pools == name
            for kind, nbytes in (("allocated", size), ("active", size), ("requested", requested)):
                signs = SIGNS[kind][what[mine]]
                getattr(tallies, kind).change_often(signs, signs * nbytes[mine])
            tallies.inactive_split.change_often(pieces[mine], inactive[mine])

    def figures(self) -> dict[str, int]:
        """All of it, sorted by name."""
        self.settle()
        figures = self.counters | NEVER_TOO_LARGE
        pools = [("all", self.all), *self.pools.items()]
        for pool, tallies in pools:
            for names, tally in zip(NAMES.values(), tallies.all()):
                for name, metrics in zip(names, tally.figures()):
                    if name:
                        figures |= {f"{name}.{pool}.{metric}": figure for metric, figure in metrics.items()}
        return dict(sorted(figures.items()))

    def reset_peaks(self) -> None:
        """From now on, a peak is one since now."""
        self.settle()
        for tally in self._tallies():
            tally.reset_peaks()

    def reset_accumulated(self) -> None:
        """What came and went, and what is rare, is counted from now on."""
        self.settle()
        for tally in self._tallies():
            tally.reset_accumulated()
        self.counters = dict.fromkeys(COUNTERS, 0)

    def _tallies(self) -> list[Tally]:
        return [tally for tallies in (self.all, *self.pools.values()) for tally in tallies.all()]
