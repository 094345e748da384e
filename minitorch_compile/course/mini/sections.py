r"""A file of `mini`, cut at its marker lines into what is given and the steps that a learner writes.

>>> text = "import math\n# %% 01.7 areas\ndef area(r):\n    return math.pi * r * r\n# %% given\nTWO = 2\n"
>>> for section in sections(text):
...     print(repr(section.number), repr(section.title), repr(section.text))
'' '' 'import math\n'
'01.7' 'areas' 'def area(r):\n    return math.pi * r * r\n'
'' 'given' 'TWO = 2\n'
>>> whole(sections(text)) == text
True

A marker may stand inside a class, between two methods. Texts are kept byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

MARKER = re.compile(r"^[ \t]*# %% (?:(?P<number>\d\d\.\d+)(?:[ \t]+(?P<title>.*?))?|given)[ \t]*$")


@dataclass(frozen=True)
class Section:
    """`marker` is the line that begins it (empty for what stands before the first), `number` that of a step, or ""."""

    marker: str
    number: str
    title: str
    text: str

    @property
    def depth(self) -> int:
        """How far its first statement is indented: 4 within a class."""
        return depth(self.text)


def sections(text: str, known: Collection[str] | None = None) -> list[Section]:
    """The head, then a section for each marker. With `known`, markers of other steps are a part of the text."""
    found = [["", "", "", ""]]
    for line in text.splitlines(keepends=True):
        mark = MARKER.match(line)
        number = (mark["number"] or "") if mark else ""
        if mark and (known is None or not number or number in known):
            found.append([line, number, (mark["title"] or "") if number else "given", ""])
        else:
            found[-1][3] += line
    return [Section(*parts) for parts in found]


def whole(parts: Iterable[Section]) -> str:
    """The text of a file again."""
    return "".join(part.marker + part.text for part in parts)


def depth(text: str) -> int:
    """The indentation of the first line that is neither blank nor a comment."""
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    first = next(lines, "")
    return len(first) - len(first.lstrip())
