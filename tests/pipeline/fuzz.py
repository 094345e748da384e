"""More of the battery than the tests run: `make fuzz`, or

    python -m tests.pipeline.fuzz --backend inductor --count 100 --seed 1000

Programs are compiled in batches. A batch that fails is run again program by program, and each failing one is printed
as a script that can be pasted into a file. Exit status 1 if there were any.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Sequence

from tests.pipeline.compare import (
    Mismatch,
    against_numpy,
    check_same,
    check_slope,
    check_values,
    evaluate,
    evaluate_together,
    on_backend,
    script,
)
from tests.pipeline.programs import Program, battery
from tests.pipeline.rules import FAMILIES

NUMPY = "numpy"  # not a backend: eager in float64 against the oracle


def failures(programs: Sequence[Program], backend: str, dtype: str) -> list[str]:
    """A report for each program on which the backend is wrong."""
    if not _report(programs, backend, dtype):
        return []
    return [report for program in programs if (report := _report([program], backend, dtype))]


def _report(programs: Sequence[Program], backend: str, dtype: str) -> str:
    """What goes wrong with these programs together; "" if nothing does."""
    try:
        check(programs, backend, dtype)
    except Mismatch as mismatch:
        return str(mismatch)
    except Exception:  # a crash of the compiler is a finding like any other
        return (
            f"{programs[0].name} on {backend} raises\n{traceback.format_exc()}\n{script(programs[0], backend, dtype)}"
        )
    return ""


def check(programs: Sequence[Program], backend: str, dtype: str) -> None:
    """Raise Mismatch for the first program on which the backend disagrees with eager."""
    if backend == NUMPY:
        for program in programs:
            result = evaluate(program, "float64")
            check_values(program, result, against_numpy(program))
            check_slope(program, result)
        return
    results = evaluate_together(programs, dtype, on_backend(backend))
    for program, result in zip(programs, results, strict=True):
        check_same(program, result, evaluate(program, dtype), dtype, backend)


def main() -> int:
    arguments = _parser().parse_args()
    programs = battery(arguments.count, arguments.seed)
    programs = [
        p for p in programs if arguments.family is None or p.name.startswith(arguments.family.replace(" ", "_"))
    ]
    start, reports = time.perf_counter(), []
    for first in range(0, len(programs), arguments.together):
        found = failures(programs[first : first + arguments.together], arguments.backend, arguments.dtype)
        for report in found:
            print(report, "-" * 100, sep="\n", flush=True)
        reports += found
    seconds = time.perf_counter() - start
    print(f"{arguments.backend}: {len(programs)} programs, {len(reports)} wrong, {seconds:.0f} s")
    return 1 if reports else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare a backend with eager on generated programs.")
    parser.add_argument("--backend", default="inductor", help=f"any backend, or {NUMPY!r}: eager against NumPy")
    parser.add_argument("--count", type=int, default=50, help="programs of each family")
    parser.add_argument("--seed", type=int, default=1000, help="the first seed; the tests use 0 to 31")
    parser.add_argument("--family", choices=list(FAMILIES), help="only this family")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--together", type=int, default=14, help="programs compiled as one function")
    return parser


if __name__ == "__main__":
    sys.exit(main())
