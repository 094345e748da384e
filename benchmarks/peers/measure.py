"""One row measured: two processes take turns, so that whatever else the machine does disturbs both alike.

Each library has a cache folder of its own, empty at first. A first process compiles the row; a second one compiles it
again with the folder as the first left it, and is the one that is timed.

On a GPU two processes take turns over all rows, since a process takes long to begin there; both make their first calls
at the same time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

OURS, THEIRS = "minitorch_compile", "torch"
WAYS = ((OURS, "eager"), (OURS, "compiled"), (THEIRS, "eager"), (THEIRS, "compiled"))
TOLERANCE = 1e-3  # of the norm of a result, between any two ways of computing it


@dataclass(frozen=True)
class Settings:
    """How to measure, and where. `folder` keeps the caches from run to run, so first calls are not measured then."""

    theirs: str
    threads: int = 1
    rounds: int = 9
    seconds: float = 0.02
    clock: str = "wall"
    folder: str = ""
    memory: bool = False
    device: str = "cpu"


@dataclass
class Measurement:
    """Seconds a call of each way, of the first calls with cold and warm caches, and peak bytes."""

    row: str
    category: str
    calls: dict[str, float] = field(default_factory=dict)
    cold: dict[str, float] = field(default_factory=dict)
    warm: dict[str, float] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def ratio(self) -> float:
        """PyTorch's compiled time over ours."""
        return self.calls[f"{THEIRS} compiled"] / self.calls[f"{OURS} compiled"]

    @property
    def over_eager(self) -> float:
        """Our eager time over our compiled one."""
        return self.calls[f"{OURS} eager"] / self.calls[f"{OURS} compiled"]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Worker:
    """The process of one library."""

    def __init__(self, library: str, row: str, settings: Settings, cache: Path) -> None:
        self.library = library
        python = settings.theirs if library == THEIRS else sys.executable
        command = [python, "-m", "benchmarks.peers.worker", library, row, str(settings.threads), settings.device]
        environment = {**os.environ, **variables(settings.threads, cache)}
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (open as long as the process runs)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self.errors, encoding="utf-8", env=environment
        )
        self.answer()

    def ask(self, *request: Any) -> Any:
        self.send(*request)
        return json.loads(self.answer())

    def send(self, *request: Any) -> None:
        """A request whose answer is read later."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            last = (self.errors.read().strip().splitlines() or [""])[-1]
            raise ChildProcessError(f"{self.library} ended with status {status}: {last}")
        return line

    def close(self) -> None:
        self.process.communicate()
        self.errors.close()


def variables(threads: int, cache: Path) -> dict[str, str]:
    """The environment in which a library has this many threads and this cache folder."""
    counts = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    return {**counts, "MTC_CACHE_DIR": str(cache / "ours"), "TORCHINDUCTOR_CACHE_DIR": str(cache / "theirs")}


def measure(row: str, category: str, settings: Settings) -> Measurement:
    """Measures one row; a library that fails, or a wrong result, becomes the measurement's `problem`."""
    result = Measurement(row, category)
    with tempfile.TemporaryDirectory(prefix="peers-") as own:
        cache = Path(settings.folder or own)
        try:
            if not settings.folder:
                for library in (OURS, THEIRS):
                    result.cold[library] = first_compiled_call(library, row, settings, cache)
            workers = begin(row, settings, cache)
            try:
                take_turns(result, workers, settings, Path(own))
            finally:
                end(workers)
            if settings.memory:
                measure_memory(result, settings, cache)
        except (ChildProcessError, ArithmeticError) as error:
            result.problem = str(error)
    return result


def first_compiled_call(library: str, row: str, settings: Settings, cache: Path) -> float:
    worker = Worker(library, row, settings, cache)
    try:
        return worker.ask("first", "compiled", os.devnull)
    finally:
        worker.close()


Workers = Mapping[str, Worker]


def begin(row: str, settings: Settings, cache: Path) -> Workers:
    return {library: Worker(library, row, settings, cache) for library in (OURS, THEIRS)}


def end(workers: Workers) -> None:
    for worker in workers.values():
        worker.close()


def measure_on_device(rows: Sequence[tuple[str, str]], settings: Settings) -> Iterator[Measurement]:
    """Measures rows, each a name and its category, by one pair of processes; by a new one after a process has ended."""
    with tempfile.TemporaryDirectory(prefix="peers-") as own:
        cache, workers = Path(settings.folder or own), {}
        for row, category in rows:
            result = Measurement(row, category)
            try:
                workers = workers or begin(row, settings, cache)
                for worker in workers.values():
                    worker.ask("open", row)
                take_turns(result, workers, settings, Path(own))
                result.cold, result.warm = result.warm, {}
            except ArithmeticError as error:
                result.problem = str(error)
            except ChildProcessError as error:
                result.problem = str(error)
                end(workers)
                workers = {}
            yield result
        end(workers)


def take_turns(result: Measurement, workers: Workers, settings: Settings, outputs: Path) -> None:
    """Fills in `warm` and `calls`. ArithmeticError if the results differ."""
    files = {(library, way): str(outputs / f"{library} {way}.npz") for library, way in WAYS}
    for way in ("eager", "compiled"):
        for library, seconds in first_calls(way, workers, files, settings).items():
            if way == "compiled":
                result.warm[library] = seconds
    compare(files)
    counts = {key: max(1, int(settings.seconds / workers[key[0]].ask("estimate", key[1]))) for key in WAYS}
    times: dict[tuple[str, str], list[float]] = {key: [] for key in WAYS}
    for _ in range(settings.rounds):
        for library, way in WAYS:
            time.sleep(0.002)  # until the threads of the other process have stopped waiting
            times[library, way].append(workers[library].ask("time", way, counts[library, way], settings.clock))
    result.calls = {" ".join(key): statistics.median(column) for key, column in times.items()}


def first_calls(
    way: str, workers: Workers, files: Mapping[tuple[str, str], str], settings: Settings
) -> dict[str, float]:
    """Seconds of each library's first call: one after the other, or together where the processors are many."""
    if settings.device == "cpu":
        return {library: worker.ask("first", way, files[library, way]) for library, worker in workers.items()}
    for library, worker in workers.items():
        worker.send("first", way, files[library, way])
    return {library: json.loads(worker.answer()) for library, worker in workers.items()}


def compare(files: Mapping[tuple[str, str], str]) -> None:
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


def measure_memory(result: Measurement, settings: Settings, cache: Path) -> None:
    for library in (OURS, THEIRS):
        worker = Worker(library, result.row, settings, cache)
        try:
            result.peak[library] = worker.ask("peak", "compiled")
        finally:
            worker.close()


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios.

    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    return float(np.exp(np.mean(np.log(values))))
