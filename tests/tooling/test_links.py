"""Every page and every notebook links to files and headings that are there; and a link that isn't is found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools import links

ROOT = Path(__file__).resolve().parents[2]
PAGES = links.pages()
NOTEBOOKS = [page for page in PAGES if page.suffix == ".ipynb"]
PYTORCHS = {  # files of PyTorch's, which a lesson names beside ours
    *("bytecode_transformation.py", "trace_rules.py", "select_algorithm.py", "codegen/cpp.py"),
    *("codegen/cpp_gemm_template.py", "codegen/memory_planning.py", "ir.py", "variables/base.py"),
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert links.broken_links(page) == []


def test_lessons_sheets_solutions_and_pages_are_all_looked_at() -> None:
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {
        "README.md",
        "docs/glossary.md",
        "docs/decisions/01-frame-hook.md",
        "minitorch_compile/aot/README.md",
    } < names
    for folder in ("notebooks", "exercises", "solutions"):
        assert {f"{folder}/{path.name}" for path in (ROOT / folder).glob("*.ipynb")} < names
    assert sum(len(list(links.links(links.prose(page)))) for page in PAGES) > 150


LED_ASTRAY = ["lost.md", "../lost/other.md", "other.md#lost", "#lost", "lost.ipynb", "other.ipynb#a-heading", "pic.svg"]
FOUND = ["other.md", "other.md#a-heading", "#here", "other.ipynb#A-heading", "https://example.org/lost", "."]


@pytest.mark.parametrize("written", ["[a]({})", "![a]({})", '[a]({} "title")', "<a href='{}'>a</a>", "[a]\n\n[a]: {}"])
@pytest.mark.parametrize("name", ["page.md", "page.ipynb"])
def test_a_planted_link_that_leads_nowhere_is_found(name: str, written: str, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A heading\n")
    (tmp_path / "other.ipynb").write_text(notebook("# A heading"))
    page = tmp_path / name
    for link in FOUND + LED_ASTRAY:
        text = "## here\n\n" + written.format(link)
        page.write_text(text if page.suffix == ".md" else notebook(text))
        assert links.broken_links(page) == ([link] if link in LED_ASTRAY else [])


def notebook(text: str) -> str:
    code = {"cell_type": "code", "source": ["[a](lost.md)"]}
    return json.dumps({"cells": [code, {"cell_type": "markdown", "source": text.splitlines(keepends=True)}]})


def test_the_command_names_the_page_and_the_link(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "README.md").write_text("[a](lost.md)")
    monkeypatch.setattr(links, "ROOT", tmp_path)
    assert links.main() == 1
    assert capsys.readouterr().out == "README.md: lost.md leads nowhere\n"


def test_files_that_a_lesson_names_are_there() -> None:
    """With as much of their path as tells them apart: `rows.py`, `runtime/chunks.py`, `work/mini/tensor.py`."""
    here = {f"/{path.relative_to(ROOT)}" for folder in SOURCES for path in (ROOT / folder).rglob("*.*")}
    lost = []
    for page in NOTEBOOKS:
        for name in re.findall(r"`([\w./-]+\.(?:py|ipynb|md|json|svg))`", links.prose(page)):
            known = name.startswith(("torch/", "Python/")) or name in PYTORCHS
            if not known and not any(path.endswith("/" + name.removeprefix("work/")) for path in here):
                lost.append(f"{page.name}: {name}")
    assert lost == []


SOURCES = ("minitorch_compile", "authoring", "notebooks", "exercises", "docs", "tests", "tools", "benchmarks")
