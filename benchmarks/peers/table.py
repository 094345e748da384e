"""The page: a line for each row and number of threads, then means by category, and the rows that stay behind.

Ratios are PyTorch's over ours, so above 1 is ahead. First calls and peaks of memory stand in the line of the most
threads, on which they were measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.peers.measure import Measurement
from benchmarks.peers.process import LIBRARIES, OURS, THEIRS, Settings
from benchmarks.timing import readable

ENOUGH_WORK = 100e-6  # seconds; below that, a call of compiled code costs more than it can save
PEAKS = tuple(f"{library} {way}" for way in ("eager", "compiled") for library in LIBRARIES)
A_PAGE = 2**12  # bytes; a peak of nothing is none that a ratio can be taken of


def titles(settings: Settings) -> list[str]:
    found = ["eager", "torch's", "ratio", "compiled", "torch's", "ratio", "over eager"]
    found += ["scaling", "torch's"] if several(settings) else []
    found += ["first call", "torch's"]
    found += ["warm", "torch's"] if settings.warm or settings.folder else []
    return found + (["eager MB", "torch's", "comp. MB", "torch's"] if settings.memory else [])


def several(settings: Settings) -> bool:
    """Whether one thread is compared with more."""
    return 1 in settings.threads and settings.most_threads > 1


def header(settings: Settings) -> str:
    """The names of the columns."""
    return f"{'row':<28}{'threads':>8}" + "".join(f"{title:>11}" for title in titles(settings))


def lines(measured: Measurement, settings: Settings) -> str:
    """The lines of one row, one for each number of threads."""
    if measured.problem:
        return f"{measured.row:<28}  {measured.problem}"
    return "\n".join(line(measured, threads, settings) for threads in sorted(settings.threads))


def line(measured: Measurement, threads: int, settings: Settings) -> str:
    cells: list[str] = []
    for way in ("eager", "compiled"):
        cells += [readable(measured.seconds(library, way, threads)) for library in LIBRARIES]
        cells += [f"{measured.ratio(way, threads):.2f}"]
    cells += [f"{measured.over_eager(threads):.2f}"]
    if several(settings):
        cells += [f"{measured.scaling(library, threads):.2f}" if threads > 1 else "" for library in LIBRARIES]
    if threads == settings.most_threads:
        for first in (measured.cold, *((measured.warm,) if settings.warm or settings.folder else ())):
            cells += [readable(first[library]) if library in first else "" for library in LIBRARIES]
        cells += [f"{measured.peak[each] / 1e6:.1f}" if measured.peak else "" for each in PEAKS if settings.memory]
    return f"{measured.row:<28}{threads:>8}" + "".join(f"{cell:>11}" for cell in cells)


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return float(np.exp(np.mean(np.log(values))))


def below_one(figures: Mapping[str, float]) -> str:
    """The rows whose figure is below 1, the lowest first."""
    low = sorted((figure, row) for row, figure in figures.items() if figure < 1)
    return ", ".join(f"{row} {figure:.2f}" for figure, row in low) or "none"


def summary(measured: Sequence[Measurement], settings: Settings) -> str:
    """Geometric means by category, and the rows that stay behind PyTorch or our own eager execution."""
    whole = [m for m in measured if not m.problem]
    parts = [means(whole, threads) for threads in sorted(settings.threads)] if whole else []
    if several(settings):
        most = settings.most_threads
        both = {m.row: (m.scaling(OURS, most), m.scaling(THEIRS, most)) for m in whole}
        parts.append(f"scaling less than PyTorch: {below_one({row: a / b for row, (a, b) in both.items()})}")
    cold = [m for m in whole if m.cold]
    if cold:
        later = [m.row for m in cold if m.cold[OURS] > m.cold[THEIRS]]
        parts.append(f"first call slower than torch.compile's: {', '.join(later) or 'none'}")
    for way in ("eager", "compiled"):
        ratios = {m.row: peak_ratio(m, way) for m in whole if m.peak}
        if ratios:
            parts.append(f"more memory than PyTorch, {way}: {below_one(ratios)}")
    return "\n\n".join(parts)


def peak_ratio(measured: Measurement, way: str) -> float:
    theirs, ours = (max(measured.peak[f"{library} {way}"], A_PAGE) for library in (THEIRS, OURS))
    return theirs / ours


def means(whole: Sequence[Measurement], threads: int) -> str:
    """What is said of one number of threads."""
    figures: dict[str, Callable[[Measurement], float]] = {
        "compiled": lambda m: m.ratio("compiled", threads),
        "eager": lambda m: m.ratio("eager", threads),
        "over eager": lambda m: m.over_eager(threads),
    }
    said = [f"{f'threads: {threads}; geometric means':<36}" + "".join(f"{name:>11}" for name in figures)]
    for category in dict.fromkeys(m.category for m in whole):
        rows = [m for m in whole if m.category == category]
        cells = [geometric_mean([figure(m) for m in rows]) for figure in figures.values()]
        said.append(f"{f'{category} ({len(rows)} rows)':<36}" + "".join(f"{cell:>11.2f}" for cell in cells))
    for way in ("compiled", "eager"):
        said.append(f"behind PyTorch, {way}: {below_one({m.row: m.ratio(way, threads) for m in whole})}")
    worth_it = {m.row: m.over_eager(threads) for m in whole if m.seconds(OURS, "eager", threads) > ENOUGH_WORK}
    said.append(f"compiled slower than eager: {below_one(worth_it)}")
    return "\n".join(said)
