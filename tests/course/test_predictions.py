"""A prediction that is missed is told why, and not what is right: it can be thought over again."""

from __future__ import annotations

from typing import Any

import pytest

from minitorch_compile.course.checking.exercise import Exercise
from minitorch_compile.course.checking.lessons import Lesson, all_lessons

from .notebooks import AUTHORING, judged_here, tool

build = tool("build_course")
PREDICTIONS = [
    (lesson, exercise)
    for lesson in all_lessons()
    for exercise in lesson.exercises
    if exercise.title.endswith("predict")
]


def solution_cells(lesson: Lesson) -> list[str]:
    notebook = build.solution_notebook(AUTHORING / f"{lesson.name}.py")
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def right_answers(exercise: Exercise, cells: list[str]) -> dict[str, Any]:
    (submission,) = exercise.submissions(cells)
    with exercise.loaded(submission.job) as answer:
        return dict(answer)


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "exercise"), PREDICTIONS, ids=[e.number for _, e in PREDICTIONS])
def test_the_answer_to_a_missed_question_is_not_told(lesson: Lesson, exercise: Exercise) -> None:
    cells = solution_cells(lesson)
    for question, right in right_answers(exercise, cells).items():
        missed = f"{exercise.answer} = {exercise.answer} | {{{question!r}: ['a guess']}}"
        told = [
            f"{case.fact} {case.why}"
            for case in judged_here(exercise, [*cells, missed]).cases
            if case.verdict == "fail"
        ]
        assert len(told) == 1, question
        assert len(repr(right)) < 4 or repr(right) not in told[0].replace(question, ""), told
