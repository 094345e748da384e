"""The reference of `mini`, in authoring/mini: its files in the order in which the course writes them, and its steps.

>>> file_of("15.6")
'emit'
>>> step("15.6").title
'the loop over the rows'
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import authoring

from .sections import Section, sections

FOLDER = Path(authoring.__path__[0]) / "mini"
LINES = 2_000  # of code, at most


@cache
def reference() -> dict[str, tuple[Section, ...]]:
    """The sections of each file, by its name without `.py`: first those that are given as a whole, then by lessons."""
    files = {path.stem: tuple(sections(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.py"))}
    return dict(sorted(files.items(), key=lambda item: _place(item[1])))


def _place(parts: tuple[Section, ...]) -> tuple[int, int]:
    numbers = [place(part.number) for part in parts if part.number]
    return min(numbers, default=(0, 0))


def place(number: str) -> tuple[int, int]:
    """Steps are ordered by this: 13.10 comes after 13.9."""
    lesson, _, exercise = number.partition(".")
    return int(lesson), int(exercise)


def steps_of(file: str) -> dict[str, Section]:
    """The steps of a file, by number. LookupError names the files there are."""
    if file not in reference():
        raise LookupError(f"mini has no file {file!r}. There are: {', '.join(reference())}")
    return {part.number: part for part in reference()[file] if part.number}


def all_steps() -> dict[str, str]:
    """The file of each step, by number, in the order of the course."""
    found = {number: file for file in reference() for number in steps_of(file)}
    return dict(sorted(found.items(), key=lambda item: place(item[0])))


def file_of(number: str) -> str:
    """The file that a step belongs to. LookupError if there is no such step."""
    steps = all_steps()
    if number not in steps:
        raise LookupError(f"no file of mini has a step {number!r}")
    return steps[number]


def step(number: str) -> Section:
    return steps_of(file_of(number))[number]
