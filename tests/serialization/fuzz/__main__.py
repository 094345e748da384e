"""Many damaged files, read in child processes: `make fuzz`, or

    python -m tests.serialization.fuzz --count 200000 --seed 7
    python -m tests.serialization.fuzz --reader zip --seed 1234 --count 1

A child may take no more memory than MEMORY above what it has, and each file has SECONDS. One that crashes is reported
with the seed that it was at, and another one goes on behind it. Exit status 1 if there were any mistakes.
"""

from __future__ import annotations

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from tests.serialization.fuzz.outcome import mistake_of
from tests.serialization.fuzz.readers import READERS, file_of

MEMORY = 64 << 20  # bytes above a file's size, which is a few thousand
SECONDS = 20
PART = 20_000  # files for each child
MOST_SHOWN = 20


class TooSlow(BaseException):
    """A file that takes SECONDS to read."""


def _stop(*_: Any) -> NoReturn:
    raise TooSlow(f"longer than {SECONDS} s")


def limit_memory() -> None:
    """From here on the process may take MEMORY more; beyond it a MemoryError comes."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, resource.RLIM_INFINITY))


def read_files(names: list[str], first: int, count: int, mark: Path) -> int:
    """Reads the files of `count` seeds, writes down at which it is, and prints mistakes; how many there were."""
    whole = {name: READERS[name].whole() for name in names}
    for name in names:
        for data in whole[name]:
            mistake_of(READERS[name], data)  # what is imported and allocated once
    limit_memory()
    signal.signal(signal.SIGALRM, _stop)
    mistakes = 0
    with mark.open("r+b", buffering=0) as place:
        for seed in range(first, first + count):
            place.seek(0)
            place.write(seed.to_bytes(8, "little"))
            name = names[seed % len(names)]
            data = file_of(READERS[name], whole[name], Random(seed))
            signal.alarm(SECONDS)
            try:
                found = mistake_of(READERS[name], data)
            except TooSlow as error:
                found = str(error)
            signal.alarm(0)
            if found is not None:
                mistakes += 1
                print(f"{name}, seed {seed}, {len(data)} bytes: {found}", flush=True)
    return mistakes


def run_children(names: list[str], first: int, count: int) -> int:
    """All files, in children; how many mistakes there were."""
    mistakes, at, end = 0, first, first + count
    with tempfile.NamedTemporaryFile() as mark:
        while at < end and mistakes < MOST_SHOWN:
            mark.seek(0)
            mark.write(at.to_bytes(8, "little"))
            mark.flush()
            part = min(PART, end - at)
            command = [sys.executable, "-m", "tests.serialization.fuzz", "--child", mark.name]
            command += ["--seed", str(at), "--count", str(part), "--reader", *names]
            status = subprocess.run(command, check=False).returncode
            if 0 <= status <= 100:
                mistakes, at = mistakes + status, at + part
                continue
            at = int.from_bytes(Path(mark.name).read_bytes()[:8], "little")
            print(f"{names[at % len(names)]}, seed {at}: the process ended with status {status}", flush=True)
            mistakes, at = mistakes + 1, at + 1
    return mistakes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.serialization.fuzz")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", nargs="+", choices=sorted(READERS), default=sorted(READERS))
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        sys.exit(min(read_files(arguments.reader, arguments.seed, arguments.count, arguments.child), 100))
    start = time.perf_counter()
    mistakes = run_children(arguments.reader, arguments.seed, arguments.count)
    print(f"{arguments.count:,} files in {time.perf_counter() - start:,.0f} s: {mistakes} mistakes")
    sys.exit(mistakes > 0)


if __name__ == "__main__":
    main()
