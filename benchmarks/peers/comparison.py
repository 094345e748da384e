"""Two runs beside each other: what became slower, what quicker, and what the runs differ in apart from that.

    python -m benchmarks.peers --compare build/peers/OLD.json build/peers/NEW.json

A time has changed if the medians differ by more than 5% and by more than the rounds of either run are spread: their
middle halves don't meet. First calls and peaks are measured once, so they have to differ by a quarter. If PyTorch's
own times have changed, the machine has, and ours are divided by that first.

>>> changed([1.0, 1.02, 1.01], [1.2, 1.21, 1.19]), changed([1.0, 1.3, 1.0], [1.1, 1.4, 1.2])
(1.188..., 1.0)
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.process import OURS, THEIRS
from benchmarks.peers.table import geometric_mean

BY_CHANCE = 1.05  # medians of unchanged code differ by that from run to run
ONCE = 1.25  # what is measured once

Run = dict[str, Any]


class Change(NamedTuple):
    """New over old, of one figure of a row."""

    factor: float
    row: str
    figure: str


def changed(old: Sequence[float], new: Sequence[float], machine: float = 1.0) -> float:
    """The new median over the old one, and over what the machine became slower by; 1 if that is by chance."""
    factor = statistics.median(new) / statistics.median(old) / machine
    (old_low, old_high), (new_low, new_high) = middle_half(old, machine), middle_half(new)
    meet = new_low <= old_high and old_low <= new_high
    return 1.0 if meet or 1 / BY_CHANCE < factor < BY_CHANCE else factor


def middle_half(rounds: Sequence[float], machine: float = 1.0) -> tuple[float, float]:
    """The lower and the upper quartile.

    >>> middle_half([5.0, 1.0, 2.0, 3.0, 4.0])
    (2.0, 4.0)
    """
    if len(rounds) < 2:
        return rounds[0] * machine, rounds[0] * machine
    low, _, high = statistics.quantiles(rounds, n=4, method="inclusive")
    return low * machine, high * machine


def compare_runs(old_file: str, new_file: str) -> tuple[str, bool]:
    """What to print, and whether anything of ours became slower or larger. ValueError if nothing is in both runs."""
    old, new = (json.loads(Path(name).read_text(encoding="utf-8")) for name in (old_file, new_file))
    pairs = [(before, after) for before, after in zip_rows(old, new) if not before["problem"] and not after["problem"]]
    if not pairs:
        raise ValueError(f"compare: no row was measured in both of {old_file} and {new_file}; run the same rows again")
    machine = machine_factors(pairs)
    changes = [change for before, after in pairs for change in changes_of(before, after, machine)]
    worse = sorted((c for c in changes if c.factor > 1), reverse=True)
    better = sorted(c for c in changes if c.factor < 1)
    broken = [after["row"] for before, after in zip_rows(old, new) if after["problem"] and not before["problem"]]
    said = [f"{len(pairs)} rows in both runs", *differences(old, new)]
    said += [f"PyTorch's own times on {threads} threads: {factor:.2f} of before" for threads, factor in machine.items()]
    said += [f"fails now: {row}" for row in broken]
    for title, found in (("worse", worse), ("better", better)):
        said.append(f"\n{title}: {len(found) or 'nothing'}")
        said += [f"  {change.factor:5.2f}  {change.row:<28}{change.figure}" for change in found]
    return "\n".join(said), bool(worse or broken)


def zip_rows(old: Run, new: Run) -> Iterator[tuple[Run, Run]]:
    before = {row["row"]: row for row in old["rows"]}
    return ((before[row["row"]], row) for row in new["rows"] if row["row"] in before)


def machine_factors(pairs: Sequence[tuple[Run, Run]]) -> dict[str, float]:
    """By how much PyTorch's medians changed in the mean, by number of threads; 1 where that may be chance."""
    found: dict[str, list[float]] = {}
    for before, after in pairs:
        for threads in before["turns"].keys() & after["turns"].keys():
            for way in (f"{THEIRS} eager", f"{THEIRS} compiled"):
                medians = [statistics.median(run["turns"][threads][way]) for run in (after, before)]
                found.setdefault(threads, []).append(medians[0] / medians[1])
    factors = {threads: geometric_mean(ratios) for threads, ratios in sorted(found.items())}
    return {threads: 1.0 if 1 / BY_CHANCE < factor < BY_CHANCE else factor for threads, factor in factors.items()}


def changes_of(before: Run, after: Run, machine: Mapping[str, float]) -> Iterator[Change]:
    """What has changed of ours in one row."""
    row = after["row"]
    for threads in sorted(before["turns"].keys() & after["turns"].keys()):
        for way in ("eager", "compiled"):
            old, new = (run["turns"][threads][f"{OURS} {way}"] for run in (before, after))
            yield Change(changed(old, new, machine[threads]), row, f"{way}, {threads} threads")
    firsts = (("cold", OURS, "first call"), ("warm", OURS, "first call, warm"))
    for kind, key, name in (*firsts, ("peak", f"{OURS} eager", "peak, eager"), ("peak", f"{OURS} compiled", "peak")):
        if key in before[kind] and key in after[kind] and min(before[kind][key], after[kind][key]) > 0:
            factor = after[kind][key] / before[kind][key]
            yield Change(1.0 if 1 / ONCE < factor < ONCE else factor, row, name)


def differences(old: Run, new: Run) -> Iterator[str]:
    """Versions and settings that aren't the same."""
    for part in sorted(old["versions"].keys() | new["versions"].keys()):
        before, after = (run["versions"].get(part, {}) for run in (old, new))
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name) and name != "date":
                yield f"{part} {name}: {before.get(name)} before, {after.get(name)} now"
