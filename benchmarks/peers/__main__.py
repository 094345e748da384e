"""The command line: `make bench-peers`, or

    TORCH_PYTHON=/path/to/python python -m benchmarks.peers
    python -m benchmarks.peers --only softmax training --threads 2 --caches build/peers/caches
    python -m benchmarks.peers --avx2
    python -m benchmarks.peers --compare build/peers/OLD.json build/peers/NEW.json
    python -m benchmarks.peers --device cuda

TORCH_PYTHON is a Python that has PyTorch, and NumPy; its compiler needs a C++ compiler. Every run leaves a file of its
figures and of the versions of everything.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers import programs, versions
from benchmarks.peers.comparison import compare_runs
from benchmarks.peers.measure import Measurement, measure, measure_on_device, seeded
from benchmarks.peers.process import Pair, Settings, same
from benchmarks.peers.row import ROWS, Row
from benchmarks.peers.table import header, lines, summary
from minitorch_compile import as_torch

KEPT = f"build/peers/{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.json"


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description="Side by side with torch.compile.")
    parser.add_argument("--only", nargs="*", default=[], help="rows whose name or category holds one of these")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the tensors are")
    parser.add_argument("--threads", type=int, nargs="+", help="threads that each library may use; 1 and 2 if not said")
    parser.add_argument("--rounds", type=int, default=9, help="turns; the table has medians")
    parser.add_argument("--seconds", type=float, default=0.02, help="how long each turn is, about")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: for a busy machine")
    parser.add_argument("--caches", default="", help="a folder of compiled code to keep; first calls are warm then")
    parser.add_argument("--warm", action="store_true", help="also a first call with warm caches, in a new process")
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="without peaks of resident memory")
    parser.add_argument("--avx2", action="store_true", help="holds both libraries to vectors of 32 bytes")
    parser.add_argument(
        "--json", default=KEPT, help="a file for figures and versions; build/peers/TIME.json if not said"
    )
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"), help="two such files: what became slower")
    parser.add_argument("--list", action="store_true", help="only names the rows")
    return parser.parse_args(arguments)


def chosen_rows(words: list[str]) -> list[Row]:
    """The rows in which one of the words occurs; all without words."""
    with as_torch.installed():
        programs.enter_all()
    return [row for row in ROWS.values() if not words or any(w in row.name or w == row.category for w in words)]


def settings_of(options: argparse.Namespace, theirs: str) -> Settings:
    """How to measure: on a GPU on one thread, and without what only the memory of a CPU has."""
    on_cpu = options.device == "cpu"
    available = len(os.sched_getaffinity(0))
    threads = tuple(options.threads or [count for count in (1, 2) if on_cpu and count <= available] or [1])
    shared = {name: getattr(options, name) for name in ("rounds", "seconds", "clock", "device", "avx2")}
    folder = options.caches and str(Path(options.caches).resolve())
    only_there = {"memory": options.memory and on_cpu, "warm": options.warm and on_cpu}
    return Settings(theirs, threads, folder=folder, **shared, **only_there)


def measurements(rows: Sequence[Row], settings: Settings, seed: Path) -> Iterator[Measurement]:
    named = [(row.name, row.category) for row in rows]
    if settings.device == "cpu":
        return (measure(name, category, settings, seed) for name, category in named)
    return measure_on_device(named, settings, seed)


def keep(file: Path, measured: Sequence[Measurement], settings: Settings, found: dict[str, dict[str, str]]) -> None:
    """Writes what another run can be compared with."""
    file.parent.mkdir(parents=True, exist_ok=True)
    run = {"versions": found, "settings": asdict(settings), "rows": [m.as_dict() for m in measured]}
    file.write_text(json.dumps(run, indent=1), encoding="utf-8")


def versions_of_both(row: str, settings: Settings, seed: Path) -> dict[str, dict[str, str]]:
    pair = Pair(row, settings, seed)
    try:
        return {"machine": versions.of_machine(), **pair.ask_together(same("versions"))}
    finally:
        pair.close()


def run(rows: Sequence[Row], settings: Settings, file: Path) -> list[Measurement]:
    """Measures, prints and keeps."""
    measured: list[Measurement] = []
    with tempfile.TemporaryDirectory(prefix="peers-seed-") as folder:
        seed = seeded(settings, rows[0].name, Path(settings.folder or folder))
        found = versions_of_both(rows[0].name, settings, seed)
        print("\n".join(f"{part}: " + ", ".join(f"{k} {v}" for k, v in each.items()) for part, each in found.items()))
        print(f"\n{header(settings)}", flush=True)
        for each in measurements(rows, settings, seed):
            measured.append(each)
            print(lines(each, settings), flush=True)
            keep(file, measured, settings, found)
    print(f"\n{summary(measured, settings)}\n\nkept in {file}")
    return measured


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    if options.compare:
        said, is_worse = compare_runs(*options.compare)
        print(said)
        return 1 if is_worse else 0
    rows = chosen_rows(options.only)
    if options.list:
        print("\n".join(f"{row.name:<32}{row.category}" for row in rows))
        return 0
    theirs = os.environ.get("TORCH_PYTHON", "")
    if not shutil.which(theirs):
        print("bench-peers needs PyTorch: set TORCH_PYTHON to a Python that has it", file=sys.stderr)
        return 2
    if not rows:
        print(f"bench-peers: no row is called like {options.only}; --list names them", file=sys.stderr)
        return 2
    measured = run(rows, settings_of(options, theirs), Path(options.json))
    return 1 if any(m.problem for m in measured) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
