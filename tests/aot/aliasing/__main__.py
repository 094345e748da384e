"""`python -m tests.aot.aliasing --seed 0 --count 5000`: random programs of writes and views, compiled against plain."""

from __future__ import annotations

import argparse
from collections import Counter

from tests.aot.aliasing.check import case_of, compare, smallest

BACKENDS = ("aot_eager", "aot_eager_decomp_partition")


def main() -> int:
    """Prints each program that differs, made small with --shrink, and a summary; 1 if any differed."""
    parser = argparse.ArgumentParser(prog="python -m tests.aot.aliasing", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=500, help="how many programs")
    parser.add_argument("--backend", choices=BACKENDS, help="only this one; else they take turns")
    parser.add_argument("--shrink", action="store_true", help="make programs that differ small")
    parser.add_argument("--most", type=int, default=10, help="stop after so many that differ")
    options = parser.parse_args()
    counted: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        case = case_of(seed, options.backend or BACKENDS[seed % 2])
        found = compare(case)
        kind = "same" if not found else "refused" if found.startswith("refused") else "different"
        counted[kind] += 1
        if kind == "refused":
            counted[found[:90]] += 1
        if kind == "different":
            case = smallest(case) if options.shrink else case
            print(f"--- seed {seed}: {compare(case)}\n{case.script}\n", flush=True)
            if counted["different"] >= options.most:
                break
    for words, count in counted.most_common():
        print(f"{count:6} {words}")
    return int(counted["different"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
