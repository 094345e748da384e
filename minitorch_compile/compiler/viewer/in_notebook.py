"""The page in a notebook: a frame of its own below the cell, as one would see it in a browser.

>>> import minitorch_compile as torch
>>> shown = notebook_html(torch.compiler.inspect(lambda x: x.exp() + 1, torch.ones(4)))
>>> shown.startswith("<iframe"), shown.count("<script"), "x -&gt; (x.exp() + 1,)" in shown
(True, 0, True)

The frame can't reach the notebook around it. Where its scripts don't run, the page in it shows plain pictures. Where a
viewer takes frames out, since it doesn't trust the notebook, what stands within the frame's element stays: the stages
as a list, and the captured graphs as code.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from minitorch_compile.compiler.viewer.page import page_of
from minitorch_compile.compiler.viewer.report import Report
from minitorch_compile.compiler.viewer.stages import report_of

if TYPE_CHECKING:
    from minitorch_compile.compiler.inspection import Inspection

STYLE = "width: 100%; height: 640px; border: 1px solid #7d8894"


def notebook_html(seen: Inspection) -> str:
    """An `<iframe>` element that holds the whole page."""
    report = report_of(seen)
    title = escape(f"all stages of {report.title}")
    frame = f'<iframe title="{title}" sandbox="allow-scripts" style="{STYLE}" srcdoc="{escape(page_of(report))}">'
    return f"{frame}{plain(seen, report)}</iframe>"


def plain(seen: Inspection, report: Report) -> str:
    """What is seen where the frame is not."""
    stages = ", ".join(stage.title for stage in report.stages)
    graphs = "\n".join(view.graph.graph.compact() for view in seen.graphs)
    said = f"{seen!r}. Run this cell, or trust the notebook, to look at: {stages}."
    return f"<p>{escape(said)}</p><pre>{escape(graphs, quote=False)}</pre>"
