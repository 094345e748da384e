"""The lessons run, say what they should, and keep to the course's measures."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from minitorch_compile.course.drawings.table import RECORDS

from .notebooks import ROOT, tool

build = tool("build_course")
outputs = tool("lesson_outputs")

SOURCES = sorted((ROOT / "authoring" / "lessons").glob("[0-9][0-9]_*.py"))
each_lesson = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


def prose(source) -> str:
    return "\n".join(cell.source for cell in build.source_cells(source) if cell.cell_type == "markdown")


def code(source) -> list[str]:
    return [cell.source for cell in build.source_cells(source) if cell.cell_type == "code"]


@pytest.mark.slow
@each_lesson
def test_it_runs_from_top_to_bottom(source):
    notebook = build.notebook(source.stem, build.source_cells(source))
    outputs.run(notebook, ROOT)
    assert all(cell.execution_count for cell in outputs.code_cells(notebook))


@each_lesson
def test_it_has_between_1800_and_3500_words_and_8_to_14_of_them_a_line_of_code(source):
    words = len(prose(source).split())
    lines = sum(bool(line.strip()) for cell in code(source) for line in cell.splitlines())
    assert 1800 <= words <= 3500
    assert 8 <= words / lines <= 14


@each_lesson
def test_it_ends_with_what_pytorch_does_and_where_to_go(source):
    headings = re.findall(r"^## (.*)$", prose(source), re.MULTILINE)
    assert "What PyTorch does differently" in headings
    assert headings[-1] in ("Exercises", "What you write", "Where to go")


@each_lesson
def test_its_text_is_plain(source):
    text = source.read_text()
    assert not re.search(r"[\U0001F300-\U0001FAFF☀-➿]", text), "no emoji"
    assert not re.search(r"dive in|deep dive|let's explore|simply put|in this lesson we will", text, re.IGNORECASE)
    assert "$$" not in text, "formulas are code or words: a page without MathJax must be readable"


@each_lesson
def test_no_cell_is_longer_than_a_screen(source):
    for cell in code(source):
        assert len(cell.splitlines()) <= 45, cell
        assert max(map(len, cell.splitlines())) <= 100, cell


def test_the_tours_table_can_be_read_by_a_program():
    notebook = nbformat.read(ROOT / "notebooks" / "00_tour.ipynb", as_version=4)
    (cell,) = [cell for cell in outputs.code_cells(notebook) if "table" in cell.metadata.get("tags", [])]
    records = cell.outputs[0].data[RECORDS]
    assert [record["model"] for record in records] == ["MLP", "MLP and loss", "CNN", "CNN and loss"]
    scores = {record["model"]: record["test %"] for record in records}
    assert scores["MLP"] >= 96 and scores["CNN"] >= 98
    assert all(record["times faster"] > 1 for record in records)
    assert json.dumps(records)


def test_the_tour_shows_pictures_of_graphs():
    notebook = nbformat.read(ROOT / "notebooks" / "00_tour.ipynb", as_version=4)
    pictures = [
        output.data.get("image/svg+xml", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert sum('class="node ' in picture for picture in pictures) >= 2


def test_lesson_11_says_less_memory_and_shows_it():
    notebook = nbformat.read(ROOT / "notebooks" / "11_ahead_of_time_autograd.ipynb", as_version=4)
    cells = outputs.code_cells(notebook)
    printed = "".join(o.text for cell in cells for o in cell.outputs if o.output_type == "stream")
    (held,) = map(int, re.findall(r"the tape holds \d+ tensors, (\d+) bytes", printed))
    (saved,) = map(int, re.findall(r"compiled, it saves \d+ tensors, (\d+) bytes", printed))
    assert saved < held
    default, least = (
        [int(n) for n in re.findall(rf"^{name}: saves \d+ tensors, (\d+) bytes", printed, re.MULTILINE)]
        for name in ("default", "min cut")
    )
    assert len(default) == len(least) == 2 and all(a > b for a, b in zip(default, least))
    assert "the same ones: True" in printed and "False" not in printed
