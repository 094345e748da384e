"""The pages of the site: each hangs in one chapter, and what Markdown would misread in a docstring is escaped."""

from __future__ import annotations

import re
from pathlib import Path

import minitorch_compile
from tools.web import check_pages, pages, reference


def test_every_page_hangs_in_one_chapter() -> None:
    text = pages.first_page(pages.pages(), ["reference/torch"])
    named = re.findall(r"^/(.+)$", text, re.MULTILINE)
    assert len(named) == len(set(named))
    assert {*map(pages.name_of, pages.pages()), "reference/torch"} == set(named)


def test_what_a_page_leads_to_is_copied(tmp_path: Path) -> None:
    count = pages.write_pages(tmp_path, [])
    assert count > 100
    for path in ("README.md", "docs/house.svg", "notebooks/00_tour.ipynb"):
        assert (tmp_path / path).read_bytes() == (pages.ROOT / path).read_bytes()


def test_a_name_is_written_with_its_signature_and_examples() -> None:
    text = reference.page_of("torch.nn.functional", minitorch_compile.nn.functional)
    assert "{py:function} torch.nn.functional.gelu(input, approximate='none')" in text
    assert text.count("```pycon") == len(re.findall(r"^```$", text, re.MULTILINE)) > 5
    assert "0x" not in text


def test_sentences_are_no_markdown() -> None:
    assert reference.as_markdown("a * b, `a * b`, <x>, [1]") == "a \\* b, `a * b`, \\<x\\>, \\[1\\]"
    assert reference.as_markdown("- a list\n    indented") == "- a list\n" + 4 * "&nbsp;" + "indented"


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">1</a><a href="b.html#gone">2</a><img src="c%20d.png">')
    (tmp_path / "b.html").write_text('<p id="there"><a href="https://elsewhere.org/x">3</a><a href="#there">4</a></p>')
    found = list(check_pages.dead_links(tmp_path))
    assert found == ["a.html: b.html#gone: no such place there", "a.html: c%20d.png leads to nothing"]
