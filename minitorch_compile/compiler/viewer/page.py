"""The page: data, drawing code and style in one HTML file, which asks no other host for anything.

>>> import minitorch_compile as torch
>>> text = report_page(torch.compiler.inspect(lambda x: x.exp() + 1, torch.ones(4)))
>>> text.count("<script"), "http://www.w3.org/2000/svg" in text, "src=" in text
(2, True, False)

Scripts and style lie in `page/`, a file for each concern, and are written one after the other. Where scripts are off,
the page shows every stage as a plain picture or text (`still.py`).
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minitorch_compile.compiler.viewer.layout import GLYPHS, layouts_of
from minitorch_compile.compiler.viewer.report import Report
from minitorch_compile.compiler.viewer.stages import report_of
from minitorch_compile.compiler.viewer.still import still_stage
from minitorch_compile.fx.dot import KINDS

if TYPE_CHECKING:
    from minitorch_compile.compiler.inspection import Inspection

FOLDER = Path(__file__).parent / "page"
SCRIPTS = ("data", "marks", "stretch", "picture", "text", "search", "difference", "page")  # each uses those before it


def report_page(seen: Inspection) -> str:
    """The HTML text of an inspection."""
    return page_of(report_of(seen))


def page_of(report: Report) -> str:
    """The HTML text of a report."""
    data = report.as_json()
    for stage, told in zip(report.stages, data["stages"]):
        frames = layouts_of(stage) if stage.form == "graph" else None
        if frames is not None:
            told["frames"] = frames
        elif stage.form == "graph":
            told["form"] = "text"  # no Graphviz here: a line for each box
    still = "\n".join(still_stage(stage, told.get("frames")) for stage, told in zip(report.stages, data["stages"]))
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    filled = {
        "title": escape(report.title),
        "style": (FOLDER / "page.css").read_text(encoding="utf-8"),
        "still": still,
        "data": _as_script({**data, "glyphs": GLYPHS, "kinds": {name: KINDS[name].text for name in GLYPHS}}),
        "script": "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
    }
    parts = template.split("@@")  # text, name, text, name, ..., text
    return "".join(filled[part] if number % 2 else part for number, part in enumerate(parts))


def _as_script(data: Any) -> str:
    """JSON that may stand in a script element: no `</script>` in it ends it, and no `<!--` makes it go on."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
