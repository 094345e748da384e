"""The notebooks as a learner runs them: all cells, in a real kernel, from work/."""

from __future__ import annotations

import contextlib

import nbformat
import pytest

from minitorch_compile.course import borrow
from minitorch_compile.course.checking.lessons import all_lessons
from minitorch_compile.course.mini.reference import all_steps

from .notebooks import ROOT, tool

outputs = tool("lesson_outputs")


def run_all(path, course_folder):
    """The text that each code cell shows, from its source; an error output fails the run."""
    for folder in ("exercises", "notebooks", "work"):
        (course_folder / folder).mkdir(exist_ok=True)
    lessons = sorted({number.partition(".")[0] for number in all_steps()})
    with contextlib.chdir(course_folder):
        for lesson in [lesson for lesson in lessons if lesson < path.name[:2]][-1:]:
            borrow(lesson)  # a learner has written the files of the lessons before
    copy = course_folder / "work" / path.name
    copy.write_bytes(path.read_bytes())
    notebook = nbformat.read(copy, as_version=4)
    outputs.run(notebook, course_folder, folder="work")
    return {cell.source: outputs.seen_text(cell) for cell in outputs.code_cells(notebook)}


@pytest.mark.slow
@pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.name)
def test_an_untouched_exercise_runs_through_and_scores_nothing(lesson, tmp_path):
    shown = run_all(ROOT / "exercises" / f"{lesson.name}.ipynb", tmp_path)
    for exercise in lesson.exercises:
        assert f"  0 of {exercise.points} points" in shown[f'check("{exercise.number}")']


@pytest.mark.slow
@pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.name)
def test_a_solution_runs_through_and_every_check_passes(lesson, tmp_path):
    shown = run_all(ROOT / "solutions" / f"{lesson.name}.ipynb", tmp_path)
    for exercise in lesson.exercises:
        assert f"  {exercise.points} of {exercise.points} points" in shown[f'check("{exercise.number}")']
