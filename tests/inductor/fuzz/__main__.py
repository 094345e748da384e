"""Random graphs of all ops, compiled against plain:

    python -m tests.inductor.fuzz --seed 1000 --count 200 [--backend loops] [--processes 2] [--kernels python]

Each program that differs is made smaller and printed as a script. Exit status 1 if there were any. Nine tenths of the
time go into Numba's work on kernels, so `--kernels python` runs the generated kernels as the plain Python functions
that they are: some ten times as many graphs a second go through everything else, and what is left to try is machine
code. `--coverage` compares nothing: it lists the ops that the programs of these seeds never call.

    python -m tests.inductor.fuzz --device cuda --count 5000 --processes 16 --seconds 120

does it on a GPU, or a simulated one where there is none, with programs of its kernels' kinds (`device_growing.py`);
with `--mode reduce-overhead`, as recordings.
"""

import argparse
import os
import sys
import time
from multiprocessing import get_context

EVERY = 250  # graphs between two lines about how far it is
GRAPHS_A_PROCESS = 1000  # then a new one is forked: Numba keeps all it has made


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.kernels == "python":
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # before Numba is imported, here and in the processes
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    return _show_coverage(seeds) if arguments.coverage else _compare(seeds, arguments)


def _compare(seeds: range, arguments: argparse.Namespace) -> int:
    from tests.inductor.fuzz.checking import report_of

    start, wrong, done = time.perf_counter(), 0, 0
    tasks = [(seed, arguments.backend, not arguments.whole, arguments.device, arguments.mode) for seed in seeds]
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.inductor.fuzz.checking"])  # imported once
    with context.Pool(arguments.processes, maxtasksperchild=GRAPHS_A_PROCESS) as pool:
        for done, found in enumerate(pool.imap_unordered(report_of, tasks), 1):
            if found:
                wrong += 1
                print(found, "#" + "-" * 100, sep="\n", flush=True)
            if done % EVERY == 0:
                print(f"{done} of {arguments.count}, {wrong} wrong", file=sys.stderr)
            if time.perf_counter() - start > arguments.seconds:
                break
    seconds = time.perf_counter() - start
    where = f"{arguments.backend} on {arguments.device}, {arguments.kernels} kernels, mode {arguments.mode}"
    print(f"{where}: {done} graphs, {wrong} wrong, {seconds:.0f} s")
    return 1 if wrong else 0


def _show_coverage(seeds: range) -> int:
    from tests.inductor.fuzz.coverage import ops_not_called

    missing, known = ops_not_called(seeds)
    print(f"{len(seeds)} graphs call {known - len(missing)} of {known} ops; not: {', '.join(missing)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare a backend with eager on random graphs of all ops.")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="what they are compiled for")
    parser.add_argument("--mode", default="default", help="of torch.compile: reduce-overhead, ...")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1000, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begins no graph after these")
    parser.add_argument("--kernels", choices=("compiled", "python"), default="compiled", help="how kernels are run")
    parser.add_argument("--whole", action="store_true", help="do not make failing programs smaller")
    parser.add_argument("--coverage", action="store_true", help="only list the ops that are not called")
    return parser


if __name__ == "__main__":
    sys.exit(main())
