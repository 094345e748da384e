"""PyTorch's texts beside ours: each recording is of the lesson's own function, and each is shown in its lesson."""

from __future__ import annotations

import re

import pytest

from minitorch_compile.course.drawings.beside import FOLDER, FUNCTION, beside, recording

from .notebooks import ROOT, tool

record_torch = tool("record_torch")

RECORDED = sorted(path.stem for path in FOLDER.glob("*.txt"))
LESSONS = {path.name[:2]: path.read_text(encoding="utf-8") for path in (ROOT / "authoring" / "lessons").glob("*.py")}
each_recording = pytest.mark.parametrize("name", RECORDED)


def test_every_file_is_one_of_the_script():
    assert RECORDED == sorted(record_torch.RECORDINGS)


def test_every_lesson_from_03_on_shows_one():
    shown = {lesson for lesson, text in LESSONS.items() if re.search(rf'beside\("{lesson}_\w+"', text)}
    assert shown >= {lesson for lesson in LESSONS if lesson >= "03"}


@each_recording
def test_the_function_that_was_recorded_is_the_lessons(name):
    names = record_torch.RECORDINGS[name].definitions
    source = "\n\n\n".join(record_torch.definitions(name[:2], names).values())
    again = f"the lesson has changed: record it anew, tools/record_torch.py {name}"
    assert recording(name).parts[FUNCTION] == source, again


@each_recording
def test_it_is_shown_in_its_lesson_once(name):
    assert LESSONS[name[:2]].count(f'beside("{name}"') == 1


@each_recording
def test_it_is_short_and_tells_nothing_of_the_machine(name):
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert text.startswith("%% PyTorch 2.13")
    assert len(text.splitlines()) <= record_torch.LINES
    assert not re.search(r"/home/|/work/|/tmp/|0x[0-9a-f]{4}|(?<![.\w])\d{12,}\b|latency", text)
    assert all(part for heading, part in recording(name).parts.items() if heading == FUNCTION)
    assert "\n" in recording(name).theirs


def test_a_recording_that_does_not_exist_is_refused_by_name():
    with pytest.raises(LookupError, match="no recording '05_nothing'. There are: 00_graph, "):
        beside("05_nothing", "")


def test_a_notebook_gets_two_columns_and_no_markup_of_the_texts():
    html = beside("05_guards", "a < b")._repr_mimebundle_()["text/html"]
    assert html.count("<pre") == 2 and "a &lt; b" in html and "L['x']" not in html  # quotes are escaped, too
