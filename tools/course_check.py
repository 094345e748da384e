"""Runs the whole course as a reader would: `make course-check`.

`tools/course_check.py [--pythons 3.12 ...] [--processes 2] [NN ...]`

Once: are the generated files up to date, do links lead somewhere. Then, under each Python found here, in an environment
of its own below build/: every lesson, every solution with all its points, every answer of the exercises (the stub gets
none, each wrong one is told something of its own), and the tests of `mini` as it is after each lesson. The lessons show
what they have stored, under the Python that they were built with. Each is a process; as many run at a time as there are
processors, the longest first. A line each, with its seconds; then those of each Python, and of all. A cell that takes
over a minute fails. What is compiled is kept in a folder that begins empty, as on a fresh clone, and that a solution
shares with its lesson, as a reader's do.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from all_pythons import find_python  # noqa: E402
from task_queue import Done, Queue, Task  # noqa: E402

from minitorch_compile.course.mini.reference import all_steps  # noqa: E402

VERSIONS = ("3.11", "3.12", "3.13")
BUILT_WITH = "3.11"  # whose outputs the lessons have stored
LONGEST_FIRST = ("answers/", "mini", "notebooks/18", "notebooks/00", "solutions/18")
AT_ONCE = 6  # lessons whose answers are judged in one process: reading all sources takes it some seconds
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "MTC_PROGRESS": "0"}  # how long a compilation took is the machine's business
ONCE = "once"  # the group of what depends on no Python
STAGES, EXERCISES = "tests/course/test_mini_stages.py", "tests/course/test_every_exercise.py"
PYTEST = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the whole course under each Python found here.")
    parser.add_argument("lessons", nargs="*", help="numbers such as 01; default: all")
    parser.add_argument("--pythons", nargs="*", default=VERSIONS)
    parser.add_argument("--processes", type=int, default=processors(), help="how many at a time")
    parser.add_argument("--cell-seconds", type=float, default=60.0, help="how long a cell may take")
    parser.add_argument("--folder", type=Path, help="instead: this one's notebooks/ and solutions/, under this Python")
    options = parser.parse_args()
    say = line_by_line
    if options.folder:
        tasks = notebooks(
            version_here(), sys.executable, options.folder.resolve(), [], options.cell_seconds, as_stored=True
        )
    else:
        tasks = once() if not options.lessons else []
        for version in options.pythons:
            python = find_python(version)
            if python is None:
                say(f"{version}  is not on this machine")
            else:
                tasks += under(version, python, options.lessons, options.cell_seconds)
    begun = time.monotonic()
    # A process that a notebook left behind may still be writing its kernels there.
    with tempfile.TemporaryDirectory(prefix="minitorch_compile-course-check-", ignore_cleanup_errors=True) as kernels:
        os.environ["MTC_CACHE_DIR"] = kernels
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of hundreds of processes compiles all modules
        done = Queue(tasks, options.processes, say).run()
    for line in sums(done, time.monotonic() - begun, options.processes):
        say(line)
    return int(any(each.failed for each in done))


def once() -> list[Task]:
    """What is the same under every Python."""
    python, tables = sys.executable, ("stubs", "op_table", "prim_table", "example_calls")
    return [
        Task(ONCE, "notebooks, sheets and solutions are built", [python, "tools/build_course.py", "--check"]),
        *(Task(ONCE, f"tools/{name}.py has been run", [python, f"tools/{name}.py", "--check"]) for name in tables),
        Task(ONCE, "links lead somewhere", [python, "tools/links.py"]),
        Task(ONCE, "pages tell the truth", [python, *PYTEST, "tests/tooling/test_documents.py"]),
    ]


def under(version: str, python: str, lessons: list[str], cell_seconds: float) -> list[Task]:
    """Everything under that Python, after its environment."""
    folder = ROOT / "build" / f"python{version}"
    its_python = str(folder / "bin" / "python")
    as_stored = version == BUILT_WITH
    tasks = notebooks(version, its_python, ROOT, lessons, cell_seconds, as_stored, needs="set-up")
    if not lessons or {number.partition(".")[0] for number in all_steps()} & set(lessons):
        tasks += by_pytest(version, its_python, "mini", STAGES, lessons)
    sheets = [path.name[:2] for path in numbered(ROOT / "exercises", lessons)]
    for several in [sheets[i : i + AT_ONCE] for i in range(0, len(sheets), AT_ONCE)]:
        tasks += by_pytest(version, its_python, f"answers/{several[0]}-{several[-1]}", EXERCISES, several)
    tasks.sort(key=lambda task: rank(task.name))
    return [Task(version, "set-up", [python, "tools/set_up.py", "--folder", folder]), *tasks]


def notebooks(
    version: str, python: str, root: Path, lessons: list[str], cell_seconds: float, as_stored: bool, needs: str = ""
) -> list[Task]:
    """The lessons and the solutions that lie below `root`."""
    tasks = []
    for folder, demands in (("notebooks", ["--as-stored"] if as_stored else []), ("solutions", ["--all-points"])):
        for path in numbered(root / folder, lessons):
            command = [python, "tools/run_notebook.py", "--cell-seconds", str(cell_seconds), *demands, path]
            tasks.append(Task(version, f"{folder}/{path.stem}", command, needs, ENVIRONMENT))
    return tasks


def by_pytest(version: str, python: str, name: str, file: str, lessons: list[str]) -> list[Task]:
    """The tests in a file, or those of them whose parameters name the lessons."""
    chosen = ["-k", " or ".join(f"[{lesson} or -{lesson}." for lesson in lessons)] if lessons else []
    return [Task(version, name, [python, *PYTEST, file, *chosen], "set-up", ENVIRONMENT)]


def numbered(folder: Path, lessons: list[str]) -> list[Path]:
    return [path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")) if not lessons or path.name[:2] in lessons]


def rank(name: str) -> int:
    """The longest ones first, in their order, so that the last to end is a short one; the others as they come."""
    places = [place for place, beginning in enumerate(LONGEST_FIRST) if name.startswith(beginning)]
    return places[0] if places else len(LONGEST_FIRST)


def sums(done: Iterable[Done], seconds: float, processes: int) -> list[str]:
    """The times of each Python, from its first task to its last, and of all."""
    groups: dict[str, list[Done]] = {}
    for each in done:
        groups.setdefault(each.task.group, []).append(each)
    lines = []
    for group, ended in sorted(groups.items()):
        lasted = max(each.ended for each in ended) - min(each.begun for each in ended)
        lines.append(total(group, ended, lasted))
    everything = [each for ended in groups.values() for each in ended]
    return [*lines, f"{total('all', everything, seconds)}, {processes} at a time"]


def total(name: str, ended: list[Done], seconds: float) -> str:
    processor, failed = sum(each.processor for each in ended), sum(each.failed for each in ended)
    outcome = f"{failed} of {len(ended)} FAILED" if failed else f"all {len(ended)} ok"
    return f"{name:<5} {outcome}: {seconds / 60:.1f} minutes, {processor / 60:.1f} minutes of processors"


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def version_here() -> str:
    return "{}.{}".format(*sys.version_info[:2])


def line_by_line(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
