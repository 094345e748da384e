"""What an allocator counts, under the names of torch.cuda.memory_stats.

>>> statistics = AllocatorStatistics()
>>> small, large = statistics.pools["small_pool"], statistics.pools["large_pool"]
>>> small.allocated.change(1, 512)
>>> large.allocated.change(1, 4096)
>>> small.allocated.change(-1, -512)
>>> figures = statistics.figures()
>>> [figures[f"allocated_bytes.all.{metric}"] for metric in ("current", "peak", "allocated", "freed")]
[4096, 4608, 4608, 512]
>>> figures["allocation.small_pool.current"], figures["allocation.large_pool.current"]
(0, 1)
"""

from __future__ import annotations

from typing import Literal

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
COUNTERS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free")


class Tally:
    """Pieces and bytes: how many there are, were at most, and came in all. `total` counts what its parts count."""

    __slots__ = ("before", "came_bytes", "came_pieces", "most_bytes", "most_pieces", "nbytes", "pieces", "total")

    def __init__(self, total: Tally | None = None) -> None:
        self.total = total
        self.pieces = self.nbytes = self.most_pieces = self.most_bytes = self.came_pieces = self.came_bytes = 0
        self.reset_accumulated()

    def change(self, pieces: int, nbytes: int) -> None:
        """So many more, or fewer. Written out, since each allocation comes here four times."""
        tally: Tally | None = self
        while tally is not None:
            tally.pieces += pieces
            tally.nbytes += nbytes
            if pieces > 0:
                tally.came_pieces += pieces
                if tally.pieces > tally.most_pieces:
                    tally.most_pieces = tally.pieces
            if nbytes > 0:
                tally.came_bytes += nbytes
                if tally.nbytes > tally.most_bytes:
                    tally.most_bytes = tally.nbytes
            tally = tally.total

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

    def figures(self) -> dict[str, int]:
        """All of it, sorted by name."""
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
        for tally in self._tallies():
            tally.reset_peaks()

    def reset_accumulated(self) -> None:
        """What came and went, and what is rare, is counted from now on."""
        for tally in self._tallies():
            tally.reset_accumulated()
        self.counters = dict.fromkeys(COUNTERS, 0)

    def _tallies(self) -> list[Tally]:
        return [tally for tallies in (self.all, *self.pools.values()) for tally in tallies.all()]
