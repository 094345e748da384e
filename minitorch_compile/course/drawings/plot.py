"""Draw what matplotlib plots: axes, their numbers and grid are its business, colours are the page's.

    draw_plot(lambda axes: axes.loglog([1, 10], [2, 20]), "two, and ten times as much")

A figure of matplotlib is made for paper: it brings its ink, its fonts, and a rule of style for the whole page that it
stands on. Here it becomes a `Drawing` like the others, which a light and a dark page show in their own ink, and which
has the same bytes each time.

>>> picture = draw_plot(lambda axes: axes.plot([1, 2], [3, 4]), "from 3 to 4")
>>> picture, "currentColor" in picture.svg(), "<style" in picture.svg()
(from 3 to 4, True, False)
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from minitorch_compile.svg import FONT, INK, Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 616, 340
INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
STYLE = {
    "svg.fonttype": "none",  # letters, not their outlines
    "svg.hashsalt": "a plot",  # names within the file are the same each time
    "font.family": "monospace",
    "font.size": 11,
    "grid.alpha": 0.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(INKED, INK),
}
LEFT_OUT = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->|^\s+", re.DOTALL | re.MULTILINE)
FAMILY = re.compile(r"(font: [\d.]+px )[^;\"]*")


def draw_plot(paint: Callable[[Axes], object], text: str) -> Drawing:
    """A picture of the axes that `paint` is given and draws on; `text` says the same for where there are no pictures.

    One unit of matplotlib's display coordinates is one of the picture.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), dpi=72)
        axes = figure.add_axes((0.1, 0.14, 0.88, 0.83))
        axes.grid(True)
        axes.set_axisbelow(True)
        paint(axes)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Drawing(WIDTH, HEIGHT, [_inner(file.getvalue())], text)


def _inner(svg: str) -> str:
    """What stands in a file of matplotlib's, in the page's ink and with our font."""
    inner = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    ours = FAMILY.sub(lambda found: found[1] + FONT.replace('"', "'"), LEFT_OUT.sub("", inner))
    return ours.replace(INK, "currentColor").replace("xlink:href", "href").strip()
