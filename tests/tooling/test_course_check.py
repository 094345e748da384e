"""`make course-check` sees what goes wrong: it runs on tiny notebooks here, whose kernels don't import us."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.slow  # kernels are started

ROOT = Path(__file__).resolve().parents[2]
CHECK = "def check(number):\n    print(number, 'strides', '{} of 3 points')\n"
SLEEPS = "import time\ntime.sleep(2.5)"


def course_check(folder: Path, seconds: float, notebooks: dict[str, list[str]]) -> tuple[int, str]:
    """What it makes of notebooks with these cells."""
    for name, cells in notebooks.items():
        path = folder / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells))), path)
    command = [sys.executable, "tools/course_check.py", "--folder", folder, "--cell-seconds", str(seconds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_what_is_right_passes(tmp_path: Path) -> None:
    lesson, solution = ["x = 1", "assert x == 1"], [CHECK.format(3), 'check("01.1")']
    status, printed = course_check(tmp_path, 20, {"notebooks/01_a": lesson, "solutions/01_a": solution})
    assert (status, printed.count(" ok\n"), printed.count("all 2 ok")) == (0, 2, 2), printed


WRONG = {
    "a cell that raises": ("notebooks", ["x = 1", "print(x / 0)"], "ZeroDivisionError"),
    "a slow cell": ("notebooks", [SLEEPS], f" s of at most 2: {SLEEPS!r}"),
    "a cell that doesn't end": ("notebooks", ["while True:\n    pass"], "not done after 4 s"),
    "a cell that shows what is not stored": ("notebooks", ["print(2 * 21)"], "code cell 1 now shows\n42"),
    "a kernel that dies": ("notebooks", ["import os\nos._exit(3)"], "Kernel died"),
    "a check that lacks points": ("solutions", [CHECK.format(2), 'check("01.1")'], "01.1 strides 2 of 3 points"),
    "a check that says nothing": ("solutions", ["check = id", 'check("01.1")'], 'no points: check("01.1")'),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_fails_and_is_told(what: str, tmp_path: Path) -> None:
    folder, cells, told = WRONG[what]
    status, printed = course_check(tmp_path, 2, {f"{folder}/01_a": cells})
    (line,) = [line for line in printed.splitlines() if "01_a" in line and "processors" in line]
    assert status == 1
    assert line.endswith("FAILED") and told in printed, printed
    assert printed.splitlines()[-1].startswith("all   1 of 1 FAILED: 0.")
