"""Just enough SVG for drawings: elements as text, and an object that a notebook shows.

Colours work on light and on dark pages: filled shapes bring their own dark ink, everything else is drawn in the page's
colour.

>>> print(element("rect", x=0, y=1.25, width=10))
<rect x="0" y="1.2" width="10"/>
>>> print(element("text", "a < b", text_anchor="middle"))
<text text-anchor="middle">a &lt; b</text>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from minitorch_compile.picture_files import Forms, png_of, save_form

PALETTE = ("#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9")
LINES = ("#d1495b", "#2a8bc9", "#8e5bd0", "#c98a2a")
INK = "#1b1b1b"
FITTED = "max-width: 100%; height: auto"  # a page that is narrower than the drawing shows all of it, smaller
FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """One element; `text_anchor` becomes `text-anchor`; floats are rounded, so drawings are the same everywhere."""
    written = "".join(f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{escape(content, quote=False)}</{tag}>" if content else f"<{tag}{written}/>"


def _value(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(str(value))


def label(x: float, y: float, text: str, /, *, size: int = 12, anchor: str = "middle", **more: object) -> str:
    return element("text", text, x=x, y=y, font_size=size, text_anchor=anchor, **{"fill": "currentColor", **more})


def box(x: float, y: float, width: float, height: float, fill: str = "none", /, **more: object) -> str:
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, stroke="currentColor", **more)


def arrow(path: str, line: int) -> str:
    """A path with a head at its end, in line colour number `line`."""
    head = f"url(#mtc-head-{line % len(LINES)})"
    return element("path", d=path, fill="none", stroke=line_colour(line), stroke_width=1.8, marker_end=head)


def line_colour(line: int) -> str:
    return LINES[line % len(LINES)]


def arrow_heads() -> str:
    heads = "".join(
        f'<marker id="mtc-head-{line}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6"'
        ' orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
        for line, colour in enumerate(LINES)
    )
    return f"<defs>{heads}</defs>"


@dataclass(frozen=True)
class Drawing:
    """A picture with a text form for where there are no pictures: terminals, tests, screen readers."""

    width: float
    height: float
    parts: Sequence[str]
    text: str

    def svg(self) -> str:
        width, height = _value(float(self.width)), _value(float(self.height))
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" style="{FITTED}" '
            f'viewBox="0 0 {width} {height}" font-family="{FONT}">'
        )
        return "\n".join([head, element("title", self.text), arrow_heads(), *self.parts, "</svg>"])

    def save(self, path: str | Path) -> Path:
        """Write a file: .svg, .png or .txt, as its suffix says."""
        forms: Forms = {".svg": self.svg, ".png": lambda: png_of(self.svg()), ".txt": lambda: self.text}
        return save_form("Drawing.save", path, forms)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        html = f'<div class="mtc-drawing">{self.svg()}</div>'
        return {"text/html": html, "text/plain": self.text}
