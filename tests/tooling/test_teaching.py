"""The teacher's kit: its pages are about the course as it is, and a sheet's key is what happens."""

from __future__ import annotations

import nbformat
import pytest

from minitorch_compile.course.grading.roster import Learner
from tests.course.notebooks import tool

variants = tool("variants")
LEARNERS = [Learner(name, folder=name) for name in ("ada", "alan", "grace")]


def filled(path, answers):
    """The sheet with these answers in the place of `...`."""
    notebook = nbformat.read(path, as_version=4)
    values = iter(answers)
    code = notebook.cells[1].source
    while "..." in code:
        code = code.replace("...", repr(next(values)), 1)
    notebook.cells[1].source = code
    nbformat.write(notebook, path)


def test_a_sheet_is_graded_by_what_happens(tmp_path, capsys):
    variants.hand_out(LEARNERS, "seed", tmp_path)
    keys = {each.id: [variants.answer_to(q) for q in variants.questions("seed", each.id)] for each in LEARNERS}
    assert len({str(key) for key in keys.values()}) == 3
    filled(tmp_path / "ada.ipynb", keys["ada"])
    filled(tmp_path / "alan.ipynb", [True, *keys["alan"][1:]])
    variants.grade(LEARNERS, "seed", tmp_path)
    said = capsys.readouterr().out
    assert "ada: 10 of 10" in said and "alan: 9 of 10" in said and "grace: 0 of 10" in said
    assert (tmp_path / "points.csv").read_text().count("\n") == 4


def test_a_sheet_that_is_filled_in_is_not_handed_out_again(tmp_path, capsys):
    (tmp_path / "ada.ipynb").write_text("hers")
    variants.hand_out(LEARNERS, "seed", tmp_path)
    assert (tmp_path / "ada.ipynb").read_text() == "hers" and "2 sheets" in capsys.readouterr().out


@pytest.mark.parametrize(
    "cell",
    [
        "prediction = {",
        "prediction = {'q': open('/tmp/cheat', 'w')}",
        "prediction = {**{'q': 1}}",
        "prediction = {'q': " + "(" * 300 + ")" * 300 + "}",
        "prediction = {" + "[" * 10_000,
        "\0",
    ],
)
def test_a_sheet_is_read_and_not_run(cell):
    assert variants.predictions([cell]) == {}


def test_the_table_of_wrong_answers_is_about_those_that_are_planted():
    assert tool("wrong_answers").main(["--check"]) == 0


def test_the_plans_are_about_the_lessons_that_there_are():
    assert tool("lesson_plans").main(["--check"]) == 0
