"""Draw pipes from a source to a sink, with a cut through them.

A point `p` with a pipe to `p'` is a value: where it enters, and where it leaves. The two are drawn as one box.

>>> pipes = {("source", "x"): UNLIMITED, ("x", "x'"): 400, ("x'", "sink"): UNLIMITED, ("source", "sink"): 1}
>>> draw_pipes(pipes, cut=[("x", "x'"), ("source", "sink")])
node    label   value  reads
------  ------  -----  ---------
source  source
x       x       400    source
sink    sink           x, source
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from minitorch_compile.fx.dot import Drawing, Kind
from minitorch_compile.fx.graph_view import GraphView

Pipe = tuple[str, str]
UNLIMITED = float("inf")
KINDS = {
    "near": Kind("on the source's side", "#dcebf9", "#4a86c0"),
    "cut": Kind("cut", "#fff0c9", "#c2912b"),
    "far": Kind("on the sink's side", "#fde3d0", "#d27a38"),
}


def draw_pipes(pipes: Mapping[Pipe, float], cut: Collection[Pipe] = (), source: str = "source") -> GraphView:
    """The points and the pipes with their widths; pipes that are cut are dashed, those without limit have no number."""
    near = _near(pipes, cut, source)
    drawing = Drawing(direction="LR", kinds=KINDS)
    for point in dict.fromkeys(_box(point) for pipe in pipes for point in pipe):
        value = (point, f"{point}'")
        kind = "cut" if value in cut else "near" if point in near else "far"
        drawing.add_node(point, point, kind=kind, detail=_width(pipes.get(value, UNLIMITED)))
    for (start, end), width in pipes.items():
        if _box(start) != _box(end):
            style = "dashed" if (start, end) in cut else "solid"
            drawing.add_edge(_box(start), _box(end), _width(width), style=style)
    return drawing.view()


def _box(point: str) -> str:
    return point.removesuffix("'")


def _width(width: float) -> str:
    return "" if width == UNLIMITED else f"{width:,}"


def _near(pipes: Mapping[Pipe, float], cut: Collection[Pipe], source: str) -> set[str]:
    """The points that water from the source still comes to."""
    found, waiting = {source}, [source]
    for point in waiting:
        for start, end in pipes:
            if start == point and end not in found and (start, end) not in cut:
                found.add(end)
                waiting.append(end)
    return found
