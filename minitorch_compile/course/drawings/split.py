"""Draw how a compiled function was split: each frame with its graph, its side effects, what is done for real, and the
resume functions that go on.

>>> import minitorch_compile as torch
>>> @torch.compile(backend="eager")
... def halve(x, log):
...     y = x / 2
...     log.append("halved")
...     z = y.sum().item()
...     return y + z
>>> _ = halve(torch.tensor([1.0, 3.0]), [])
>>> draw_split(halve)                                                                     # doctest: +ELLIPSIS
halve
    graph: truediv, sum
    effects: log.append("halved")
    for real: y.sum().item()
    then: resume_in_halve_at_...
resume_in_halve_at_...
    graph: add
    returns
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from minitorch_compile.dynamo.cache.dispatcher import Dispatcher
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.region import CodeCache
from minitorch_compile.dynamo.eval_frame import region_of
from minitorch_compile.dynamo.resuming.resume import shown_name
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.targets import target_name
from minitorch_compile.svg import INK, PALETTE, Drawing, arrow, box, label

LEFT, TOP, LINE, PAD, GAP_X, GAP_Y = 12, 12, 24, 10, 26, 46
CHARACTER, LONGEST = 7.4, 52
LOOP_END = "NO_MORE_ITEMS"  # what generated code compares with where it takes the next item of a loop for real
GRAPH_COLOUR, EFFECT_COLOUR, BREAK_COLOUR = PALETTE[2], PALETTE[1], PALETTE[4]


@dataclass
class SplitFrame:
    """One function and what is known of it; `rows` are a colour and a text each, `then` are the frames that go on."""

    name: str
    rows: list[tuple[str, str]] = field(default_factory=lambda: [("none", "not needed so far")])
    then: list[SplitFrame] = field(default_factory=list)
    is_compiled: bool = False
    ways: tuple[str, str] = ("true", "false")

    @property
    def width(self) -> float:
        return 2 * PAD + CHARACTER * max(len(text) for text in (self.name, *(text for _, text in self.rows)))

    @property
    def height(self) -> float:
        return PAD + 18 + LINE * len(self.rows) + 4

    @property
    def span(self) -> float:
        """The width of the frame and of all that stands below it."""
        return max(self.width, _side_by_side(self.then))

    def text(self) -> str:
        lines = [self.name, *(f"    {text}" for _, text in self.rows)]
        if self.is_compiled and not any(text.startswith("back to") for _, text in self.rows):
            lines.append(f"    then: {' or '.join(frame.name for frame in self.then)}" if self.then else "    returns")
        return "\n".join([*lines, *(frame.text() for frame in self.then)])


def draw_split(compiled: Callable[..., Any]) -> Drawing:
    """What became of a compiled function in the calls so far. Where a function has several versions, the first."""
    roots = _frames(region_of(compiled).caches)
    parts: list[str] = []
    left: float = LEFT
    bottoms = []
    for root in roots:
        bottoms.append(_draw(root, left, TOP, parts))
        left += root.span + GAP_X
    return Drawing(left - GAP_X + LEFT, max(bottoms, default=0) + TOP, parts, "\n".join(root.text() for root in roots))


# --- what there is to draw --------------------------------------------------------------------------------------------


def _frames(caches: list[CodeCache]) -> list[SplitFrame]:
    """The functions that were compiled on their own, each with its resume functions below it."""
    entries = {id(cache.code): (cache.code, cache.entries[0]) for cache in caches if cache.entries}
    drawn: set[int] = set()

    def frame(code: CodeType) -> SplitFrame:
        drawn.add(id(code))
        if id(code) not in entries:
            return SplitFrame(_name(code))
        entry = entries[id(code)][1]
        ways = ("done", "next item") if LOOP_END in entry.source else ("true", "false")
        made = SplitFrame(_name(code), _rows(entry), is_compiled=True, ways=ways)
        for target in _targets(entry):
            if id(target) in drawn:
                made.rows.append(("none", f"back to {_name(target)}"))
            else:
                made.then.append(frame(target))
        return made

    return [frame(code) for code, _ in entries.values() if id(code) not in drawn]


def _name(code: CodeType) -> str:
    """Without the names of the functions and classes around it."""
    return shown_name(code).rpartition(".")[2]


def _targets(entry: Entry) -> list[CodeType]:
    """The code of the resume functions that a version goes on to, in the order of its source."""
    names = dict.fromkeys(re.findall(r"\b(resume_in_\w+)[(,]", entry.source))
    found = [_code(entry.names[name]) for name in names if name in entry.names]
    return [code for code in found if code is not None]


def _code(resume: Any) -> CodeType | None:
    """The code behind the name of a resume function; one with a closure is bound to its cells at each call."""
    if isinstance(resume, Dispatcher):
        return resume.function.__code__
    bound = inspect.getclosurevars(resume).nonlocals.get("resume")
    return None if bound is None else bound.code


def _rows(entry: Entry) -> list[tuple[str, str]]:
    operations = _operations(entry.graph_module)
    rows = [(GRAPH_COLOUR, f"graph: {operations}") if operations else ("none", "no graph")]
    effects = [line.strip().partition("  ")[2] for line in entry.side_effects.splitlines()]
    rows += [(EFFECT_COLOUR, f"effects: {'; '.join(effects)}")] if effects else []
    rows += [(BREAK_COLOUR, "for real: next(...) of the loop")] if LOOP_END in entry.source else []
    rows += [(BREAK_COLOUR, f"for real: {_broken(entry)}")] if entry.graph_break is not None else []
    return [(colour, text if len(text) <= LONGEST else text[: LONGEST - 3] + "...") for colour, text in rows]


def _operations(module: GraphModule | None) -> str:
    nodes = [] if module is None else [node for node in module.graph.nodes if node.op.startswith("call")]
    return ", ".join(target_name(node.target).rpartition(".")[2] for node in nodes)


def _broken(entry: Entry) -> str:
    """The expression at which the graph breaks."""
    assert entry.graph_break is not None
    line = entry.graph_break.source_line
    return line.text[line.start : line.end].strip()


# --- drawing ----------------------------------------------------------------------------------------------------------


def _side_by_side(frames: list[SplitFrame]) -> float:
    return sum(frame.span for frame in frames) + GAP_X * max(len(frames) - 1, 0)


def _draw(frame: SplitFrame, left: float, top: float, parts: list[str]) -> float:
    """The frame, centred over the frames that it goes on to; gives the lower end of all of it."""
    middle, bottom = left + frame.span / 2, top + frame.height
    lowest, x = bottom, middle - _side_by_side(frame.then) / 2
    for number, target in enumerate(frame.then):
        end, below = x + target.span / 2, bottom + GAP_Y
        bend = f"M{middle},{bottom} C{middle},{bottom + 24} {end},{below - 24} {end},{below - 2}"
        parts.append(arrow(bend, 1))
        if len(frame.then) == 2:
            side, anchor = (-9, "end") if number == 0 else (9, "start")
            parts.append(label(end + side, below - 10, frame.ways[number], size=11, anchor=anchor))
        lowest = max(lowest, _draw(target, x, below, parts))
        x += target.span + GAP_X
    parts += _box(frame, middle - frame.width / 2, top)
    return lowest


def _box(frame: SplitFrame, x: float, y: float) -> list[str]:
    faint = 1.0 if frame.is_compiled else 0.7
    dashes = "none" if frame.is_compiled else "4 4"
    parts = [box(x, y, frame.width, frame.height, rx=6, stroke_dasharray=dashes, opacity=faint)]
    parts.append(label(x + frame.width / 2, y + PAD + 10, frame.name, font_weight="bold", opacity=faint))
    for row, (colour, text) in enumerate(frame.rows):
        top = y + PAD + 18 + row * LINE
        ink = "currentColor" if colour == "none" else INK
        if colour != "none":
            parts.append(box(x + 5, top, frame.width - 10, LINE - 4, colour, stroke_width=0.5, rx=3))
        parts.append(label(x + PAD, top + 14, text, anchor="start", fill=ink, opacity=faint))
    return parts
