"""One row measured: two processes take turns, so that whatever else the machine does disturbs both alike.

Each library has a cache folder of its own, a copy of what `seeded` has left there: what a library makes once a machine
(PyTorch compiles headers and tries the processor's instructions for ten seconds) is no part of a row's first call.

On a GPU two processes take turns over all rows, since a process takes long to begin there; both make their first calls
at the same time.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.process import LIBRARIES, OURS, THEIRS, Pair, Settings, Worker, same

Way = tuple[str, str]
WAYS: tuple[Way, ...] = ((OURS, "eager"), (OURS, "compiled"), (THEIRS, "eager"), (THEIRS, "compiled"))
TOLERANCE = 1e-3  # of the norm of a result, between any two ways of computing it


@dataclass
class Measurement:
    """Seconds a call in each round, of the first calls with cold and warm caches, and peak bytes.

    `turns` has a list of rounds for each "library way" by the number of threads, as a text, which is what JSON has.
    """

    row: str
    category: str
    turns: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    cold: dict[str, float] = field(default_factory=dict)
    warm: dict[str, float] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)
    problem: str = ""

    def seconds(self, library: str, way: str, threads: int) -> float:
        """The median of a call's rounds."""
        return statistics.median(self.turns[str(threads)][f"{library} {way}"])

    def ratio(self, way: str, threads: int) -> float:
        """PyTorch's time over ours, both eager or both compiled: above 1 is ahead."""
        return self.seconds(THEIRS, way, threads) / self.seconds(OURS, way, threads)

    def over_eager(self, threads: int) -> float:
        """Our eager time over our compiled one."""
        return self.seconds(OURS, "eager", threads) / self.seconds(OURS, "compiled", threads)

    def scaling(self, library: str, threads: int) -> float:
        """A library's compiled time on one thread over that on these."""
        return self.seconds(library, "compiled", 1) / self.seconds(library, "compiled", threads)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def seeded(settings: Settings, row: str, folder: Path) -> Path:
    """The folder, after each library has compiled something small there. Any row will do."""
    pair = Pair(row, settings, folder)
    try:
        pair.ask_together(same("prepare"))
    finally:
        pair.close()
    return folder


def measure(row: str, category: str, settings: Settings, seed: Path) -> Measurement:
    """Measures one row; a library that fails, or a wrong result, becomes the measurement's `problem`."""
    result = Measurement(row, category)
    with tempfile.TemporaryDirectory(prefix="peers-") as own:
        cache = Path(settings.folder or Path(own, "caches"))
        if not settings.folder:
            shutil.copytree(seed, cache)
        try:
            pair = Pair(row, settings, cache)
            try:
                for threads in sorted(settings.threads, reverse=True):
                    pair.ask_together(same("open", row, threads))
                    take_turns(result, threads, pair, settings, Path(own))
                if settings.memory:
                    result.peak = peaks(pair)
            finally:
                pair.close()
            if settings.warm:
                result.warm = {library: first_compiled_call(library, row, settings, cache) for library in LIBRARIES}
        except (ChildProcessError, ArithmeticError) as error:
            result.problem = str(error)
    return result


def first_compiled_call(library: str, row: str, settings: Settings, cache: Path) -> float:
    worker = Worker(library, row, settings, cache)
    try:
        worker.answer()
        worker.ask("open", row, settings.most_threads)
        return worker.ask("first", "compiled", os.devnull)
    finally:
        worker.close()


def peaks(pair: Pair) -> dict[str, int]:
    """The bytes that each way takes at most, as "library way"."""
    found = {way: pair.ask_together(same("peak", way)) for way in ("eager", "compiled")}
    return {f"{library} {way}": bytes_ for way, both in found.items() for library, bytes_ in both.items()}


def measure_on_device(rows: Sequence[tuple[str, str]], settings: Settings, seed: Path) -> Iterator[Measurement]:
    """Measures rows, each a name and its category, by one pair of processes; by a new one after a process has ended."""
    cache, pair = Path(settings.folder or seed), None
    with tempfile.TemporaryDirectory(prefix="peers-") as own:
        for row, category in rows:
            result = Measurement(row, category)
            try:
                pair = pair or Pair(row, settings, cache)
                pair.ask_together(same("open", row, settings.most_threads))
                take_turns(result, settings.most_threads, pair, settings, Path(own))
            except ArithmeticError as error:
                result.problem = str(error)
            except ChildProcessError as error:
                result.problem = str(error)
                if pair:
                    pair.close()
                pair = None
            yield result
        if pair:
            pair.close()


def take_turns(result: Measurement, threads: int, pair: Pair, settings: Settings, outputs: Path) -> None:
    """Fills in turns, and first calls if they are the row's first. ArithmeticError if results differ."""
    files = {(library, way): str(outputs / f"{library} {way}.npz") for library, way in WAYS}
    compiled = first_calls("compiled", pair, files, alone=not result.turns and settings.device == "cpu")
    if not result.turns:
        (result.warm if settings.folder else result.cold).update(compiled)
    first_calls("eager", pair, files, alone=False)
    compare(files)
    counts = {(library, way): calls_a_turn(pair.ask(library, "estimate", way), settings) for library, way in WAYS}
    turns: dict[Way, list[float]] = {key: [] for key in WAYS}
    for _ in range(settings.rounds):
        for library, way in WAYS:
            time.sleep(0.002)  # until the threads of the other process have stopped waiting
            seconds = pair.ask(library, "time", way, counts[library, way], settings.clock)
            turns[library, way].append(float(f"{seconds:.4g}"))
    result.turns[str(threads)] = {" ".join(key): column for key, column in turns.items()}


def calls_a_turn(seconds: float, settings: Settings) -> int:
    return max(1, int(settings.seconds / seconds))


def first_calls(way: str, pair: Pair, files: Mapping[Way, str], alone: bool) -> dict[str, float]:
    """Seconds of each library's first call, made one after the other or together."""
    requests = {library: ("first", way, files[library, way]) for library in LIBRARIES}
    return pair.ask_in_turn(requests) if alone else pair.ask_together(requests)


def compare(files: Mapping[Way, str]) -> None:
    """ArithmeticError if two ways of computing a row have different results."""
    results = {key: list(np.load(file).values()) for key, file in files.items()}
    wanted = results[THEIRS, "eager"]
    for key, found in results.items():
        if len(found) != len(wanted):
            raise ArithmeticError(f"{' '.join(key)} has {len(found)} results, expected {len(wanted)}")
        error = max(map(distance, found, wanted))
        if not error < TOLERANCE:
            raise ArithmeticError(f"{' '.join(key)} is {error:.1e} away from {THEIRS} eager")


def distance(found: np.ndarray, wanted: np.ndarray) -> float:
    """The norm of the difference, relative to what is wanted.

    >>> distance(np.array([3.0, 4.0]), np.array([3.0, 4.5])) < 0.1
    True
    """
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return float("inf")
    difference = np.linalg.norm(found.astype(np.float64).ravel() - wanted.astype(np.float64).ravel())
    return float(difference / (np.linalg.norm(wanted.astype(np.float64).ravel()) + 1e-6))
