"""Every check of the project in one run: quick ones first, all of them even when one fails, then the tests.

A check that passes takes one line; one that fails shows what it printed. pytest's own output comes last, so that its
closing line ends the run.

    make test                # what a person waits for: one batch of each family of tests, nothing slow, no coverage
    make test FLOOR=aot      # the same of one floor
    make test CHANGED=1      # the same of what the changes since the last commit reach; CHANGED=main: since `main`
    make test-all            # every test
    make coverage            # every test, and which lines they reach
    make lint                # all but the notebooks and the tests
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Check:
    """One command; `after_failure` tells the reader what usually mends it."""

    name: str
    command: tuple[str, ...]
    after_failure: str


def module(*arguments: str) -> tuple[str, ...]:
    """A command that runs a module under this very Python, so that no other installation is picked up from PATH."""
    return (sys.executable, "-m", *arguments)


LINT = (
    Check("types: mypy", module("mypy"), "Each line names the file; types stand on every signature."),
    Check("style: ruff check", module("ruff", "check", "."), "`.venv/bin/ruff check --fix` mends what it can."),
    Check("layout: ruff format", module("ruff", "format", "--check", "."), "`.venv/bin/ruff format` mends it."),
    Check(
        "floors: import-linter",
        (str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"),
        "A floor may import only what pyproject.toml lists below it; see ARCHITECTURE.md.",
    ),
    Check(
        "stubs: up to date",
        (sys.executable, "tools/stubs.py", "--check"),
        "`python tools/stubs.py` writes them from the declarations of the ops.",
    ),
)
NOTEBOOKS = (
    Check(
        "notebooks: up to date",
        (sys.executable, "tools/build_course.py", "--check"),
        "`make course` builds them from authoring/.",
    ),
)
# Two workers halve the time; more than four would mostly compile the same kernels side by side.
WORKERS = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
# Short tracebacks: what went wrong stands within the last lines of a log of which a reader is shown only the end.
PYTEST = module("pytest", "-q", "-n", str(WORKERS), "--dist=worksteal", "--tb=short", "--durations=10")
QUICK = (*PYTEST, "--one-batch")
COVERAGE = (*PYTEST, "--cov", "--cov-report=term")  # takes twice as long


def passes(check: Check) -> bool:
    """Runs one check; prints a line for it, and its output when it failed."""
    start = time.perf_counter()
    result = subprocess.run(check.command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    good = result.returncode == 0
    print(f"{check.name:<28}{'ok' if good else 'FAILED':<8}{time.perf_counter() - start:5.1f} s", flush=True)
    if not good:
        print(f"\n{result.stdout.strip()}\n{check.after_failure}\n", flush=True)
    return good


def places_of(floor: str) -> list[str]:
    """Where a floor's tests lie: its own folder, and the examples in its code. No floor: everywhere."""
    if not floor:
        return []
    places = [place for place in (f"tests/{floor}", f"minitorch_compile/{floor}") if (ROOT / place).is_dir()]
    if not places:
        floors = sorted(folder.name for folder in (ROOT / "tests").iterdir() if (folder / "__init__.py").exists())
        sys.exit(f"FLOOR={floor}: no such floor. Choose one of: {', '.join(floors)}")
    return places


def places_of_changes(since: str) -> list[str]:
    """The tests that what changed since a commit reaches; printed, as it is the answer to a question."""
    from changed_tests import places_asked_for

    places = places_asked_for("HEAD" if since == "1" else since)
    if not places:
        sys.exit("CHANGED: nothing changed that a test looks at.")
    print(f"tests of what changed: {', '.join(places[:8])}{f' and {len(places) - 8} more' if places[8:] else ''}")
    return places


def run_all(checks: tuple[Check, ...], tests: tuple[str, ...] = ()) -> int:
    """Runs everything; returns the exit status. Failures of the quick checks are named again at the end.

    The quick checks run side by side, the longest beginning first: mypy alone takes as long as all others.
    """
    with ThreadPoolExecutor(WORKERS) as pool:
        good = list(pool.map(passes, checks))
    failed = [check.name for check, passed in zip(checks, good, strict=True) if not passed]
    status = 0
    if tests:
        print("tests: pytest", flush=True)
        status = subprocess.run(tests, cwd=ROOT).returncode
    if failed:
        print(f"FAILED before the tests, shown above: {'; '.join(failed)}", flush=True)
    return 1 if failed else status


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=["lint"], help="run only the quick checks")
    parser.add_argument("--all", action="store_true", help="run every test")
    parser.add_argument("--coverage", action="store_true", help="run every test, and follow the lines that they reach")
    parser.add_argument("--floor", default="", help="only the tests of one floor: tensor, dynamo, aot, ...")
    parser.add_argument("--changed", default="", help="only what changes since a commit reach (1: HEAD)")
    options = parser.parse_args()
    # Else each process that a test starts compiles all modules anew: more than a second of its time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if options.only == "lint":
        sys.exit(run_all(LINT))
    tests = COVERAGE if options.coverage else PYTEST if options.all else QUICK
    if options.floor:
        sys.exit(run_all((), (*tests, *places_of(options.floor))))
    if options.changed:
        sys.exit(run_all(LINT + NOTEBOOKS, (*tests, *places_of_changes(options.changed))))
    sys.exit(run_all(LINT + NOTEBOOKS, tests))


if __name__ == "__main__":
    main()
