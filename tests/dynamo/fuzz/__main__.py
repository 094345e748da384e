"""More random programs than the tests run: `make fuzz`, or

    python -m tests.dynamo.fuzz --count 5000 --seed 1000

Each program is run plain and compiled, in three to five calls, between which something changes (`changes.py`; with
`--unchanging` four calls, between which nothing does). One that does not do the same is made small and printed as a
script that can be pasted into a file. Exit status 1 if there were any.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

from tests.dynamo.fuzz.difference import Difference, changing_program_of, difference, program_of
from tests.dynamo.fuzz.running import BACKENDS, backend_of, set_garbage_aside
from tests.dynamo.fuzz.shrinking import shrunk

MEMORY = 6 << 30  # bytes: a program that only grows ends with a MemoryError
SCRIPT = '''"""Random program {seed} on {backend}: {what}"""
from tests.dynamo.fuzz.difference import difference

SOURCE = """{source}"""

print(difference(SOURCE, {seed}, {backend!r}))
'''


def script(source: str, seed: int, backend: str, found: Difference) -> str:
    """A file that shows the difference."""
    return SCRIPT.format(seed=seed, backend=backend, what=found.what, source="\n" + source.replace("\\", "\\\\") + "\n")


def report(source: str, seed: int, backend: str, found: Difference, attempts: int) -> str:
    """The program made small, and what differs."""

    def still_fails(text: str) -> bool:
        smaller = difference(text, seed, backend)
        return smaller is not None and smaller.kind == found.kind

    small = shrunk(source, still_fails, attempts)
    return f"{script(small, seed, backend, found)}\n{difference(small, seed, backend)}\n"


def main() -> int:
    options = _parser().parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    set_garbage_aside()
    start, wrong = time.perf_counter(), 0
    grow = program_of if options.unchanging else changing_program_of
    for seed in range(options.seed, options.seed + options.count):
        if seed > options.seed and seed % 100 == 0:
            print(f"    {seed - options.seed} programs", file=sys.stderr, flush=True)
        source, backend = grow(seed), options.backend or backend_of(seed)
        found = difference(source, seed, backend)
        set_garbage_aside()
        if found is not None:
            wrong += 1
            text = report(source, seed, backend, found, options.attempts)
            print(f"--- seed {seed}\n{text}", flush=True)
            if options.save:
                Path(options.save, f"{found.kind.replace(' ', '_')}_{seed}.py").write_text(text)
    print(f"{options.count} programs, {wrong} wrong, {time.perf_counter() - start:.0f} s", flush=True)
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare compiled with plain Python on random programs.")
    parser.add_argument("--count", type=int, default=20000, help="how many programs")
    parser.add_argument("--unchanging", action="store_true", help="programs between whose calls nothing changes")
    parser.add_argument("--seed", type=int, default=1000, help="the first seed; the tests use those from 0 on")
    parser.add_argument("--backend", choices=list(BACKENDS), help="by default most on eager, some on aot_eager")
    parser.add_argument("--attempts", type=int, default=1500, help="how long to try to make a failing program smaller")
    parser.add_argument("--save", help="a folder for the failing programs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
