"""A lesson's cells can be run again in any order: `make rerun` runs each lesson three times in one kernel.

From top to bottom, then in an order that a seed says, then from top to bottom again. In the second round a cell may
meet a name that a later cell has given to something else; what it raises is shown. A kernel that dies is a mistake, and
so is a cell that raises in the third round: then something was left changed that running all cells doesn't mend.

    make rerun LESSONS="05 13"
    .venv/bin/python tools/rerun_cells.py --seed 7 05
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from lesson_outputs import CELL_SECONDS, code_cells  # noqa: E402
from run_notebook import QUIET  # noqa: E402


def rounds(notebook: NotebookNode, seed: int) -> NotebookNode:
    """A notebook with the code cells in their order, in a random one, and in their order again."""
    cells = code_cells(notebook)
    mixed = random.Random(seed).sample(cells, len(cells))
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c.source) for c in (*cells, *mixed, *cells)])


def raised_in(notebook: NotebookNode, folder: Path, seed: int) -> list[tuple[int, str]]:
    """What is raised in the three rounds: its round, and a sentence. DeadKernelError or CellTimeoutError else."""
    again = rounds(notebook, seed)
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        again, timeout=CELL_SECONDS, allow_errors=True, record_timing=False, resources=resources, config=Config(QUIET)
    )
    client.execute()
    count = len(again.cells) // 3
    return [
        (number // count + 1, f"{output.ename}: {output.evalue} in the cell that begins {cell.source[:60]!r}")
        for number, cell in enumerate(again.cells)
        for output in cell.outputs
        if output.output_type == "error"
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a lesson's cells again, in any order.")
    parser.add_argument("lessons", nargs="*", help="their numbers; all unless given")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.environ["MTC_PROGRESS"] = "0"
    found = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    failed = 0
    for path in [path for path in found if not options.lessons or path.name[:2] in options.lessons]:
        began = time.monotonic()
        try:
            raised = raised_in(nbformat.read(path, as_version=4), path.parent, options.seed)
        except (CellTimeoutError, DeadKernelError) as error:
            raised = [(3, str(error)[-2000:])]
        wrong = sum(number != 2 for number, _ in raised)
        failed += wrong
        print(f"{path.stem}: {'FAILED' if wrong else 'ok'}, {time.monotonic() - began:.0f} s", flush=True)
        for number, said in raised:
            print(f"  round {number}: {said}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
