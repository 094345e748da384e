"""The table: a line for each row, then means by category and what the rows have to reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.peers.measure import OURS, THEIRS, WAYS, Measurement, geometric_mean
from benchmarks.timing import readable

COLUMNS = ("eager", "compiled", "torch eager", "torch comp.", "ratio", "over eager")
FIRST_CALLS = ("first call", "torch's", "warm", "torch's")
ENOUGH_WORK = 100e-6  # seconds; below that, a call of compiled code costs more than it can save


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


def below_one(figures: Mapping[str, float]) -> str:
    """The rows whose figure is below 1, the lowest first."""
    low = sorted((figure, row) for row, figure in figures.items() if figure < 1)
    return ", ".join(f"{row} {figure:.2f}" for figure, row in low) or "none"


def summary(measured: Sequence[Measurement]) -> str:
    """Geometric means by category, and the rows that stay behind PyTorch or our own eager execution."""
    whole = [m for m in measured if not m.problem]
    lines = []
    for category in dict.fromkeys(m.category for m in whole):
        rows = [m for m in whole if m.category == category]
        ratio, over_eager = geometric_mean([m.ratio for m in rows]), geometric_mean([m.over_eager for m in rows])
        lines.append(f"{category + f' ({len(rows)} rows)':<28}{'geometric means':>48}{ratio:>12.2f}{over_eager:>12.2f}")
    lines.append(f"behind: {below_one({m.row: m.ratio for m in whole})}")
    worth_it = {m.row: m.over_eager for m in whole if m.calls[f"{OURS} eager"] > ENOUGH_WORK}
    lines.append(f"slower than eager: {below_one(worth_it)}")
    cold = [m for m in whole if m.cold]
    if cold:
        faster = sum(m.cold[OURS] <= m.cold[THEIRS] for m in cold)
        lines.append(f"first call not slower than torch.compile's: {faster} of {len(cold)} rows")
    return "\n".join(lines)
