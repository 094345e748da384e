"""The grader grades the learner: proved for every exercise of every lesson, also for those yet to be written.

The stub scores nothing, the solution everything, and each planted wrong answer fails with a message of its own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from minitorch_compile.course.checking.exercise import Exercise
from minitorch_compile.course.checking.lessons import Lesson, all_lessons
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.mini.reference import step, steps_of
from minitorch_compile.course.splicing.splice_points import splice_point

from .notebooks import AUTHORING, ROOT, judged_here, tool

if TYPE_CHECKING:
    from nbformat import NotebookNode

build = tool("build_course")
EXERCISES = [(lesson, exercise) for lesson in all_lessons() for exercise in lesson.exercises]
WRONG = [
    (lesson, number, cell, says)
    for lesson in all_lessons()
    for number, cell, says in build.wrong_answers(AUTHORING / f"{lesson.name}.py")
]
TRAINS = {"18"}  # lessons whose checks train models, for seconds
each_exercise = pytest.mark.parametrize(
    ("lesson", "exercise"),
    [
        pytest.param(lesson, each, id=each.number, marks=[pytest.mark.slow] if lesson.number in TRAINS else [])
        for lesson, each in EXERCISES
    ],
)


def code(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@cache
def built(name: str, kind: str) -> NotebookNode:
    """The exercise or the solution of the lesson with that name; reading its source takes a while."""
    return getattr(build, f"{kind}_notebook")(AUTHORING / f"{name}.py")


def stub_cells(lesson: Lesson) -> list[str]:
    return code(built(lesson.name, "exercise"))


def solution_cells(lesson: Lesson) -> list[str]:
    return code(built(lesson.name, "solution"))


@pytest.mark.whole
@each_exercise
def test_the_stub_scores_nothing(lesson: Lesson, exercise: Exercise) -> None:
    result = judged_here(exercise, stub_cells(lesson))
    assert result.points == 0 and not result.passed, str(result)


@pytest.mark.whole
@each_exercise
def test_the_solution_scores_everything(lesson: Lesson, exercise: Exercise) -> None:
    result = judged_here(exercise, solution_cells(lesson))
    assert result.passed and result.points == result.total > 0, str(result)


@each_exercise
def test_three_wrong_answers_or_more_are_each_told_a_misconception_of_their_own(
    lesson: Lesson, exercise: Exercise
) -> None:
    planted = [(cell, says) for _, number, cell, says in WRONG if number == exercise.number]
    assert len(planted) >= 3
    first_messages = set()
    for cell, says in planted:
        result = judged_here(exercise, [*solution_cells(lesson), cell])
        told = [case.why for case in result.cases if case.verdict == "fail"]
        assert not result.passed, f"this wrong answer passes:\n{cell}"
        assert says in " ".join(told), f"expected to be told {says!r}:\n{result}"
        first_messages.add(told[0])
    assert len(first_messages) == len(planted), f"two wrong answers get the same message: {sorted(first_messages)}"


@each_exercise
@pytest.mark.parametrize("constant", [None, True, False, 0, 1, (), "copy"])
def test_a_constant_scores_nothing(lesson: Lesson, exercise: Exercise, constant: object) -> None:
    if isinstance(exercise, Step):
        pytest.skip("a step is a part of a file, not one function: its wrong answers are planted")
    lazy = f"def {exercise.answer}(*args):\n    return {constant!r}"
    assert judged_here(exercise, [*solution_cells(lesson), lazy]).points == 0


@each_exercise
def test_the_feedback_sends_the_learner_to_a_section_that_exists(lesson: Lesson, exercise: Exercise) -> None:
    text = (ROOT / "authoring" / "lessons" / f"{lesson.name}.py").read_text()
    sections = set(re.findall(r"^# ##+ (.*)$", text, re.MULTILINE))
    assert {case.section for case in exercise.cases} <= sections


@each_exercise
def test_an_exercise_has_three_different_hints_and_a_budget(lesson: Lesson, exercise: Exercise) -> None:
    assert len({*exercise.hints}) == 3 and all(len(hint) > 20 for hint in exercise.hints)
    assert 1 <= exercise.minutes <= 30


@each_exercise
def test_the_notebook_states_and_checks_it(lesson: Lesson, exercise: Exercise) -> None:
    notebook = built(lesson.name, "exercise")
    headings = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert any(text.startswith(f"## {exercise.number} ") for text in headings)
    assert f'check("{exercise.number}")' in code(notebook)


@each_exercise
def test_its_splice_point_exists(lesson: Lesson, exercise: Exercise) -> None:
    if exercise.place is not None:
        assert splice_point(exercise.place).function()


@pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.name)
def test_a_lesson_has_four_exercises_or_more_numbered_in_order(lesson: Lesson) -> None:
    assert 4 <= len(lesson.exercises)
    assert [e.number for e in lesson.exercises] == [f"{lesson.number}.{i + 1}" for i in range(len(lesson.exercises))]


@pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.name)
def test_the_learner_sees_no_solution_and_no_wrong_answer(lesson: Lesson) -> None:
    learners = "\n".join(stub_cells(lesson))
    assert "BEGIN SOLUTION" not in learners and "END SOLUTION" not in learners
    for _, _, cell, _ in [wrong for wrong in WRONG if wrong[0] is lesson]:
        assert cell not in learners
    for exercise in lesson.exercises:
        assert not isinstance(exercise, Step) or step(exercise.number).text.strip() not in learners


EACH_STEP = [exercise for _, exercise in EXERCISES if isinstance(exercise, Step)]


@pytest.mark.parametrize("exercise", EACH_STEP, ids=[e.number for e in EACH_STEP])
def test_a_step_is_a_part_of_its_file(exercise: Step) -> None:
    assert exercise.number in steps_of(exercise.file)
