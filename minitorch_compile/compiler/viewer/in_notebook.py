"""The page in a notebook: a frame of its own below the cell, as one would see it in a browser.

>>> import minitorch_compile as torch
>>> shown = notebook_html(torch.compiler.inspect(lambda x: x.exp() + 1, torch.ones(4)))
>>> shown.count("<iframe"), shown.count("<script"), "x -&gt; (x.exp() + 1,)" in shown
(1, 0, True)

The frame can't reach the notebook around it, but is light or dark as the notebook is: a page in a frame takes the
colour scheme of the frame's element, for which a rule of style asks how the notebook calls its theme. Where scripts
don't run, the page shows plain pictures. Where a viewer takes frames out, since it doesn't trust the notebook, what
stands within the frame's element stays: the stages as a list, and the captured graphs as code.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from minitorch_compile.compiler.viewer.page import page_of
from minitorch_compile.compiler.viewer.report import Report
from minitorch_compile.compiler.viewer.stages import report_of

if TYPE_CHECKING:
    from minitorch_compile.compiler.inspection import Inspection

LARGEST = 2_500_000  # characters: a server that is not told otherwise drops outputs of more than 3 MB
# The marks of JupyterLab's and Notebook's themes, of VS Code's, of Colab's. Elsewhere the page is as the system is.
THEMES = {
    "light": ('[data-jp-theme-light="true"]', ".vscode-light", '[theme="light"]'),
    "dark": ('[data-jp-theme-light="false"]', ".vscode-dark", '[theme="dark"]'),
}
STYLE = "width: 100%; height: 640px; border: 1px solid #7d8894"


def notebook_html(seen: Inspection) -> str:
    """An `<iframe>` element that holds the whole page; words for a page that is too large for a notebook's file."""
    report = report_of(seen)
    page = page_of(report)
    if len(page) > LARGEST:
        advice = f'The page of all stages has {len(page) / 1e6:.0f} MB: `.save("report.html")` writes it to a file'
        return plain(seen, report, advice)
    title = escape(f"all stages of {report.title}")
    source = escape(page, quote=False).replace("'", "&#39;")  # quotation marks, of which it is full, stay short
    told = f'class="mtc-page" title="{title}" sandbox="allow-scripts" style="{STYLE}"'
    words = plain(seen, report, "Run this cell, or trust the notebook, to look at it")
    return f"<style>{themes()}</style><iframe {told} srcdoc='{source}'>{words}</iframe>"


def themes() -> str:
    """Rules that make the frame's page light or dark as the notebook is.

    >>> print(themes().splitlines()[1])
    :is([data-jp-theme-light="false"], .vscode-dark, [theme="dark"]) .mtc-page { color-scheme: dark; }
    """
    rules = [f":is({', '.join(marks)}) .mtc-page {{ color-scheme: {scheme}; }}" for scheme, marks in THEMES.items()]
    return "\n".join(rules)


def plain(seen: Inspection, report: Report, advice: str) -> str:
    """What is seen where the frame is not."""
    stages = ", ".join(stage.title for stage in report.stages)
    graphs = "\n".join(view.graph.graph.compact() for view in seen.graphs)
    said = f"{seen!r}. {advice}: {stages}."
    return f"<p>{escape(said)}</p><pre>{escape(graphs, quote=False)}</pre>"
