"""Predictions inside lessons: the answer is what the next cell shows, and a miss is never told it."""

from __future__ import annotations

import re

import nbformat
import pytest

from authoring.checks.predictions import PREDICTIONS
from minitorch_compile.course.predict import find, missed, predict

from .notebooks import ROOT, tool

outputs = tool("lesson_outputs")

NOTEBOOKS = {path.name[:2]: path for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
each_prediction = pytest.mark.parametrize("name", [each.name for each in PREDICTIONS])


def asked(cell: nbformat.NotebookNode) -> str | None:
    """The name of the prediction that a cell asks for."""
    found = re.findall(r'predict\("([\w.]+)", None\)', cell.source)
    return found[0] if found else None


def cells_of(lesson: str) -> list[nbformat.NotebookNode]:
    return outputs.code_cells(nbformat.read(NOTEBOOKS[lesson], as_version=4))


@each_prediction
def test_the_next_cell_shows_the_answer(name):
    cells = cells_of(name[:2])
    (place,) = [n for n, cell in enumerate(cells) if asked(cell) == name]
    assert find(name).shown(outputs.seen_text(cells[place + 1]).strip()) == find(name).answer


@each_prediction
def test_a_miss_is_not_told_the_answer(name, capsys):
    missed.clear()
    wrong = 123456 if not isinstance(find(name).answer, str) else "none"
    for guess in (None, wrong, wrong):
        predict(name, guess)
    told = capsys.readouterr().out.replace(name, "")
    first, second, third = told.splitlines()
    assert "None" in first and find(name).thought in second and third.endswith("The next cell shows it.")
    answer = find(name).answer
    words = {str(answer), *map(str, answer if isinstance(answer, tuple) else ())}
    if isinstance(answer, tuple):
        assert str(answer) not in told
    else:
        assert not words & set(re.findall(r"\w+", told.replace("to 80", "")))


@each_prediction
def test_the_right_guess_is_told_why(name, capsys):
    predict(name, find(name).answer)
    assert f"yes. {find(name).why}" in capsys.readouterr().out


def test_every_prediction_of_a_lesson_is_in_the_table_and_the_other_way_round():
    in_lessons = [asked(cell) for lesson in NOTEBOOKS for cell in cells_of(lesson) if asked(cell)]
    assert sorted(in_lessons) == sorted(each.name for each in PREDICTIONS)


def test_every_lesson_from_03_on_asks_for_one():
    assert {each.name[:2] for each in PREDICTIONS} >= {lesson for lesson in NOTEBOOKS if lesson >= "03"}


def test_a_name_that_is_not_known_is_refused_with_the_names_there_are():
    with pytest.raises(LookupError, match="no prediction '05.nothing'. There are: 03.calls, "):
        predict("05.nothing", 1)
