"""Ours beside PyTorch's: a text that the lesson has just made, and the one that PyTorch made of the same function.

PyTorch's were recorded by tools/record_torch.py, into authoring/recorded. A file begins with the version and with the
lesson's function; each further part has a heading:

>>> found = recording("10_vmap")
>>> found.version
'PyTorch 2.13.0 on a CPU, Python 3.11.7'
>>> found.parts["the lesson's function"].splitlines()[0]
'def length(x):'
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import authoring

FOLDER = Path(authoring.__path__[0]) / "recorded"
FUNCTION = "the lesson's function"
WIDTH = 58  # of a column of plain text


@dataclass(frozen=True)
class Recording:
    """What PyTorch made of a function of a lesson, in parts with headings."""

    version: str
    parts: Mapping[str, str]

    @property
    def theirs(self) -> str:
        headings = [heading for heading in self.parts if heading not in (self.version, FUNCTION)]
        return "\n\n".join(f"{heading}:\n{self.parts[heading]}".rstrip(":\n") for heading in headings)


def recording(name: str) -> Recording:
    """The recording of this name, such as "05_guards". LookupError names those there are."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        raise LookupError(
            f"no recording {name!r}. There are: {', '.join(sorted(p.stem for p in FOLDER.glob('*.txt')))}"
        )
    found = re.findall(r"^%% (.*)\n((?:(?!%% ).*\n)*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    parts = {heading: text.strip("\n") for heading, text in found}
    return Recording(next(iter(parts)), parts)


@dataclass(frozen=True)
class Beside:
    """Two texts, side by side.

    >>> Beside("ours", "x + 1", "theirs", "torch.add(x, 1)", width=10)
    ours         theirs
    x + 1        torch.add(
                   x, 1)
    """

    left_title: str
    left: str
    right_title: str
    right: str
    width: int = WIDTH

    def __repr__(self) -> str:
        columns = [
            [line for each in (title, *text.splitlines()) for line in _wrapped(each, self.width)]
            for title, text in ((self.left_title, self.left), (self.right_title, self.right))
        ]
        rows = zip_longest(*columns, fillvalue="")
        return "\n".join(f"{left:<{self.width}}   {right}".rstrip() for left, right in rows)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        titles = "".join(f'<th style="text-align: left">{escape(t)}</th>' for t in (self.left_title, self.right_title))
        cells = "".join(
            f'<td style="text-align: left; vertical-align: top">{_preformatted(text)}</td>'
            for text in (self.left, self.right)
        )
        html = f"<table><thead><tr>{titles}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
        return {"text/plain": repr(self), "text/html": html}


def _preformatted(text: str) -> str:
    return f'<pre style="white-space: pre-wrap">{escape(text)}</pre>'


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=f"{indent}  ", drop_whitespace=False) or [""]


def beside(name: str, ours: object) -> Beside:
    """What this package made of a function of the lesson, beside what PyTorch made of it."""
    found = recording(name)
    return Beside("here", str(ours).strip("\n"), found.version, found.theirs)
