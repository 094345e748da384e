"""Stages without scripts: the outermost frame of a picture as plain SVG, with what is in it closed; texts as they are.

>>> from minitorch_compile.compiler.viewer.report import Item, Stage
>>> print(still_stage(Stage("loops", "loops", "text", [Item("1", "t1 = a < b")]), None))
<h2>loops</h2>
<p></p>
<pre>t1 = a &lt; b</pre>
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from minitorch_compile.compiler.viewer.layout import GLYPHS
from minitorch_compile.compiler.viewer.report import Stage
from minitorch_compile.svg import element

SVG = "http://www.w3.org/2000/svg"
BESIDE = 4  # room around a picture


def still_stage(stage: Stage, frames: Sequence[Any] | None) -> str:
    """A heading, and the picture or text below it."""
    if frames is not None:
        shown = still_picture(stage, frames)
    elif stage.form == "chart":
        shown = still_chart(stage)
    else:
        shown = f"<pre>{escape(chr(10).join(line_of(stage)), quote=False)}</pre>"
    return f"<h2>{escape(stage.title)}</h2>\n<p>{escape(stage.note)}</p>\n{shown}"


def line_of(stage: Stage) -> list[str]:
    """A line for each item; that of a box says what it reads."""
    if stage.form == "text":
        return [item.label for item in stage.items]
    return [f"{item.name} = {item.label}  {item.detail}  {', '.join(item.reads)}".rstrip() for item in stage.items]


def still_picture(stage: Stage, frames: Sequence[Any]) -> str:
    """The outermost frame: its boxes and arrows, as Graphviz laid them out."""
    root = frames[0]
    parts = [_arrow(points) for points in root["arrows"]]
    for box in root["boxes"]:
        if "frame" in box:
            frame = frames[box["frame"]]
            parts += _box(box["at"], frame["label"], f"{len(frame['inside'])} nodes", "closed", frame["label"])
        else:
            item = stage.items[box["item"]]
            label = f"{GLYPHS.get(item.kind, '')} {item.label}".strip()
            parts += _box(box["at"], label, item.detail, f"k-{item.kind}", f"{item.code}\n{item.place}".strip())
    width, height = root["size"]
    return _svg(width, height, parts, stage.title)


def still_chart(stage: Stage) -> str:
    """The boxes of a chart; one that is too narrow for its name shows it on hover."""
    parts: list[str] = []
    width = height = 0.0
    for item in stage.items:
        x, y, w, h = item.box or (0, 0, 0, 0)
        width, height = max(width, x + w), max(height, y + h)
        label = item.label if h >= 11 and w > 6 * len(item.label) else ""
        parts += _box([x + w / 2, y + h / 2, w, h], label, "", f"k-{item.kind}", f"{item.label} {item.code}")
    return _svg(width, height, parts, stage.title)


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    view = f"{-BESIDE} {-BESIDE} {width + 2 * BESIDE:g} {height + 2 * BESIDE:g}"
    head = f'<svg class="picture" style="height:auto;width:{width:g}px" viewBox="{view}" xmlns="{SVG}" role="img">'
    return "\n".join([head, element("title", title), *parts, "</svg>"])


def _box(at: Sequence[float], label: str, detail: str, look: str, tooltip: str) -> list[str]:
    x, y, width, height = at
    lines = [element("rect", x=x - width / 2, y=y - height / 2, width=width, height=height, rx=3)]
    lines += [element("text", label, x=x, y=y - 2.0 if detail else y + 4.0)] if label else []
    lines += [element("text", detail, x=x, y=y + 11.0, class_="detail")] if detail else []
    return [f'<g class="box {look}">', element("title", tooltip), *lines, "</g>"]


def _arrow(points: Sequence[float]) -> str:
    x, y, *rest = points[2:]
    curves = " ".join(f"{a},{b}" for a, b in zip(rest[::2], rest[1::2]))
    return element("path", d=f"M{x},{y}C{curves}", class_="arrow", marker_end="url(#head)")
