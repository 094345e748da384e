"""All that is to be seen on a GPU, part by part, beside PyTorch on the same one; and the page that says what was seen.

    python -m benchmarks.cuda_device                      every part: some minutes
    python -m benchmarks.cuda_device overhead gpt_curve   these parts; of the others the page keeps what was seen before
    python -m benchmarks.cuda_device --page               only writes the page again
    python -m benchmarks.cuda_device --commit 1a2b3c4d --seen out/seen.json    in a copy of that commit without .git

What was seen lies in `seen.json`, the page beside it is `README.md`. Each part runs in processes of its own, and is
written down when it ends. The sheets and the programs of tests/models share out the machine's cores and GPUs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cuda_device.page import SCORES, page
from tests.cuda.shared_gpus import environment_of

HERE = Path(__file__).parent
SEEN = HERE / "seen.json"
LIBRARIES = ("torch", "minitorch_compile")
EXAMPLES = 3  # of the differences that have the same reason
PACKAGES = ("torch", "numpy", "numba-cuda", "cuda-bindings", "nvmath-python", "nvidia-cudnn-frontend")


def run(module: str, *arguments: str, **environment: str) -> str:
    """What a program of ours prints, who shows it as well. RuntimeError with its end if it fails."""
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    print(f"--- {module} {' '.join(arguments)}: {done.returncode}\n{done.stdout[-4000:]}", flush=True)
    if done.returncode:
        raise RuntimeError(f"{module} failed: {done.stderr[-1500:]}")
    return done.stdout


def kept(module: str, *arguments: str, **environment: str) -> Any:
    """What a program of ours writes to the file that it is given."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.json"
        run(module, *arguments, "--out", str(file), **environment)
        return json.loads(file.read_text())


def commit() -> str:
    """The commit that is run, with a + if files were changed since; "" in a copy that is no repository."""

    def asked(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(HERE), *words], capture_output=True, text=True)
        return "" if done.returncode else done.stdout.strip()

    return asked("rev-parse", "--short=8", "HEAD") + "+" * bool(asked("status", "--porcelain", "-uno", ":!."))


# --------------------------------------------------------------------------------------------------- the parts


def machine(given: argparse.Namespace) -> dict[str, str]:
    asked = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    gpus = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()
    name, driver, memory = gpus[0].split(", ")
    several = f"{len(gpus)} of {name}; the sheets and the programs of tests/models used all"
    found = {"GPU": several if len(gpus) > 1 else name, "driver": driver, "memory": memory}
    found["Python"] = sys.version.split()[0]
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not there"
    return found


def overhead(given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Microseconds by row and library; the two take turns, and the best counts."""
    rows: dict[str, dict[str, float]] = {}
    for library in LIBRARIES * 2:
        text = run("benchmarks.cuda_calls", *(["--torch"] if library == "torch" else []))
        for name, figure in re.findall(r"^(.+?) +([\d.]+) us$", text, re.MULTILINE):
            row = rows.setdefault(name, {})
            row[library] = min(float(figure), row.get(library, float("inf")))
    return rows


def compilations(given: argparse.Namespace) -> list[Any]:
    """Twice with one cache, which is empty at first."""
    with tempfile.TemporaryDirectory() as cache:
        return [kept("benchmarks.cuda_device.compilations", MTC_CACHE_DIR=cache) for _ in range(2)]


def gpt_curve(given: argparse.Namespace) -> dict[str, Any]:
    """Of either library; and of PyTorch with other kernels for attention, which says how far roundings alone lead."""
    program = "benchmarks.cuda_device.gpt_curve"
    curves = {name: kept(program, "--library", name) for name in LIBRARIES}
    return {**curves, SCORES: kept(program, "--library", "torch", "--scores")}


def functions(given: argparse.Namespace) -> dict[str, Any]:
    theirs, ours = (kept("benchmarks.cuda_device.functions", "--library", name) for name in LIBRARIES)
    apart = {name: distance(ours["values"][name], values) for name, values in theirs["values"].items()}
    return {"apart": apart, "copies": ours["copies"]}


def devices(given: argparse.Namespace) -> dict[str, Any]:
    theirs, ours = (kept("benchmarks.cuda_device.devices", "--library", name) for name in LIBRARIES)
    refused = {name: [ours["refused"][name], said] for name, said in theirs["refused"].items()}
    return {"refused": refused, "drawn": ours["drawn"]}


def distance(ours: Any, theirs: Any) -> float:
    """The largest difference, beside the largest element."""
    a, b = np.array(ours, np.float64), np.array(theirs, np.float64)
    return float(np.abs(a - b).max() / max(1e-30, np.abs(b).max()))


def memory(given: argparse.Namespace) -> Any:
    return kept("benchmarks.cuda_device.memory")


def allocator(given: argparse.Namespace) -> dict[str, str]:
    operations = "tests.cuda_runtime.allocator_operations"
    return {
        "stand-in": run(operations, "--count", "1000000").splitlines()[0],
        "GPU": run(operations, "--count", "100000", "--gpu").splitlines()[0],
    }


def sheets(given: argparse.Namespace) -> Any:
    """All of them, or those that `--first` and `--every` choose."""
    numbers = {"--first": given.first, "--every": given.every, "--jobs": given.jobs, "--seconds": given.seconds}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.json"
        words = [str(word) for pair in numbers.items() for word in pair]
        subprocess.run([sys.executable, "-m", "tests.cuda.peer_sheets", *words, "--out", str(file)], check=False)
        return shortened(json.loads(file.read_text()))


def shortened(found: dict[str, Any]) -> dict[str, Any]:
    """With the number of calls for each reason, and some of them in place of all; all that have none."""
    kept, counts = [], Counter[str]()
    for row in found["differences"]:
        if row["reason"]:
            counts[row["reason"]] += 1
        if not row["reason"] or counts[row["reason"]] <= EXAMPLES:
            kept.append(row)
    return {**found, "differences": kept, "reasons": dict(counts.most_common())}


def models(given: argparse.Namespace) -> dict[str, Any]:
    """All programs of tests/models, a share for each process."""
    shares = [f"{share}/{given.jobs}" for share in range(1, given.jobs + 1)]
    command = [sys.executable, "-W", "ignore", "-m", "tests.cuda.models", "--share"]
    running = [
        subprocess.Popen([*command, share], env=environment_of(job), stdout=subprocess.PIPE, text=True)
        for job, share in enumerate(shares)
    ]
    texts = [process.communicate()[0] for process in running]
    print("".join(texts), flush=True)
    lines = [re.match(r"^(\w+) +[\d.]+ s  (.+)$", line) for text in texts for line in text.splitlines()]
    found = {line[1]: line[2] for line in lines if line}
    return {"tried": len(found), "differ": {n: said for n, said in found.items() if said != "as recorded"}}


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    part.__name__: part
    for part in (machine, overhead, memory, allocator, gpt_curve, compilations, functions, devices, models, sheets)
}
ANY_TIME = {"compilations", "functions", "devices", "models"}  # no figure of theirs is a time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--page", action="store_true", help="run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--first", type=int, default=0, help="the first call of the sheets")
    parser.add_argument("--every", type=int, default=1, help="one in so many of them")
    parser.add_argument("--seconds", type=float, default=400, help="for the sheets")
    parser.add_argument("--seen", type=Path, default=SEEN, help="the file of what was seen")
    parser.add_argument("--commit", help="of the tree that is run, where no repository says it")
    given = parser.parse_args()
    seen: dict[str, Any] = json.loads(given.seen.read_text()) if given.seen.exists() else {}
    failed: list[str] = []

    def see(name: str) -> None:
        began = time.monotonic()
        try:
            found = PARTS[name](given)
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:  # the others still run
            print(f"=== {name}: {type(error).__name__}: {error}", flush=True)
            failed.append(name)
            return
        seen[name] = {"at": f"{datetime.datetime.now():%d %B %Y}", "commit": given.commit or commit(), "is": found}
        given.seen.write_text(json.dumps({part: seen[part] for part in PARTS if part in seen}, indent=1) + "\n")
        print(f"=== {name}: {time.monotonic() - began:.0f} s", flush=True)

    names = [] if given.page else [name for name in PARTS if name in (given.parts or PARTS)]
    together = [name for name in names if name in ANY_TIME]
    for name in names:
        if name not in ANY_TIME:
            see(name)
        elif name == together[0]:
            with ThreadPoolExecutor() as pool:
                list(pool.map(see, together))
    given.seen.with_name("README.md").write_text(page(seen))
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
