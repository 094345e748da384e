"""Every figure in a lesson's prose comes from an output of that lesson, or has a reason: the rows of figures.py."""

from __future__ import annotations

import re

import nbformat
import pytest

from .figures import FIGURES, Lesson
from .notebooks import ROOT, tool

outputs = tool("lesson_outputs")

NOTEBOOKS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
ROWS = [(lesson, words) for lesson, rows in FIGURES.items() for words in rows]
each_row = pytest.mark.parametrize(("lesson", "words"), ROWS, ids=lambda value: value[:30])

NUMBER = (
    r"(?:\d[\d,.]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|sixteen|twenty"
    r"|thirty|forty|fifty|sixty-five|sixty|ninety|hundreds?|thousands?|millions?|billions?|half|dozen|few|some|tens"
    r"|several|third|quarter|fifth)"
)
UNIT = (
    r"(?:ms|ns|seconds?|(?:micro|milli|nano)seconds?|MB|kB|GB|GB/s|GFLOP/s|(?:mega|tera)bytes?|bytes?|percent"
    r"|%|ulps?|lines|operations|instructions|kernels|prims|visits|guards|handlers|multiplications)"
)
FIGURE = re.compile(
    rf"\b(?:{NUMBER}(?:[\s-]|\sof\s))+(?:[a-z]+\s)?{UNIT}(?![\w/])"
    rf"|\b(?:twice|half|a (?:third|quarter|fifth)|(?:(?:{NUMBER})(?:\s|\sof\s))+times) "
    r"(?:as|of|the|more|faster|slower|larger|narrower|less)\b"
    r"|\bas (?:hundreds|thousands) of\b",
    re.IGNORECASE,
)


def text_of(cell: nbformat.NotebookNode) -> str:
    """The prose of a cell as a line: without its title, code and line breaks."""
    prose = re.sub(r"^# .*$|^##+ ", "", cell.source, flags=re.MULTILINE)
    return " ".join(re.sub(r"`[^`]*`", "", prose).split())


def prose_of(lesson: str) -> list[str]:
    cells = nbformat.read(NOTEBOOKS[lesson], as_version=4).cells
    return [text_of(cell) for cell in cells if cell.cell_type == "markdown"]


def shown_by(lesson: str) -> Lesson:
    cells = outputs.code_cells(nbformat.read(NOTEBOOKS[lesson], as_version=4))
    return Lesson("\n".join(map(outputs.seen_text, cells)), "\n".join(cell.source for cell in cells))


@each_row
def test_the_words_stand_in_the_prose(lesson, words):
    assert any(words in text for text in prose_of(lesson)), f"lesson {lesson} doesn't say {words!r} any more"


@each_row
def test_the_figure_is_shown(lesson, words):
    check = FIGURES[lesson][words]
    if isinstance(check, str):
        assert len(check) > 5
    else:
        assert check(shown_by(lesson)), f"lesson {lesson} says {words!r}, and its outputs don't"


@pytest.mark.parametrize("lesson", FIGURES)
def test_every_figure_has_a_row(lesson):
    found = []
    for text in prose_of(lesson):
        known = [(m.start(), m.end()) for words in FIGURES[lesson] for m in re.finditer(re.escape(words), text)]
        for figure in FIGURE.finditer(text):
            if not any(start < figure.end() and figure.start() < end for start, end in known):
                found.append(text[max(0, figure.start() - 30) : figure.end() + 30])
    assert not found, "figures without a row in tests/course/figures.py: " + " | ".join(found)


def test_every_lesson_has_rows():
    assert set(FIGURES) >= set(NOTEBOOKS)
