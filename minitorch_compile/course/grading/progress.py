"""What is done and what is next, recomputed from the checks.

Answers that haven't changed since they were judged aren't judged again (`checking/verdicts.py`).
"""

from __future__ import annotations

from pathlib import Path

from ..checking.lessons import Lesson, all_lessons
from ..checking.notebook_file import NotANotebook, code_cells
from ..checking.result import readable
from ..checking.verdicts import Verdicts
from ..files.course_folder import work_folder
from .grade import Grade, table, ungraded
from .hints import read_hints


def progress(lesson: str | None = None) -> None:
    """Print each exercise's state, in all lessons or in lesson "01", from the notebooks as they were last saved."""
    folder = work_folder()
    grades = grades_of(folder, lesson)
    hints = read_hints()
    for grade in grades:
        print("\n".join(lines_of(grade, hints)))
    if len(grades) > 1:
        print(table(grades))
    print(next_step(grades, folder))


def grades_of(folder: Path, number: str | None = None) -> list[Grade]:
    """The grades of the learner's notebooks in `folder`; unchanged answers aren't judged again."""
    wanted = [lesson for lesson in all_lessons() if number in (None, lesson.number)]
    if not wanted:
        numbers = ", ".join(lesson.number for lesson in all_lessons())
        raise LookupError(f"no exercises for lesson {number!r}. There are: {numbers}")
    verdicts = Verdicts(folder)
    return [_grade(lesson, folder / f"{lesson.name}.ipynb", verdicts) for lesson in wanted]


def lines_of(grade: Grade, hints: dict[str, int]) -> list[str]:
    """A lesson's exercises, one a line, for reading."""
    lines = [f"{grade.lesson.title}: {grade.points} of {grade.total} points  {readable(grade.note)}".rstrip()]
    for result in grade.results:
        state = "done" if result.passed else "begun" if result.started else "to do"
        read = hints.get(result.number, 0)
        note = f"   {read} of 3 hints read" if read else ""
        lines.append(f"  {state:<6} {result.number} {result.title:<46} {result.points} of {result.total}{note}")
    return lines


def next_step(grades: list[Grade], folder: Path) -> str:
    """Which exercise to go on with, and where it is."""
    for grade in grades:
        for result in grade.results:
            if not result.passed:
                return f"next: {result.number} {result.title}, in {folder / grade.lesson.name}.ipynb"
    return "next: nothing; all of it is done"


def _grade(lesson: Lesson, path: Path, verdicts: Verdicts) -> Grade:
    """Judges the exercises whose answers aren't remembered, and remembers them."""
    try:
        cells = code_cells(path)
    except NotANotebook as problem:
        return ungraded(lesson, path, str(problem))
    if numbers := verdicts.unknown(lesson.exercises, cells):
        print(f"judging {', '.join(numbers)} ...", flush=True)
    results = verdicts.judge_all(lesson.exercises, cells)
    verdicts.write()
    return Grade(lesson, tuple(results))
