"""Runs a notebook as a reader would, from top to bottom: `run_notebook.py [--all-points] [--as-stored] x.ipynb`.

In a course folder that is empty but for what `work/` gets, and with a fresh kernel. What goes wrong is printed, and the
exit status is 1: a cell that raises, a cell that takes longer than `--cell-seconds`, with `--all-points` a check that
doesn't give them, and with `--as-stored` a cell that shows something else than the notebook has stored. The latter is
for the Python that the notebooks were built with: another one may print other bytes.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from datetime import datetime
from pathlib import Path

# A grammar of web addresses, which notebooks need not: making its parser takes longer than all other imports here.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError  # noqa: E402
from nbformat import NotebookNode  # noqa: E402
from traitlets.config import Config  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from lesson_outputs import code_cells, differences, merged_streams, without_machine_paths  # noqa: E402

POINTS = re.compile(r"\b(\d+) of (\d+) points")
QUIET = {"KernelManager": {"transport_encryption": "auto"}}  # else the kernel prints a warning
LONGEST = 3000  # characters of what a cell raised


def problems_of(path: Path, cell_seconds: float, all_points: bool, as_stored: bool) -> list[str]:
    """What goes wrong in a notebook."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as course:
        for folder in ("exercises", "notebooks", "work"):
            (Path(course) / folder).mkdir()
        client = NotebookClient(
            notebook,
            timeout=math.ceil(2 * cell_seconds),  # more than it may take, so that it can be said how much it took
            record_timing=True,
            resources={"metadata": {"path": f"{course}/work"}},
            config=Config(QUIET),
        )
        try:
            client.execute()
        except CellTimeoutError as error:
            return [f"not done after {client.timeout} s: {str(error)[-LONGEST:]}"]
        except (CellExecutionError, DeadKernelError) as error:
            return [str(error)[-LONGEST:]]
    problems = too_slow(notebook, cell_seconds) + (without_all_points(notebook) if all_points else [])
    return problems + (not_as_stored(notebook, path, Path(course)) if as_stored else [])


def too_slow(notebook: NotebookNode, cell_seconds: float) -> list[str]:
    times = [(seconds(cell), cell.source) for cell in code_cells(notebook)]
    return [f"{took:.1f} s of at most {cell_seconds:g}: {text[:60]!r}" for took, text in times if took > cell_seconds]


def without_all_points(notebook: NotebookNode) -> list[str]:
    """What the checks printed that gave no points, or not all of them."""
    missed = []
    for cell in code_cells(notebook):
        if cell.source.startswith("check("):
            printed = "".join(output.get("text", "") for output in cell.outputs)
            points = POINTS.findall(printed)
            if not points or any(got != of for got, of in points):
                missed.append(printed or f"no points: {cell.source}")
    return missed


def not_as_stored(notebook: NotebookNode, path: Path, course: Path) -> list[str]:
    """The cells that a reader would see show something else; the folders of this machine are left out of it."""
    for cell in code_cells(notebook):
        outputs = [without_machine_paths(output, course) for output in merged_streams(cell.outputs)]
        cell.outputs = [without_machine_paths(output, ROOT) for output in outputs]
    found = differences(nbformat.read(path, as_version=4), notebook)
    return [*found, f"`make course` stores what {path.name} shows now"] if found else []


def seconds(cell: NotebookNode) -> float:
    """How long a cell ran, by the kernel's own messages."""
    times = cell.metadata.get("execution", {})
    if not {"iopub.execute_input", "shell.execute_reply"} <= set(times):
        return 0.0
    begun, ended = (datetime.fromisoformat(times[key]) for key in ("iopub.execute_input", "shell.execute_reply"))
    return (ended - begun).total_seconds()


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a notebook from top to bottom.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--cell-seconds", type=float, default=60.0, help="how long a cell may take")
    parser.add_argument("--all-points", action="store_true", help="each check must give all its points")
    parser.add_argument("--as-stored", action="store_true", help="each cell must show what the notebook has stored")
    options = parser.parse_args()
    problems = problems_of(options.notebook, options.cell_seconds, options.all_points, options.as_stored)
    for problem in problems:
        print(problem)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
