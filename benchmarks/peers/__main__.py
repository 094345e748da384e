"""The command line: `make bench-peers`, or

    TORCH_PYTHON=/path/to/python python -m benchmarks.peers
    python -m benchmarks.peers --only softmax training --threads 2 --caches build/peers --json build/peers.json
    python -m benchmarks.peers --device cuda

TORCH_PYTHON is a Python that has PyTorch, and NumPy; its compiler needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from benchmarks.peers import programs
from benchmarks.peers.measure import Measurement, Settings, measure, measure_on_device
from benchmarks.peers.row import ROWS, Row
from benchmarks.peers.table import header, line, summary
from minitorch_compile import as_torch


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description="Side by side with torch.compile.")
    parser.add_argument("--only", nargs="*", default=[], help="rows whose name or category holds one of these")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the tensors are")
    parser.add_argument("--threads", type=int, default=1, help="threads that each library may use")
    parser.add_argument("--rounds", type=int, default=9, help="turns; the table has medians")
    parser.add_argument("--seconds", type=float, default=0.02, help="how long each turn is, about")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: for a busy machine")
    parser.add_argument("--caches", default="", help="a folder of compiled code to keep; first calls are left out then")
    parser.add_argument("--memory", action="store_true", help="the peak of resident memory, too")
    parser.add_argument("--json", default="", help="a file for the figures")
    parser.add_argument("--list", action="store_true", help="only names the rows")
    return parser.parse_args(arguments)


def chosen_rows(words: list[str]) -> list[Row]:
    """The rows in which one of the words occurs; all without words."""
    with as_torch.installed():
        programs.enter_all()
    return [row for row in ROWS.values() if not words or any(w in row.name or w == row.category for w in words)]


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    rows = chosen_rows(options.only)
    if options.list:
        print("\n".join(f"{row.name:<32}{row.category}" for row in rows))
        return 0
    theirs = os.environ.get("TORCH_PYTHON", "")
    if not shutil.which(theirs):
        print("bench-peers needs PyTorch: set TORCH_PYTHON to a Python that has it", file=sys.stderr)
        return 2
    shared = {name: getattr(options, name) for name in ("threads", "rounds", "seconds", "clock", "memory", "device")}
    settings = Settings(theirs, folder=options.caches and str(Path(options.caches).resolve()), **shared)
    print(header(options.memory))
    measured: list[Measurement] = []
    named = [(row.name, row.category) for row in rows]
    on_cpu = (measure(name, category, settings) for name, category in named)
    for each in on_cpu if options.device == "cpu" else measure_on_device(named, settings):
        measured.append(each)
        print(line(each, options.memory), flush=True)
    print("\n" + summary(measured))
    if options.json:
        Path(options.json).write_text(json.dumps([m.as_dict() for m in measured], indent=1), encoding="utf-8")
    return 1 if any(m.problem for m in measured) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
