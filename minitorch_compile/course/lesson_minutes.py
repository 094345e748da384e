"""How long a lesson takes: estimated by one rule from its text, and from what its exercises say of themselves.

The rule: 150 words a minute, six lines of code a minute, rounded up to quarters of an hour together. An exercise takes
the minutes on its sheet. A lesson's steps of `mini`, and its other exercises, come to quarters of an hour each, the
nearest; both together are what the first page, the concept map and the sheet say.

>>> reading_minutes("# %% [markdown]\\n# A word, and another.\\n\\n# %%\\nx = 1\\n")
15
>>> in_hours(15), in_hours(90), in_hours(0)
('¼ h', '1½ h', '')
>>> in_words(15), in_words(30), in_words(75), in_words(120)
('a quarter of an hour', 'half an hour', 'an hour and a quarter', 'two hours')
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import authoring

from .checking.exercise import Exercise
from .checking.lessons import all_lessons
from .checking.step import Step

WORDS_A_MINUTE = 150
LINES_A_MINUTE = 6
FOLDER = Path(authoring.__path__[0]) / "lessons"
QUARTERS = ("", "¼", "½", "¾")
ALONE = ("", "a quarter of an hour", "half an hour", "three quarters of an hour")
AFTER = ("", " and a quarter", " and a half", " and three quarters")
HOURS = ("", "an hour", "two hours", "three hours", "four hours", "five hours")


@dataclass(frozen=True)
class LessonTime:
    """Of one lesson: its title as far as the colon, and minutes: to read, for the steps of `mini`, for the others."""

    title: str
    reading: int
    others: int
    steps: int

    @property
    def exercises(self) -> int:
        return self.others + self.steps

    def __str__(self) -> str:
        return in_hours(self.reading) + (f" + {in_hours(self.exercises)}" if self.exercises else "")


def lesson_times() -> dict[str, LessonTime]:
    """By the lessons' numbers, in order."""
    return {path.name[:2]: lesson_time(path) for path in sorted(FOLDER.glob("[0-9][0-9]_*.py"))}


def lesson_time(path: Path) -> LessonTime:
    text = path.read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("# # ")).removeprefix("# # ")
    exercises = [each for lesson in all_lessons() if lesson.number == path.name[:2] for each in lesson.exercises]
    steps = [each for each in exercises if isinstance(each, Step)]
    others = [each for each in exercises if not isinstance(each, Step)]
    return LessonTime(
        title.partition(" ")[2].partition(":")[0], reading_minutes(text), in_quarters(others), in_quarters(steps)
    )


def in_quarters(exercises: Sequence[Exercise]) -> int:
    """All their minutes, to the nearest quarter of an hour; not 0 if there are any."""
    return max(15, 15 * round(sum(each.minutes for each in exercises) / 15)) if exercises else 0


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


def in_words(minutes: int) -> str:
    """As a sheet says it."""
    hours, quarters = divmod(minutes // 15, 4)
    return HOURS[hours] + AFTER[quarters] if hours else ALONE[quarters]
