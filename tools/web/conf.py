"""What Sphinx is told: pages of Markdown and notebooks as they were stored, nothing from another host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

project = "minitorch_compile"
extensions = ["myst_nb"]
exclude_patterns = ["exercises", "solutions"]  # they are there to be downloaded
nb_execution_mode = "off"  # the lessons' outputs were checked when they were stored
nb_mime_priority_overrides = [("*", "text/html", 0), ("*", "image/svg+xml", 10), ("*", "image/png", 20)]
myst_heading_anchors = 4
myst_all_links_external = False
html_theme = "furo"
html_title = project
html_static_path = [str(Path(__file__).with_name("static"))]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
highlight_language = "python"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
# A fragment of a line such as a kernel's text needn't be a whole program.
suppress_warnings = ["misc.highlighting_failure", "myst.xref_missing_fragment", "mystnb.unknown_mime_type"]

# What scrolls can be reached by key, and a caption says how deep it stands: axe asks for both (`make site-check`).
MENDED = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" role="region" aria-label="table" class="table-wrapper',
    'class="caption" role="heading"': 'class="caption" role="heading" aria-level="2"',
}


def mend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Changes the HTML of a page before it is put into its frame."""
    for part in ("body", "furo_navigation_tree"):
        for old, new in MENDED.items():
            context[part] = context.get(part, "").replace(old, new)


def setup(app: Any) -> None:
    app.connect("html-page-context", mend, priority=900)  # after the theme has made its tree of pages
