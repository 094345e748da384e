"""Runs the whole course as a reader would: `make course-check`.

`tools/course_check.py [--pythons 3.12 ...] [NN ...]`

Once: are the generated files up to date, do links lead somewhere. Then, under each Python found here: every lesson,
every solution in a folder of its own, and the tests of `mini` as it is after each lesson. A line each, with its
seconds. A cell that takes over a minute fails, and so does a check in a solution that doesn't give all points. Outputs
are not compared: another Python may print other bytes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from all_pythons import find_python  # noqa: E402

VERSIONS = ("3.11", "3.12", "3.13")
CELL_SECONDS = 60
POINTS = re.compile(r"(\d+) of (\d+) points")
QUIET = {"KernelManager": {"transport_encryption": "auto"}}  # else the kernel prints a warning
STAGES, DOCUMENTS = "tests/course/test_mini_stages.py", "tests/tooling/test_documents.py"


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the whole course under each Python found here.")
    parser.add_argument("lessons", nargs="*", help="numbers such as 01; default: all")
    parser.add_argument("--pythons", nargs="*", default=VERSIONS)
    parser.add_argument("--here", action="store_true", help="only what is run under each Python, and under this one")
    options = parser.parse_args()
    if options.here:
        return run_here(options.lessons)
    failed = once("generated files", [sys.executable, "tools/build_course.py", "--check"])
    failed += once("links", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", DOCUMENTS])
    for version in options.pythons:
        failed += under(version, options.lessons)
    return int(bool(failed))


def under(version: str, lessons: list[str]) -> int:
    """Everything under that Python, in an environment below build/."""
    python = find_python(version)
    if python is None:
        print(f"{version}  is not on this machine", flush=True)
        return 0
    folder = ROOT / "build" / f"python{version}"
    subprocess.run([python, "tools/set_up.py", "--folder", folder], cwd=ROOT, check=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [folder / "bin" / "python", "tools/course_check.py", "--here", *lessons]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def run_here(lessons: list[str]) -> int:
    """Lessons, solutions and the stages of `mini` under this Python."""
    failed = 0
    for source in ("notebooks", "solutions"):
        for path in sorted((ROOT / source).glob("[0-9][0-9]_*.ipynb")):
            if not lessons or path.name[:2] in lessons:
                start = time.monotonic()
                failed += told(f"{source}/{path.stem}", start, problem_of(path))
    with_steps = [lesson for lesson in lessons if (ROOT / "solutions" / "mini" / lesson).is_dir()]
    if lessons and not with_steps:
        return failed
    chosen = ["-k", " or ".join(f"[{lesson}]" for lesson in with_steps)] if lessons else []
    return failed + once("mini", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", STAGES, *chosen])


def problem_of(path: Path) -> str:
    """Runs a notebook in a course folder that is empty but for what `work/` gets; "" if all went well."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as course:
        for folder in ("exercises", "notebooks", "work"):
            (Path(course) / folder).mkdir()
        resources = {"metadata": {"path": f"{course}/work"}}
        try:
            client = NotebookClient(
                notebook, timeout=2 * CELL_SECONDS, record_timing=True, resources=resources, config=Config(QUIET)
            )
            client.execute()
        except (CellExecutionError, CellTimeoutError) as error:
            return str(error)[-1500:]
    slow = [f"{took:.0f} s: {cell.source[:60]!r}" for cell in notebook.cells if (took := seconds(cell)) > CELL_SECONDS]
    checks = [cell for cell in notebook.cells if cell.source.startswith("check(")]
    printed = [output.get("text", "") for cell in checks for output in cell.outputs]
    missed = [text for text in printed if any(a != b for a, b in POINTS.findall(text))]
    return "\n".join([*slow, *(missed if path.parent.name == "solutions" else [])])


def seconds(cell: object) -> float:
    """How long a cell ran, by the kernel's own messages."""
    times = getattr(cell, "metadata", {}).get("execution", {})
    if not {"iopub.execute_input", "shell.execute_reply"} <= set(times):
        return 0.0
    begun, ended = (datetime.fromisoformat(times[key]) for key in ("iopub.execute_input", "shell.execute_reply"))
    return (ended - begun).total_seconds()


def once(name: str, command: list[str]) -> int:
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    return told(name, start, (done.stdout + done.stderr)[-3000:] if done.returncode else "")


def told(name: str, start: float, problem: str) -> int:
    version = "{}.{}".format(*sys.version_info[:2])
    print(f"{version}  {name:<48} {time.monotonic() - start:6.1f} s  {'FAILED' if problem else 'ok'}", flush=True)
    if problem:
        print(problem, flush=True)
    return int(bool(problem))


if __name__ == "__main__":
    sys.exit(main())
