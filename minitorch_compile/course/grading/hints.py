"""Three hints an exercise, from a nudge to nearly the answer. They cost nothing; which were read is written down."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ..checking.exercise import Exercise
from ..checking.lessons import find_exercise
from ..checking.verdicts import Verdicts
from ..files.course_folder import work_folder_or_none
from ..files.kept_file import read_kept, write_kept


def hint(number: str, level: int | None = None) -> None:
    """Print the next hint of the exercise, or the one of `level` 1, 2 or 3."""
    exercise = find_exercise(number)
    read = read_hints()
    level = min(read.get(number, 0) + 1, 3) if level is None else level
    if level not in (1, 2, 3):
        raise ValueError(f"hint: level must be 1, 2 or 3, got {level}")
    _write({**read, number: max(level, read.get(number, 0))})
    print(f"{number} {exercise.title}: hint {level} of 3{_failing(exercise)}\n{exercise.hints[level - 1]}")
    lesson = f"solutions/{exercise.lesson}_*.ipynb"
    print(f'The next one: hint("{number}")' if level < 3 else f"No more hints. The solution is in {lesson}.")


def _failing(exercise: Exercise) -> str:
    """Where to look first: the case that failed first when the answer was checked last; else empty."""
    work = work_folder_or_none()
    last = Verdicts(work).last(exercise) if work is not None else None
    cases = last.cases if last is not None else ()
    case = next((case for case in cases if case.verdict in ("fail", "slow", "crash")), None)
    where = f' (lesson {exercise.lesson}, "{case.section}")' if case is not None and case.section else ""
    return f"\nYour last check fails first at: {case.title}{where}" if case is not None else ""


def read_hints() -> dict[str, int]:
    """The highest level read of each exercise."""
    path = _path()
    kept = read_kept(path) if path is not None else {}
    return {number: level for number, level in kept.items() if type(level) is int and 1 <= level <= 3}


def _write(levels: dict[str, Any]) -> None:
    path = _path()
    if path is not None:
        with suppress(OSError):  # what is wrong with the folder, writing the file says
            path.parent.mkdir(exist_ok=True)
        write_kept(path, levels)


def _path() -> Path | None:
    """None outside the course's folders, where nothing is written down."""
    work = work_folder_or_none()
    return work / ".hints.json" if work is not None else None
