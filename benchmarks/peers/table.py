"""The table: a line for each row, then means by category and what the rows have to reach."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.measure import OURS, THEIRS, WAYS, Measurement, geometric_mean
from benchmarks.timing import readable

COLUMNS = ("eager", "compiled", "torch eager", "torch comp.", "ratio", "over eager")
FIRST_CALLS = ("first call", "torch's", "warm", "torch's")


def header(memory: bool) -> str:
    """The names of the columns; `ratio` is PyTorch's compiled time over ours, so above 1 is ahead."""
    titles = [*COLUMNS, *FIRST_CALLS, *(("peak MB", "torch's") if memory else ())]
    return f"{'row':<28}" + "".join(f"{title:>12}" for title in titles)


def line(measured: Measurement, memory: bool) -> str:
    """One line of the table."""
    if measured.problem:
        return f"{measured.row:<28}  {measured.problem}"
    cells = [readable(measured.calls[" ".join(way)]) for way in WAYS]
    cells += [f"{measured.ratio:.2f}", f"{measured.over_eager:.2f}"]
    for first in (measured.cold, measured.warm):
        cells += [readable(first[library]) if library in first else "" for library in (OURS, THEIRS)]
    if memory:
        cells += [f"{measured.peak[library] / 1e6:.1f}" if measured.peak else "" for library in (OURS, THEIRS)]
    return f"{measured.row:<28}" + "".join(f"{cell:>12}" for cell in cells)


def summary(measured: Sequence[Measurement]) -> str:
    """Geometric means by category, and the rows that stay behind."""
    whole = [m for m in measured if not m.problem]
    lines = []
    for category in dict.fromkeys(m.category for m in whole):
        rows = [m for m in whole if m.category == category]
        ratio, over_eager = geometric_mean([m.ratio for m in rows]), geometric_mean([m.over_eager for m in rows])
        lines.append(f"{category + f' ({len(rows)} rows)':<28}{'geometric means':>48}{ratio:>12.2f}{over_eager:>12.2f}")
    behind = sorted((m for m in whole if m.ratio < 1), key=lambda m: m.ratio)
    lines.append(f"behind: {', '.join(f'{m.row} {m.ratio:.2f}' for m in behind) or 'none'}")
    cold = [m for m in whole if m.cold]
    if cold:
        faster = sum(m.cold[OURS] <= m.cold[THEIRS] for m in cold)
        lines.append(f"first call not slower than torch.compile's: {faster} of {len(cold)} rows")
    return "\n".join(lines)
