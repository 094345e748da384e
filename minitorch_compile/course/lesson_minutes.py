"""How long a lesson takes: estimated by one rule from its text, and from what its exercises say of themselves.

The rule: 150 words a minute, six lines of code a minute, each rounded up to quarters of an hour together. An exercise
takes the minutes on its sheet, and all of a lesson's are rounded up to half hours.

>>> reading_minutes("# %% [markdown]\\n# A word, and another.\\n\\n# %%\\nx = 1\\n")
15
>>> in_hours(15), in_hours(90), in_hours(0)
('¼ h', '1½ h', '')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import authoring

from .checking.lessons import all_lessons

WORDS_A_MINUTE = 150
LINES_A_MINUTE = 6
FOLDER = Path(authoring.__path__[0]) / "lessons"
QUARTERS = ("", "¼", "½", "¾")


@dataclass(frozen=True)
class LessonTime:
    """Of one lesson: its title as far as the colon, and minutes."""

    title: str
    reading: int
    exercises: int

    def __str__(self) -> str:
        return in_hours(self.reading) + (f" + {in_hours(self.exercises)}" if self.exercises else "")


def lesson_times() -> dict[str, LessonTime]:
    """By the lessons' numbers, in order."""
    return {path.name[:2]: lesson_time(path) for path in sorted(FOLDER.glob("[0-9][0-9]_*.py"))}


def lesson_time(path: Path) -> LessonTime:
    text = path.read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("# # ")).removeprefix("# # ")
    minutes = [e.minutes for lesson in all_lessons() if lesson.number == path.name[:2] for e in lesson.exercises]
    return LessonTime(title.partition(" ")[2].partition(":")[0], reading_minutes(text), rounded_up(sum(minutes), 30))


def reading_minutes(source: str) -> int:
    """To read the prose and the code of a lesson's source, and to run it."""
    words = lines = 0
    for cell in source.split("# %%"):
        header, _, body = cell.partition("\n")
        if "[markdown]" in header:
            words += sum(word != "#" for word in body.split())
        else:
            lines += sum(bool(line.strip()) for line in body.splitlines())
    return rounded_up(words / WORDS_A_MINUTE + lines / LINES_A_MINUTE, 15)


def rounded_up(minutes: float, step: int) -> int:
    return step * math.ceil(minutes / step)


def in_hours(minutes: int) -> str:
    hours, quarters = divmod(minutes // 15, 4)
    return f"{hours or ''}{QUARTERS[quarters]} h" if minutes else ""
