"""A lesson that was not run yet shows its pictures, in every viewer."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import nbformat
import pytest

from minitorch_compile.fx import symbolic_trace

from .notebooks import ROOT, tool

pictures = tool("stored_pictures")
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="10" style="max-width: 100%"></svg>'


def lesson(svg: str):
    cell = nbformat.v4.new_code_cell("draw()")
    data = {"text/html": f'<div class="mtc-drawing">{svg}</div>', "text/plain": "a drawing"}
    cell.outputs = [nbformat.v4.new_output("display_data", data=data)]
    return nbformat.v4.new_notebook(cells=[cell])


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_svg_of_a_lesson_has_its_png_and_none_stands_in_html(path):
    for cell in json.loads(path.read_text())["cells"]:
        for output in cell.get("outputs", []):
            data = {kind: "".join(text) for kind, text in output.get("data", {}).items() if kind[:5] != "appli"}
            assert "<svg" not in data.get("text/html", "")
            if "image/svg+xml" in data:
                assert pictures.digest_of(data["image/svg+xml"]) == output["metadata"][pictures.MARK]
                assert base64.b64decode(data["image/png"])[:4] == b"\x89PNG" and data["text/plain"].strip()
                assert "max-width: 100%" in data["image/svg+xml"][:600]


def test_a_picture_that_is_the_same_keeps_its_png_whatever_draws_them(monkeypatch):
    first, second = lesson(SVG), lesson(SVG)
    monkeypatch.setattr(pictures, "small_png", lambda svg: b"drawn by one version")
    pictures.store_pictures(first, None)
    monkeypatch.setattr(pictures, "small_png", lambda svg: b"drawn by another version")
    pictures.store_pictures(second, first)
    assert nbformat.writes(first).replace(first.cells[0].id, "") == nbformat.writes(second).replace(
        second.cells[0].id, ""
    )
    pictures.store_pictures(first, first)
    changed = lesson(SVG.replace("30", "40"))
    pictures.store_pictures(changed, first)
    assert base64.b64decode(changed.cells[0].outputs[0].data["image/png"]) == b"drawn by another version"


def test_a_picture_is_as_wide_as_the_page_and_not_wider():
    html = symbolic_trace(lambda x: (x + 1).exp()).graph.draw()._repr_mimebundle_()["text/html"]
    if "<svg" not in html:
        pytest.skip("no Graphviz here")
    assert 'style="max-width: 100%; height: auto;' in re.search("<svg [^>]*>", html).group()


def test_a_png_is_drawn_with_our_fonts_and_small(monkeypatch):
    pytest.importorskip("resvg_py")
    svg = SVG.replace("></svg>", '><text x="1" y="9" font-family="Helvetica" font-size="9">a</text></svg>')
    png = pictures.small_png(svg)
    assert png[:4] == b"\x89PNG" and len(png) < 1000


# ------------------------------------------------------------------------------------------------ the way to work/

PLACES = sorted([*(ROOT / "authoring" / "lessons").glob("*.py"), *(ROOT / "authoring" / "exercises").glob("*.py")])


@pytest.mark.parametrize("path", PLACES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_learner_is_sent_to_work_and_not_to_what_is_read_only(path: Path):
    text = "\n".join(line for line in path.read_text().splitlines() if line.startswith("#"))
    assert not re.search(r"exercises/\d|exercises folder|folder `?exercises", text)
    for named in re.findall(r"Open `([^`]*\.ipynb)`", text):
        assert named == f"work/{path.stem}.ipynb" if path.parent.name == "lessons" else named.startswith("work/")


LESSONS_WITH_EXERCISES = [path for path in PLACES if path.parent.name == "lessons" and path.stem[:2] != "00"]


@pytest.mark.parametrize("path", LESSONS_WITH_EXERCISES, ids=lambda path: path.stem)
def test_a_lesson_says_where_its_exercises_are(path: Path):
    assert f"`work/{path.stem}.ipynb`" in path.read_text()
