"""Finishing touches on Graphviz's SVG: title, legend, fainter shapes, smooth theme.

DOT could express some of this with HTML labels, but the Graphviz that pip can install has none. So the drawing's
plain picture is taken as an XML tree, and

- the second line of each box, its detail, becomes smaller and fainter;
- the names of frames move aside from arrows (`frame_names.py`);
- a heading is added above it: the title, and a field for each kind of box in use.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from xml.etree.ElementTree import Element, SubElement

from minitorch_compile.fx.dot import FAINT_TEXT, LINE, TEXT, Drawing, Kind
from minitorch_compile.fx.frame_names import move_names_aside

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)

FONTS = ("Helvetica, Arial, sans-serif", "Courier New, Courier, monospace")
DETAIL_SIZE, LEGEND_SIZE, TITLE_SIZE = 8.5, 9.0, 12.0
FITTED = "max-width: 100%; height: auto"  # a page that is narrower than the graph shows all of it, smaller
# Graphviz made the boxes for Helvetica: a wider font that stands in for it is drawn smaller, by its digits.
NARROW, AS_IT_IS = "font-size-adjust: ch-width 0.556", "font-size-adjust: none"
ROW_HEIGHT = 19.0
CHARACTER_WIDTH = 0.5  # of Helvetica, on average, in units of the font size


def finished(svg: str, drawing: Drawing) -> str:
    """The `<svg>` element of a drawing as it is shown."""
    root = ElementTree.fromstring(svg)
    root.set("style", f"{FITTED}; {NARROW}")
    for text in root.iter(f"{{{SVG}}}text"):
        is_code = text.get("font-family", "").startswith("Courier")
        text.set("font-family", FONTS[is_code])
        if is_code:
            text.set("style", AS_IT_IS)
    _fade_details(root, drawing)
    move_names_aside(root, SVG)
    _add_heading(root, drawing)
    return ElementTree.tostring(root, encoding="unicode")


def _fade_details(root: Element, drawing: Drawing) -> None:
    with_detail = {box.id for box in drawing.all_boxes() if box.detail}
    for group in root.iter(f"{{{SVG}}}g"):
        if "node" in group.get("class", "").split() and group.findtext(f"{{{SVG}}}title") in with_detail:
            *_, detail = group.iter(f"{{{SVG}}}text")
            detail.set("font-size", str(DETAIL_SIZE))
            detail.set("fill", FAINT_TEXT)


def _add_heading(root: Element, drawing: Drawing) -> None:
    """Make room at the top and write there."""
    left, top, width, height = map(float, root.get("viewBox", "0 0 0 0").split())
    rows = _rows(drawing.kinds_in_use(), max(width, 260.0))
    extra = ROW_HEIGHT * (len(rows) + bool(drawing.title)) + (6 if rows else 0)
    width = max(width, *(sum(map(_field_width, row)) + 8 for row in rows), _text_width(drawing.title, TITLE_SIZE) + 8)
    y = top - extra + 3
    if drawing.title:
        _text(root, left + 4, y + 12, drawing.title, TITLE_SIZE, LINE, {"font-weight": "bold"})
        y += ROW_HEIGHT
    for row in rows:
        x = left + 4
        for kind in row:
            _field(root, x, y, kind)
            x += _field_width(kind)
        y += ROW_HEIGHT
    root.set("viewBox", f"{left:g} {top - extra:g} {width:g} {height + extra:g}")
    root.set("width", f"{width:g}pt")
    root.set("height", f"{height + extra:g}pt")


def _rows(kinds: list[Kind], width: float) -> list[list[Kind]]:
    """The legend's fields, broken into rows no wider than the picture."""
    rows: list[list[Kind]] = []
    for kind in kinds:
        if not rows or sum(map(_field_width, rows[-1])) + _field_width(kind) > width - 8:
            rows.append([])
        rows[-1].append(kind)
    return rows


def _field(root: Element, x: float, y: float, kind: Kind) -> None:
    size = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{_field_width(kind) - 6:g}", "height": "15", "rx": "4"}
    dashes = {"stroke-dasharray": "4,2"} if "dashed" in kind.style else {}
    SubElement(root, f"{{{SVG}}}rect", {**size, "fill": kind.fill, "stroke": kind.border, **dashes})
    _text(root, x + 5, y + 10.8, kind.text, LEGEND_SIZE, TEXT, {})


def _field_width(kind: Kind) -> float:
    return _text_width(kind.text, LEGEND_SIZE) + 16


def _text_width(text: str, size: float) -> float:
    return CHARACTER_WIDTH * size * len(text)


def _text(root: Element, x: float, y: float, text: str, size: float, colour: str, more: dict[str, str]) -> None:
    place = {"x": f"{x:g}", "y": f"{y:g}", "font-family": FONTS[0], "font-size": f"{size:g}", "fill": colour}
    SubElement(root, f"{{{SVG}}}text", {**place, **more}).text = text
