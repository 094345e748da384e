"""What Sphinx is told: pages of Markdown and notebooks as they were stored, nothing from another host."""

from __future__ import annotations

from pathlib import Path

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
