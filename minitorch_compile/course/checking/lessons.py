"""The lessons that have exercises, and the lookup of an exercise by its number.

The package `authoring/checks/lesson_NN_name` belongs to the notebook `NN_name.ipynb`; it holds a TITLE and EXERCISES.
It lies beside the exercise's source, in the checkout that the course is read in.

>>> find_exercise("01.1").title
'strides of a new tensor'
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache

from authoring import checks

from .exercise import Exercise

PREFIX = "lesson_"


@dataclass(frozen=True)
class Lesson:
    """`name` is the stem of the lesson's three notebooks."""

    number: str
    name: str
    title: str
    exercises: tuple[Exercise, ...]

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises)


def lesson_names() -> list[str]:
    """The names of the lessons with exercises, in the order of the course; imports none of them."""
    names = (module.name for module in pkgutil.iter_modules(checks.__path__))
    return sorted(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


@cache
def load_lesson(name: str) -> Lesson:
    """The lesson "01_tensors_strides_views"."""
    module = importlib.import_module(f"{checks.__name__}.{PREFIX}{name}")
    return Lesson(name.partition("_")[0], name, module.TITLE, tuple(module.EXERCISES))


def all_lessons() -> list[Lesson]:
    return [load_lesson(name) for name in lesson_names()]


def find_exercise(number: str) -> Exercise:
    """The exercise "01.1". LookupError lists the numbers there are."""
    wanted = [name for name in lesson_names() if name.partition("_")[0] == number.partition(".")[0]]
    exercises = [exercise for name in wanted for exercise in load_lesson(name).exercises]
    for exercise in exercises:
        if exercise.number == number:
            return exercise
    numbers = [exercise.number for lesson in all_lessons() for exercise in lesson.exercises]
    raise LookupError(f"no exercise {number!r}. There are: {', '.join(numbers)}")
