"""What is done and what is next, recomputed from the checks.

`work/.progress.json` only remembers results of answers that haven't changed since; deleting it loses nothing.
"""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Any

from ..checking.check_process import judge_all
from ..checking.exercise import Exercise, NotWritten
from ..checking.lessons import Lesson, all_lessons
from ..checking.notebook_file import NotANotebook, code_cells
from ..checking.notebook_slice import CellSyntaxError
from ..checking.result import Result, readable
from ..files.course_folder import work_folder
from ..files.kept_file import read_kept, write_kept
from .grade import Grade, table, ungraded
from .hints import read_hints

Remembered = dict[str, Any]


def progress(lesson: str | None = None) -> None:
    """Print each exercise's state, in all lessons or in lesson "01", from the notebooks as they were last saved."""
    folder = work_folder()
    grades = grades_of(folder, lesson)
    hints = read_hints()
    for grade in grades:
        print("\n".join(lines_of(grade, hints)))
    if len(grades) > 1:
        print(table(grades))


def grades_of(folder: Path, number: str | None = None) -> list[Grade]:
    """The grades of the learner's notebooks in `folder`; unchanged answers aren't judged again."""
    wanted = [lesson for lesson in all_lessons() if number in (None, lesson.number)]
    if not wanted:
        numbers = ", ".join(lesson.number for lesson in all_lessons())
        raise LookupError(f"no exercises for lesson {number!r}. There are: {numbers}")
    cache_path = folder / ".progress.json"
    remembered: Remembered = read_kept(cache_path)
    grades = [_grade(lesson, folder / f"{lesson.name}.ipynb", remembered) for lesson in wanted]
    if folder.is_dir():
        write_kept(cache_path, remembered)
    return grades


def lines_of(grade: Grade, hints: dict[str, int]) -> list[str]:
    """A lesson's exercises, one a line, for reading."""
    lines = [f"{grade.lesson.title}: {grade.points} of {grade.total} points  {readable(grade.note)}".rstrip()]
    for result in grade.results:
        state = "done" if result.passed else "begun" if result.started else "to do"
        read = hints.get(result.number, 0)
        note = f"   {read} of 3 hints read" if read else ""
        lines.append(f"  {state:<6} {result.number} {result.title:<32} {result.points} of {result.total}{note}")
    return lines


def _grade(lesson: Lesson, path: Path, remembered: Remembered) -> Grade:
    """Judges the exercises whose answers aren't remembered, and remembers them."""
    try:
        cells = code_cells(path)
    except NotANotebook as problem:
        return ungraded(lesson, path, str(problem))
    keys = {exercise.number: _fingerprint(exercise, cells, path.parent) for exercise in lesson.exercises}
    results = {e.number: _recalled(e, remembered.get(keys[e.number])) for e in lesson.exercises}
    changed = [exercise for exercise in lesson.exercises if results[exercise.number] is None]
    for exercise, result in zip(changed, judge_all(changed, cells, path.parent), strict=True):
        results[exercise.number] = result
        remembered[keys[exercise.number]] = result.to_json()
    return Grade(lesson, tuple(result for result in results.values() if result is not None))


def _recalled(exercise: Exercise, data: Any) -> Result | None:
    """A remembered result; None if there is none, or what was remembered is no result of this exercise."""
    try:
        result = Result.from_json(data)
    except (TypeError, KeyError, AttributeError):
        return None
    remembered = [exercise.number, exercise.title, *((case.title, case.points) for case in exercise.cases)]
    fits = remembered == [result.number, result.title, *((case.title, case.points) for case in result.cases)]
    return result if fits and result.is_well_formed() else None


def _fingerprint(exercise: Exercise, cells: list[str], work: Path) -> str:
    """Changes with the answer's text and with the checks that judge it."""
    try:
        answer = "\0".join(each.depends_on for each in exercise.submissions(cells, work))
    except (LookupError, CellSyntaxError, NotWritten) as problem:
        answer = str(problem)
    judge_file = Path(inspect.getfile(exercise.cases[0].judge))
    judges = "\n".join(path.read_text(encoding="utf-8") for path in sorted(judge_file.parent.glob("*.py")))
    text = f"{answer}\0{judges}".encode(errors="backslashreplace")
    return exercise.number + " " + hashlib.sha256(text).hexdigest()[:16]
