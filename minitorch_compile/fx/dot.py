"""Drawings as DOT text: boxes of a few kinds, arrows, frames around groups, and a legend of the kinds in use.

>>> drawing = Drawing("softmax")
>>> drawing.add_node("x", "x", kind="input", detail="f32[4]")
>>> drawing.add_node("e", "exp", kind="pointwise", tooltip="softmax.py:3: e = x.exp()")
>>> drawing.add_edge("x", "e")
>>> print(drawing.dot())
digraph "softmax" {
  ...
  "x" [label="x\\nf32[4]"
    class="mtc-input" style="filled,rounded" fillcolor="#dcebf9" color="#4a86c0"
    tooltip="x"];
  "e" [label="exp"
    class="mtc-pointwise" ...
    tooltip="softmax.py:3: e = x.exp()"];
  "x" -> "e";
}

Nothing here knows about graphs of tensors: schedules, module trees and control flow are drawn with it as well. What
is shown on a screen is a `GraphView`, made by `drawing.view()`. Tests compare this text, never a rendering of it, for
renderers differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minitorch_compile.fx.graph_view import GraphView

TEXT, FAINT_TEXT = "#1f2933", "#5a6672"
# Lines and text outside the boxes: a grey that can be read on a white page and on a black one.
LINE = "#7d8894"
FONT = "Helvetica"  # Graphviz knows its widths; a list of names it takes for Times


@dataclass(frozen=True)
class Kind:
    """How boxes of one kind look, and what the legend calls them. The label of a `code` box is typewritten."""

    text: str
    fill: str
    border: str
    style: str = "filled,rounded"
    code: bool = False


KINDS: dict[str, Kind] = {
    "input": Kind("input", "#dcebf9", "#4a86c0"),
    "parameter": Kind("needs gradient", "#fff0c9", "#c2912b"),
    "constant": Kind("constant", "#f5f1e6", "#a3977a"),
    "pointwise": Kind("pointwise", "#dff3e1", "#4f9e5b"),
    "reduction": Kind("reduction", "#fde3d0", "#d27a38"),
    "contraction": Kind("matrix product", "#e9def6", "#8459b8"),
    "view": Kind("view", "#f2f4f6", "#98a2ad", "filled,rounded,dashed"),
    "movement": Kind("data movement", "#d8f0ee", "#3d958f"),
    "random": Kind("random", "#fbdfeb", "#c2568c"),
    "write": Kind("writes in place", "#fad7d7", "#c44545"),
    "call": Kind("other call", "#e8ecf0", "#6b7681"),
    "output": Kind("output", "#c9d6e3", "#3b5876"),
    "forward": Kind("forward", "#dcebf9", "#4a86c0"),
    "backward": Kind("backward", "#fde3d0", "#d27a38"),
    "saved": Kind("saved for backward", "#fff0c9", "#c2912b"),
    "recomputed": Kind("computed again", "#e4ecd9", "#6f9146"),
    "kernel": Kind("kernel", "#dff3e1", "#4f9e5b"),
    "extern": Kind("extern kernel", "#e9def6", "#8459b8"),
    "buffer": Kind("buffer", "#f5f1e6", "#a3977a"),
    "module": Kind("module", "#dcebf9", "#4a86c0"),
    "block": Kind("basic block", "#f2f4f6", "#98a2ad", code=True),
    "source": Kind("source", "#f2f4f6", "#98a2ad", code=True),
    "group": Kind("several operations", "#e8ecf0", "#6b7681"),
}


@dataclass(frozen=True)
class Box:
    """One node: a label, a fainter second line, a text shown when the mouse rests on it."""

    id: str
    label: str
    kind: str
    detail: str = ""
    tooltip: str = ""


@dataclass(frozen=True)
class Arrow:
    """One edge; `style` is DOT's: solid, dashed, dotted, bold."""

    source: str
    target: str
    label: str = ""
    style: str = "solid"


@dataclass
class Cluster:
    """A frame around nodes and further frames."""

    label: str = ""
    kind: str = "group"
    boxes: list[Box] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)

    def add_node(self, id: str, label: str, kind: str = "call", tooltip: str = "", detail: str = "") -> None:
        """A box inside this frame. Ids are unique in the whole drawing; `\\n` in a label starts a new line."""
        self.boxes.append(Box(id, label, kind, detail, tooltip))

    def cluster(self, label: str, kind: str = "group") -> Cluster:
        """A new frame inside this one; add nodes to what is returned."""
        self.clusters.append(Cluster(label, kind))
        return self.clusters[-1]

    def all_boxes(self) -> list[Box]:
        """The boxes in this frame and in the frames inside it."""
        return [*self.boxes, *(box for cluster in self.clusters for box in cluster.all_boxes())]


class Drawing(Cluster):
    """A picture in the making. `direction` is DOT's rankdir, TB or LR; `kinds` adds to or replaces entries of KINDS."""

    def __init__(self, title: str = "", direction: str = "TB", kinds: Mapping[str, Kind] | None = None) -> None:
        super().__init__(title)
        if direction not in ("TB", "LR", "BT", "RL"):
            raise ValueError(f"Drawing: direction must be one of TB, LR, BT, RL, but got {direction!r}.")
        self.direction = direction
        self.kinds = {**KINDS, **(kinds or {})}
        self.arrows: list[Arrow] = []

    @property
    def title(self) -> str:
        return self.label

    def add_edge(self, source: str, target: str, label: str = "", style: str = "solid") -> None:
        """An arrow between two nodes."""
        self.arrows.append(Arrow(source, target, label, style))

    def dot(self) -> str:
        """The DOT text; the same drawing always gives the same text. ValueError if it is inconsistent."""
        self._check()
        lines = [f"digraph {_quoted(self.title or 'graph')} {{", *self._defaults(), *self._contents(self, "  ", [0])]
        lines += [self._arrow(arrow) for arrow in self.arrows]
        return "\n".join([*lines, "}"])

    def view(self) -> GraphView:
        """What notebooks show as a picture and terminals as a table."""
        from minitorch_compile.fx.graph_view import GraphView

        return GraphView(self)

    def kinds_in_use(self) -> list[Kind]:
        """What the legend explains."""
        used = {box.kind for box in self.all_boxes()}
        return [kind for name, kind in self.kinds.items() if name in used]

    # ------------------------------------------------------------------------------------------ writing

    def _check(self) -> None:
        ids = [box.id for box in self.all_boxes()]
        if len(set(ids)) < len(ids):
            raise ValueError(f"Drawing: two nodes have the id {next(i for i in ids if ids.count(i) > 1)!r}.")
        for arrow in self.arrows:
            for end in {arrow.source, arrow.target}.difference(ids):
                raise ValueError(
                    f"Drawing: the edge {arrow.source!r} -> {arrow.target!r} needs a node {end!r}; add it."
                )
        for box in self.all_boxes():
            if box.kind not in self.kinds:
                known = ", ".join(self.kinds)
                raise ValueError(f"Drawing: node {box.id!r} is of unknown kind {box.kind!r}. Kinds: {known}.")

    def _defaults(self) -> list[str]:
        return [
            f"  graph [rankdir={self.direction} bgcolor=transparent nodesep=0.25 ranksep=0.35 pad=0.1];",
            '  node [shape=box height=0.3 width=0.4 margin="0.11,0.05"];',
            f'  node [fontname={FONT} fontsize=11 fontcolor="{TEXT}"];',
            f'  edge [color="{LINE}" arrowsize=0.6 fontname={FONT} fontsize=9 fontcolor="{LINE}"];',
        ]

    def _contents(self, cluster: Cluster, indent: str, number: list[int]) -> list[str]:
        lines = [indent + self._box(box) for box in cluster.boxes]
        for inner in cluster.clusters:
            kind = self.kinds[inner.kind]
            lines.append(f'{indent}subgraph "cluster_{number[0]}" {{')
            lines.append(
                f'{indent}  label={_quoted(inner.label)} fontname={FONT} fontsize=10 fontcolor="{LINE}" margin=10'
            )
            lines.append(f'{indent}  style=rounded color="{kind.border}";')
            number[0] += 1
            lines += [*self._contents(inner, indent + "  ", number), indent + "}"]
        return lines

    def _box(self, box: Box) -> str:
        kind = self.kinds[box.kind]
        label = _quoted(f"{box.label}\n{box.detail}" if box.detail else box.label)
        if kind.code:
            label = label[:-1].replace("\\n", "\\l") + '\\l" fontname=Courier'  # \\l ends a line that is flush left
        look = f'class="mtc-{box.kind}" style="{kind.style}" fillcolor="{kind.fill}" color="{kind.border}"'
        tooltip = _quoted(box.tooltip or box.label)
        return f"{_quoted(box.id)} [label={label}\n    {look}\n    tooltip={tooltip}];"

    def _arrow(self, arrow: Arrow) -> str:
        attributes = [f"label={_quoted(arrow.label)}"] if arrow.label else []
        attributes += [f"style={arrow.style}"] if arrow.style != "solid" else []
        suffix = f" [{' '.join(attributes)}]" if attributes else ""
        return f"  {_quoted(arrow.source)} -> {_quoted(arrow.target)}{suffix};"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
