"""Draw which lesson needs which: an idea a box, and arrows from what it stands on.

>>> draw_concepts({"01": ("Tensors", "1 h"), "02": ("Ops", "1 h")})
node  label       value  reads
----  ----------  -----  -----
01    01 Tensors  1 h
02    02 Ops      1 h    01
"""

from __future__ import annotations

from collections.abc import Mapping

from minitorch_compile.fx.dot import Drawing, Kind
from minitorch_compile.fx.graph_view import GraphView

# What a lesson stands on: not all that it mentions, only what can't be understood without.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "00": (),
    "01": (),
    "02": ("01",),
    "03": (),
    "04": ("02", "03"),
    "05": ("04",),
    "06": ("05",),
    "07": ("06",),
    "08": ("02",),
    "09": ("08",),
    "10": ("08",),
    "11": ("04", "08"),
    "12": ("02", "11"),
    "13": ("01", "12"),
    "14": ("13",),
    "15": ("14",),
    "16": ("15",),
    "17": ("16",),
    "18": ("07", "09", "10", "17"),
    "19": ("15", "17"),
}
KINDS = {
    "tour": Kind("all of it, from outside", "#eeeeee", "#8c8c8c"),
    "library": Kind("tensors and gradients", "#dcebf9", "#4a86c0"),
    "capture": Kind("from a program to a graph", "#fff0c9", "#c2912b"),
    "compiler": Kind("from a graph to machine code", "#fde3d0", "#d27a38"),
}
LIBRARY, CAPTURE = {"01", "02", "08", "09", "10"}, {"03", "04", "05", "06", "07"}


def draw_concepts(lessons: Mapping[str, tuple[str, str]]) -> GraphView:
    """The lessons by number, each with its title and the time it takes."""
    drawing = Drawing(kinds=KINDS)
    for number, (title, time) in lessons.items():
        drawing.add_node(number, f"{number} {title}", kind=_kind(number), detail=time)
    for number in lessons:
        for needed in NEEDS[number]:
            if needed in lessons:
                drawing.add_edge(needed, number)
    return drawing.view()


def _kind(number: str) -> str:
    if number == "00":
        return "tour"
    return "library" if number in LIBRARY else "capture" if number in CAPTURE else "compiler"
