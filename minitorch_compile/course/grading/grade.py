"""Grade whole notebooks: every exercise of every lesson, each judged in a process of its own.

Only what an exercise's answer needs is run, so a broken or endless cell elsewhere in the notebook costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..checking.check_process import judge_all, unjudged
from ..checking.lessons import Lesson, all_lessons
from ..checking.notebook_file import NotANotebook, code_cells
from ..checking.result import Result, readable


@dataclass(frozen=True)
class Grade:
    """The results of one lesson's notebook; `note` says why it could not be read."""

    lesson: Lesson
    results: tuple[Result, ...]
    note: str = ""

    @property
    def points(self) -> int:
        return sum(result.points for result in self.results)

    @property
    def total(self) -> int:
        return sum(result.total for result in self.results)


def grade_folder(folder: Path) -> list[Grade]:
    """The grades of all lessons; a notebook that isn't in the folder scores nothing."""
    return [grade_notebook(lesson, folder / f"{lesson.name}.ipynb") for lesson in all_lessons()]


def grade_notebook(lesson: Lesson, path: Path) -> Grade:
    try:
        cells = code_cells(path)
    except NotANotebook as problem:
        return ungraded(lesson, path, str(problem))
    return Grade(lesson, tuple(judge_all(lesson.exercises, cells, path.parent)))


def ungraded(lesson: Lesson, path: Path, problem: str) -> Grade:
    """No points, and why. That a notebook isn't there is no problem to point out: it was not begun."""
    is_there = os.path.lexists(path)
    note = problem if is_there else f"{path.name} is not there"
    return Grade(lesson, tuple(unjudged(exercise, note) for exercise in lesson.exercises), note if is_there else "")


def table(grades: Iterable[Grade]) -> str:
    """One line a lesson and a total, as `make grade` prints it."""
    rows = [(grade.lesson.title, grade.points, grade.total, grade.note) for grade in grades]
    rows.append(("all lessons", sum(row[1] for row in rows), sum(row[2] for row in rows), ""))
    width = max(len(row[0]) for row in rows)
    lines = [f"{'lesson':<{width}}  points       percent"]
    for title, points, total, note in rows:
        line = f"{title:<{width}}  {points:>3} of {total:<4}  {percent(points, total):>6}%  {readable(note)}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def percent(points: int, total: int) -> int:
    """Whole percent, rounded down, so that only full points are 100."""
    return 100 * points // total if total else 100
