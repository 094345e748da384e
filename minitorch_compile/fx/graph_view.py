"""A drawing on the screen: a picture in notebooks, a table in terminals.

>>> from minitorch_compile.fx import symbolic_trace
>>> symbolic_trace(lambda x: (x + 1).exp()).graph.draw()
node    label   value  reads
------  ------  -----  -----
x       x
add     · + 1          x
exp     exp            add
output  output         exp

`view.dot` is the DOT text, `view.svg()` the picture; `view.save("graph.png")` writes a file.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from minitorch_compile.fx.dot import Drawing
from minitorch_compile.fx.picture import finished
from minitorch_compile.fx.printer import table
from minitorch_compile.fx.render import HOW_TO_GET_PICTURES, render_svg
from minitorch_compile.picture_files import Forms, png_of, save_form

STYLE = "margin: 0.5em 0"


class GraphView:
    """Shows a finished drawing."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing

    @property
    def dot(self) -> str:
        """The DOT text."""
        return self.drawing.dot()

    def svg(self) -> str:
        """The picture as an `<svg>` element; RuntimeError where no Graphviz is installed."""
        svg = self._svg_or_none()
        if svg is None:
            raise RuntimeError(f"GraphView.svg: no Graphviz found. {HOW_TO_GET_PICTURES}")
        return svg

    def _svg_or_none(self) -> str | None:
        plain = render_svg(self.dot)
        return None if plain is None else finished(plain, self.drawing)

    def text(self) -> str:
        """The drawing as a table: a row for each node, with what it reads."""
        reads: dict[str, list[str]] = {}
        for arrow in self.drawing.arrows:
            reads.setdefault(arrow.target, []).append(arrow.source)
        rows = [
            (box.id, box.label.replace("\n", " "), box.detail, ", ".join(reads.get(box.id, [])))
            for box in self.drawing.all_boxes()
        ]
        return table(("node", "label", "value", "reads"), rows)

    def save(self, path: str | Path) -> Path:
        """Write a file; the suffix says what: .svg, .png, .dot, .html or .txt. RuntimeError for a picture that nothing
        here draws."""
        forms: Forms = {".svg": self.svg, ".png": lambda: png_of(self.svg()), ".dot": lambda: self.dot}
        return save_form("GraphView.save", path, {**forms, ".html": self._html, ".txt": self.text})

    def _html(self) -> str:
        svg = self._svg_or_none()
        if svg is None:
            return f"<pre>{escape(self.text())}</pre><p>{escape(HOW_TO_GET_PICTURES)}</p>"
        return f'<div class="mtc-graph" style="{STYLE}">{svg}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What Jupyter asks for."""
        return {"text/plain": self.text(), "text/html": self._html()}

    def __repr__(self) -> str:
        return self.text()
