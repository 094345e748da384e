"""A `mini` of two files and three steps, for tests of the machinery."""

from __future__ import annotations

import pytest

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.mini import reference

FIRST = '''"""Lesson 01.

>>> twice(2)
4
"""

import math


# %% 01.7 twice
def twice(x):
    """Twice as much."""
    return 2 * x


# %% given
PI = math.pi
'''
SECOND = '''"""Lesson 02."""

from mini.first import twice


# %% 02.7 a box
class Box:
    """Holds a number."""

    def __init__(self, value):
        self.value = value

    # %% 02.8 a box that grows
    def grow(self):
        """Twice as much in it."""
        self.value = twice(self.value)
        return self.value


# %% given
EMPTY = 0
'''
HINTS = ("Begin with one.", "Go on with two.", "End with three.")
TWICE = Step("01.7", "twice", file="first", minutes=1, hints=HINTS)
BOX = Step("02.7", "a box", file="second", minutes=1, hints=HINTS)
GROW = Step("02.8", "a box that grows", file="second", minutes=1, hints=HINTS)


@TWICE.case("one", points=1, section="Numbers")
@TWICE.case("three", points=2, section="Numbers")
def _(mini) -> None:
    if (got := mini.first.twice(3)) != 6:
        raise WrongAnswer(f"twice(3): expected 6, got {got!r}", "Twice is two times.")


@BOX.case("what is in it", points=1, section="Boxes")
def _(mini) -> None:
    if mini.second.Box(3).value != 3:
        raise WrongAnswer("Box(3).value is not 3", "A box keeps what it gets.")


@GROW.case("it grows", points=1, section="Boxes")
def _(mini) -> None:
    if (got := mini.second.Box(3).grow()) != 6:
        raise WrongAnswer(f"Box(3).grow(): expected 6, got {got!r}", "It grows by itself.")


def install(folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes it the reference."""
    for file, text in {"__init__": '"""Small."""\n', "first": FIRST, "second": SECOND}.items():
        (folder / f"{file}.py").write_text(text)
    monkeypatch.setattr(reference, "FOLDER", folder)
    reference.reference.cache_clear()
