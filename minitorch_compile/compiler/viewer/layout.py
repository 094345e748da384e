"""Where boxes lie: Graphviz lays out each frame by itself, with the frames inside it as single boxes.

What comes into a frame from outside, and what leaves it, are small boxes at its edge. So every layout is small, however
large the graph; the page makes room for a frame that is opened (`page/stretch.js`).

>>> from minitorch_compile.compiler.viewer.report import Item, Stage
>>> stage = Stage("graph", "", "graph", [Item("x", "x"), Item("e", "exp", reads=["x"])])
>>> (frame,) = layouts_of(stage)
>>> [box["item"] for box in frame["boxes"]], len(frame["arrows"])
([0, 1], 1)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.compiler.viewer.frames import Frame, frames_of
from minitorch_compile.compiler.viewer.report import Item, Stage
from minitorch_compile.fx.render import render_plain

POINTS = 72  # in Graphviz's inch
MOST_PORTS = 8  # values that come in or go out, each with a box; more share one

GLYPHS = {
    "input": "▸", "parameter": "▹", "output": "◂", "reduction": "Σ", "contraction": "⊗", "view": "◇", "movement": "⇄",
    "constant": "#", "random": "?", "write": "!", "saved": "★", "recomputed": "↻", "kernel": "▣", "extern": "▤",
    "buffer": "▭", "module": "▢", "source": "▸", "call": "ƒ", "pointwise": "·",
}  # fmt: skip

Json = dict[str, Any]
Unit = tuple[str, int]  # ("item", its number), ("frame", its index), or a port: ("in", number), ("out", number)


@dataclass
class Level:
    """What one frame shows: its units, and the arrows between them."""

    frame: Frame
    units: dict[Unit, None] = field(default_factory=dict)
    arrows: dict[tuple[Unit, Unit], None] = field(default_factory=dict)


def layouts_of(stage: Stage) -> list[Json] | None:
    """The frames of a stage as data, the outermost first; None where there is no Graphviz.

    Each has its label, its size, its boxes (of an item, an inner frame, or a port), and its arrows as lists of points.
    """
    levels = _levels(stage)
    result: list[Json] = []
    for number, level in enumerate(levels):
        placed, frame = _placed(level, stage, levels), level.frame
        if placed is None:
            return None
        told = {"label": frame.label, "open": frame.is_open, "number": number, "inside": frame.everything}
        result.append({**told, **placed})
    return result


def _levels(stage: Stage) -> list[Level]:
    """All frames, the outermost first, with every arrow on the levels that it passes through."""
    levels: list[Level] = []
    way: list[list[int]] = [[] for _ in stage.items]  # the frames around each item, from the outside

    def add(frame: Frame, around: list[int]) -> int:
        number = len(levels)
        levels.append(Level(frame))
        for member in frame.members:
            if isinstance(member, Frame):
                levels[number].units["frame", add(member, [*around, number])] = None
            else:
                way[member] = [*around, number]
                levels[number].units["item", member] = None
        return number

    add(frames_of(stage), [])
    for number, item in enumerate(stage.items):
        for name in item.reads:
            if name in stage.by_name:
                _add_arrow(levels, way, stage.by_name[name], number)
    return levels


def _add_arrow(levels: list[Level], way: Sequence[list[int]], source: int, target: int) -> None:
    """An arrow between two items: inside their common frame, and on from the edges of the frames around each."""
    up, down = way[source], way[target]
    shared = sum(1 for a, b in zip(up, down) if a == b)

    def unit_in(path: list[int], depth: int, item: int) -> Unit:
        return ("frame", path[depth + 1]) if depth + 1 < len(path) else ("item", item)

    common = levels[up[shared - 1]]
    common.arrows[unit_in(up, shared - 1, source), unit_in(down, shared - 1, target)] = None
    for depth in range(shared, len(down)):
        levels[down[depth]].arrows[("in", source), unit_in(down, depth, target)] = None
    for depth in range(shared, len(up)):
        levels[up[depth]].arrows[unit_in(up, depth, source), ("out", source)] = None


def _placed(level: Level, stage: Stage, levels: Sequence[Level]) -> Json | None:
    """The level laid out: sizes, boxes and arrows in points, y downwards."""
    arrows = [pair for pair in level.arrows if pair[0] != pair[1]]
    ports = _few_ports(arrows)
    arrows = list(dict.fromkeys((ports.get(a, a), ports.get(b, b)) for a, b in arrows))
    units = list(dict.fromkeys([*level.units, *(unit for pair in arrows for unit in pair)]))
    index = {unit: number for number, unit in enumerate(units)}
    labels = tuple(label_of_unit(unit, stage.items, levels) for unit in units)
    plain = _plain(labels, tuple((index[a], index[b]) for a, b in arrows), stage.direction)
    return None if plain is None else _read(plain, units)


def _few_ports(arrows: Sequence[tuple[Unit, Unit]]) -> dict[Unit, Unit]:
    """What stands for each port: itself, or, where there are many of a kind, one for all behind the first few."""
    ports = {kind: list(dict.fromkeys(u for pair in arrows for u in pair if u[0] == kind)) for kind in ("in", "out")}
    return {
        unit: (kind, -1) for kind, found in ports.items() if len(found) > MOST_PORTS for unit in found[MOST_PORTS - 1 :]
    }


def label_of_unit(unit: Unit, items: Sequence[Item], levels: Sequence[Level]) -> str:
    """The text in a box; Graphviz makes room for it."""
    kind, number = unit
    if kind == "frame":
        frame = levels[number].frame
        return f"▸ {frame.label}\n{len(frame.everything)} nodes"
    if kind != "item":
        return "…" if number < 0 else items[number].name
    item = items[number]
    label = f"{GLYPHS.get(item.kind, '')} {item.label}".strip()
    return f"{label}\n{item.detail}" if item.detail else label


@functools.lru_cache(maxsize=512)  # the twelve layers of a model look alike
def _plain(labels: tuple[str, ...], arrows: tuple[tuple[int, int], ...], direction: str) -> str | None:
    escaped = [label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for label in labels]
    apart = "nodesep=0.22 ranksep=0.32" if direction == "TB" else "nodesep=0.1 ranksep=0.5"
    lines = ["digraph {", f"graph [rankdir={direction} {apart} pad=0.1];"]
    lines += ['node [shape=box height=0.32 width=0.4 margin="0.12,0.05" fontname=Helvetica fontsize=11];']
    lines += ["edge [arrowsize=0.6];"]
    lines += [f'n{number} [label="{text}"];' for number, text in enumerate(escaped)]
    lines += [f"n{a} -> n{b};" for a, b in arrows]
    return render_plain("\n".join([*lines, "}"]))


def _read(plain: str, units: Sequence[Unit]) -> Json:
    """Graphviz's `plain` format: a line for the graph, for each node, for each edge."""
    first, *lines = plain.splitlines()
    width, height = (float(text) * POINTS for text in first.split()[2:4])
    point = lambda x, y: [round(float(x) * POINTS), round(height - float(y) * POINTS)]
    boxes: list[Json] = []
    arrows: list[list[Any]] = []
    for line in lines:
        word, *rest = line.split(None, 6)[:6] if line.startswith("node") else line.split()
        if word == "node":
            kind, number = units[int(rest[0][1:])]
            w, h = (round(float(text) * POINTS) for text in rest[3:5])
            boxes.append({kind: number, "at": [*point(*rest[1:3]), w, h]})
        elif word == "edge":
            count = int(rest[2])
            pairs = zip(rest[3 : 3 + 2 * count : 2], rest[4 : 4 + 2 * count : 2])
            ends = [int(rest[0][1:]), int(rest[1][1:])]
            arrows.append([*ends, *(number for pair in pairs for number in point(*pair))])
    order = {unit: number for number, unit in enumerate(units)}
    boxes.sort(key=lambda box: next(order[kind, number] for kind, number in box.items() if kind != "at"))
    return {"size": [round(width), round(height)], "boxes": boxes, "arrows": arrows}
