"""Random graphs of all ops, compiled against plain:

    python -m tests.inductor.fuzz --seed 1000 --count 200 [--backend loops] [--processes 2]

Each program that differs is made smaller and printed as a script. Exit status 1 if there were any.
"""

import argparse
import sys
import time
from multiprocessing import get_context

from tests.inductor.fuzz.checking import report_of

EVERY = 250  # graphs between two lines about how far it is


def main() -> int:
    arguments = _parser().parse_args()
    start, wrong = time.perf_counter(), 0
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    tasks = [(seed, arguments.backend, not arguments.whole) for seed in seeds]
    with get_context("spawn").Pool(arguments.processes, maxtasksperchild=200) as pool:
        for done, found in enumerate(pool.imap(report_of, tasks), 1):
            if found:
                wrong += 1
                print(found, "#" + "-" * 100, sep="\n", flush=True)
            if done % EVERY == 0:
                print(f"{done} of {arguments.count}, {wrong} wrong", file=sys.stderr)
    seconds = time.perf_counter() - start
    print(f"{arguments.backend}: {arguments.count} graphs, {wrong} wrong, {seconds:.0f} s")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare a backend with eager on random graphs of all ops.")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1000, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--whole", action="store_true", help="do not make failing programs smaller")
    return parser


if __name__ == "__main__":
    sys.exit(main())
