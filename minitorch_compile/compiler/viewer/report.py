"""What the viewer shows, as plain data: stages, items in them, and which items came from which.

>>> graph = Stage("graph", "captured graph", "graph", [Item("exp", "exp"), Item("sum", "sum(1)", reads=["exp"])])
>>> loops = Stage("loops", "loops", "text", [Item("1", "t1 = exp(t0)", origins={"graph": ["exp"]})])
>>> report = Report("f", [graph, loops])
>>> report.origins_of(loops.items[0])
[0]
>>> report.as_json()["stages"][1]["items"]
[{'name': '1', 'label': 't1 = exp(t0)', 'kind': 'line', 'from': [0]}]

An item is a box of a picture or a line of a text. Items are numbered through the whole report, in the order of the
stages; `origins` has names, by stage, and names all stages that it knows, not just the last one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Origins = dict[str, list[str]]  # stage -> names of items there


@dataclass
class Item:
    """One thing that can be pointed at. `name` is unique in its stage.

    label: the words in the box, or the line. kind: how it looks, see `fx/dot.py`, or how a line is set.
    detail: the second line of a box, such as a shape. code: what is shown on hover.
    place: the user's line. module: the frames it stands in, from the outermost.
    reads: the items of the same stage from which arrows lead here.
    box: x, y, width, height for an item of a chart, which no layout is made for.
    """

    name: str
    label: str
    kind: str = "line"
    detail: str = ""
    code: str = ""
    place: str = ""
    module: tuple[str, ...] = ()
    reads: list[str] = field(default_factory=list)
    origins: Origins = field(default_factory=dict)
    box: tuple[float, float, float, float] | None = None


@dataclass
class Stage:
    """A view of the program. form: "graph" (boxes and arrows), "text" (lines), or "chart" (boxes that have a place).
    direction: that of a graph's arrows, TB or LR.
    """

    key: str
    title: str
    form: str
    items: list[Item]
    note: str = ""
    direction: str = "TB"

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The position of each item."""
        return {item.name: number for number, item in enumerate(self.items)}


class Report:
    """All stages of one compilation."""

    def __init__(self, title: str, stages: Iterable[Stage]) -> None:
        self.title = title
        self.stages = [stage for stage in stages if stage.items]
        self.first: dict[str, int] = {}  # stage -> number of its first item
        self.count = 0
        for stage in self.stages:
            self.first[stage.key] = self.count
            self.count += len(stage.items)
        self._stage = {stage.key: stage for stage in self.stages}

    def origins_of(self, item: Item) -> list[int]:
        """The numbers of the items that this one came from. What was dropped on the way has none."""
        return sorted(
            self.first[key] + self._stage[key].by_name[name]
            for key, names in item.origins.items()
            if key in self._stage
            for name in names
            if name in self._stage[key].by_name
        )

    def as_json(self) -> dict[str, Any]:
        """Everything but layouts. What is empty is left out; a place is its number in the list of places."""
        places = dict.fromkeys(["", *(item.place for stage in self.stages for item in stage.items)])
        self.places = {place: number for number, place in enumerate(places)}
        stages = [self._stage_json(stage) for stage in self.stages]
        return {"title": self.title, "places": list(places), "stages": stages}

    def _stage_json(self, stage: Stage) -> dict[str, Any]:
        items = [self._item_json(stage, item) for item in stage.items]
        return {
            "key": stage.key,
            "title": stage.title,
            "form": stage.form,
            "note": stage.note,
            "first": self.first[stage.key],
            "items": items,
        }

    def _item_json(self, stage: Stage, item: Item) -> dict[str, Any]:
        first = self.first[stage.key]
        told = {
            "name": item.name,
            "label": item.label,
            "kind": item.kind,
            "detail": item.detail,
            "code": item.code if item.code != item.label else "",
            "place": self.places[item.place],
            "module": ".".join(item.module),
            "reads": [first + stage.by_name[name] for name in item.reads if name in stage.by_name],
            "from": self.origins_of(item),
            "box": item.box,
        }
        return {key: value for key, value in told.items() if value not in ("", [], None, 0)}


def merged(trails: Iterable[Mapping[str, Iterable[str]]]) -> Origins:
    """Several origins as one, each name once.

    >>> merged([{"graph": ["a"]}, {"graph": ["b", "a"], "prims": ["c"]}])
    {'graph': ['a', 'b'], 'prims': ['c']}
    """
    found: dict[str, dict[str, None]] = {}
    for trail in trails:
        for stage, names in trail.items():
            found.setdefault(stage, {}).update(dict.fromkeys(names))
    return {stage: list(names) for stage, names in found.items()}
