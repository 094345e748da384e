"""The glossary's terms are used in the lessons that it names; the concept map and the times know every lesson."""

from __future__ import annotations

import re

import pytest

from minitorch_compile.course.drawings.concept_map import NEEDS, draw_concepts
from minitorch_compile.course.lesson_minutes import lesson_times, reading_minutes

from .notebooks import ROOT

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^- \*\*(.+?)\*\*, \[(\d\d)\]\(\.\./notebooks/(\S+)\.ipynb\)(?:, there \*(.+?)\*)?: (.+)$", re.MULTILINE
)
ENTRIES = ENTRY.findall(GLOSSARY)
LESSONS = sorted(path.stem for path in (ROOT / "authoring" / "lessons").glob("[0-9][0-9]_*.py"))


@pytest.mark.parametrize(("term", "number", "name", "form", "text"), ENTRIES, ids=[entry[0] for entry in ENTRIES])
def test_a_term_is_used_in_its_lesson_and_told_in_a_sentence_or_two(term, number, name, form, text):
    assert name in LESSONS and name.startswith(number)
    source = (ROOT / "authoring" / "lessons" / f"{name}.py").read_text(encoding="utf-8")
    words = re.sub(r"\s*\n# *|\s+", " ", source).replace("*", "").lower()
    assert (form or term).lower() in words
    assert text.endswith(".") and len(text.split()) <= 45


def test_every_line_is_an_entry_and_terms_are_in_order():
    assert len(ENTRIES) == sum(line.startswith("- ") for line in GLOSSARY.splitlines()) > 50
    terms = [entry[0].lower() for entry in ENTRIES]
    assert terms == sorted(set(terms))


def test_it_is_linked_from_the_first_page_and_from_the_readme():
    assert "../docs/glossary.md" in (ROOT / "authoring" / "lessons" / "00_tour.py").read_text(encoding="utf-8")
    assert "docs/glossary.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_concept_map_has_every_lesson_and_only_needs_earlier_ones():
    numbers = [name[:2] for name in LESSONS]
    assert set(numbers) <= set(NEEDS)
    assert all(needed < number for number, needs in NEEDS.items() for needed in needs)
    drawn = draw_concepts(dict.fromkeys(numbers, ("", ""))).dot
    assert all(f'"{number}"' in drawn for number in numbers)


def test_what_a_lesson_needs_it_names():
    """A lesson that stands on another says so: its number, or something of it, is in the text."""
    for name in LESSONS:
        text = (ROOT / "authoring" / "lessons" / f"{name}.py").read_text(encoding="utf-8")
        for needed in NEEDS[name[:2]]:
            assert re.search(rf"\b{needed}\b|\bthe tape\b", text), (name, needed)


def test_the_time_of_a_lesson_follows_its_text():
    assert reading_minutes("# %% [markdown]\n" + "# word word\n" * 1500 + "# %%\n" + "x = 1\n" * 150) == 45
    times = lesson_times()
    assert set(times) == {name[:2] for name in LESSONS}
    assert all(30 <= time.reading <= 120 and time.reading % 15 == 0 for time in times.values())
    assert times["00"].exercises == 0 and all(time.exercises >= 60 for number, time in times.items() if number > "00")
