"""Three hints an exercise, from a nudge to nearly the answer. They cost nothing; which were read is written down."""

from __future__ import annotations

import json
from pathlib import Path

from .course_folder import work_folder
from .lessons import find_exercise


def hint(number: str, level: int | None = None) -> None:
    """Print the next hint of the exercise, or the one of `level` 1, 2 or 3."""
    exercise = find_exercise(number)
    read = read_hints()
    level = min(read.get(number, 0) + 1, 3) if level is None else level
    if level not in (1, 2, 3):
        raise ValueError(f"hint: level must be 1, 2 or 3, got {level}")
    _write({**read, number: max(level, read.get(number, 0))})
    print(f"{number} {exercise.title}: hint {level} of 3\n{exercise.hints[level - 1]}")
    lesson = f"solutions/{exercise.lesson}_*.ipynb"
    print(f'The next one: hint("{number}")' if level < 3 else f"No more hints. The solution is in {lesson}.")


def read_hints() -> dict[str, int]:
    """The highest level read of each exercise."""
    path = _path()
    return json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else {}


def _write(levels: dict[str, int]) -> None:
    path = _path()
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(levels, indent=1, sort_keys=True), encoding="utf-8")


def _path() -> Path | None:
    """None outside the course's folders, where nothing is written down."""
    try:
        return work_folder() / ".hints.json"
    except FileNotFoundError:
        return None
