"""`make rerun` sees what a cell leaves changed: on a tiny notebook, whose kernel doesn't import us."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.course.notebooks import tool

rerun = tool("rerun_cells")


def notebook(*cells: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def test_each_cell_comes_three_times_and_the_second_time_in_another_order() -> None:
    texts = [f"x = {number}" for number in range(9)]
    found = [cell.source for cell in rerun.rounds(notebook(*texts), seed=0).cells]
    assert found[:9] == found[18:] == texts
    assert found[9:18] != texts and sorted(found[9:18]) == texts


@pytest.mark.slow
def test_what_the_third_round_raises_was_left_changed(tmp_path: Path) -> None:
    mended = "import math\nmath.tau = 6"
    broken = "import math\nmath.ceil, before = None, math.ceil(1.5)"
    raised = rerun.raised_in(notebook(mended, broken), tmp_path, seed=0)
    assert [number for number, _ in raised] == [2, 3]
    assert "'NoneType' object is not callable" in raised[1][1] and "math.ceil" in raised[1][1]
