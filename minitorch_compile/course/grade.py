"""Grade whole notebooks: every exercise of every lesson, each judged in a process of its own.

Only what an exercise's answer needs is run, so a broken or endless cell elsewhere in the notebook costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .check_process import judge_all, unjudged
from .lessons import Lesson, all_lessons
from .result import Result


@dataclass(frozen=True)
class Grade:
    """The results of one lesson's notebook."""

    lesson: Lesson
    results: tuple[Result, ...]

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
    if not path.exists():
        return Grade(lesson, tuple(unjudged(exercise, f"{path.name} is not there") for exercise in lesson.exercises))
    cells = code_cells(path)
    return Grade(lesson, tuple(judge_all(lesson.exercises, cells)))


def code_cells(path: Path) -> list[str]:
    """The sources of a notebook's code cells, from the top. ValueError if the file is not a notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name} is not a notebook: {error}") from error


def table(grades: Iterable[Grade]) -> str:
    """One line a lesson and a total, as `make grade` prints it."""
    rows = [(grade.lesson.title, grade.points, grade.total) for grade in grades]
    rows.append(("all lessons", sum(points for _, points, _ in rows), sum(total for _, _, total in rows)))
    width = max(len(title) for title, _, _ in rows)
    lines = [f"{'lesson':<{width}}  points       percent"]
    for title, points, total in rows:
        lines.append(f"{title:<{width}}  {points:>3} of {total:<4}  {percent(points, total):>6}%")
    return "\n".join(lines)


def percent(points: int, total: int) -> int:
    """Whole percent, rounded down, so that only full points are 100."""
    return 100 * points // total if total else 100
