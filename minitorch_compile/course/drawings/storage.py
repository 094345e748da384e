"""Draw a view: its elements as a table, and below it the storage, the cells that are read in the table's colours.

>>> draw_layout(list("abcdef"), sizes=(2, 2), strides=(3, 2))
sizes (2, 2)  strides (3, 2)  offset 0
  a c
  d f
storage: [a] b [c] [d] e [f]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minitorch_compile.svg import INK, PALETTE, Drawing, arrow, box, label, line_colour

CELL = 36
GAP = 22
LEFT = 12
LINE_CELLS = 24
MOST_CELLS = 96
Ints = tuple[int, ...]


def draw_storage(x: Any) -> Drawing:
    """Draw a tensor over its storage. ValueError if the storage has more than 96 cells."""
    return draw_layout(x.storage.buffer.tolist(), tuple(x.sizes), tuple(x.strides), x.offset)


def draw_layout(storage: Sequence[Any], sizes: Ints, strides: Ints, offset: int = 0) -> Drawing:
    """Draw the view that these sizes, strides and offset make of a list of cells."""
    view = _View(list(map(_text, storage)), tuple(sizes), tuple(strides), offset)
    view.check()
    table, table_height, table_width = _table(view)
    strip, strip_height, strip_width = _strip(view, top=table_height + GAP)
    title = label(LEFT, 18, view.title, anchor="start", size=13)
    return Drawing(
        width=max(table_width, strip_width, LEFT * 2 + 8 * len(view.title)),
        height=table_height + GAP + strip_height,
        parts=[title, *table, *strip],
        text=view.text(),
    )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class _View:
    cells: list[str]
    sizes: Ints
    strides: Ints
    offset: int

    @property
    def title(self) -> str:
        return f"sizes {self.sizes}  strides {self.strides}  offset {self.offset}"

    def check(self) -> None:
        """Refuse what can't be drawn, in words, before any coordinate is computed."""
        if len(self.sizes) != len(self.strides):
            raise ValueError(
                f"draw: {len(self.sizes)} sizes but {len(self.strides)} strides; a dimension has one of both"
            )
        if len(self.cells) > MOST_CELLS:
            raise ValueError(f"draw: the storage has {len(self.cells)} cells; at most {MOST_CELLS} can be drawn")
        if len(self.sizes) > 3:
            raise ValueError(f"draw: the view has {len(self.sizes)} dimensions; at most 3 can be drawn")
        for index in self.indices():
            place, last = self.position(index), len(self.cells) - 1
            if not 0 <= place <= last:
                raise ValueError(f"draw: element {index} would lie in cell {place}; the storage has cells 0 to {last}")

    def indices(self) -> list[Ints]:
        return list(itertools.product(*map(range, self.sizes)))

    def position(self, index: Ints) -> int:
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    def colour(self, index: Ints) -> str:
        """The rows of the table differ in colour; a single row's elements do."""
        row = index[-2] + (self.sizes[-2] * index[0] if len(index) == 3 else 0) if len(index) > 1 else 0
        return PALETTE[row % len(PALETTE)]

    def readers(self) -> dict[int, list[Ints]]:
        """Which elements each cell is read for."""
        found: dict[int, list[Ints]] = {}
        for index in self.indices():
            found.setdefault(self.position(index), []).append(index)
        return found

    def text(self) -> str:
        read = self.readers()
        strip = " ".join(f"[{cell}]" if place in read else cell for place, cell in enumerate(self.cells))
        return "\n".join([self.title, *self.text_rows(), f"storage: {strip}"])

    def text_rows(self) -> list[str]:
        values = {index: self.cells[self.position(index)] for index in self.indices()}
        width = max(map(len, values.values()), default=0)
        columns = self.sizes[-1] if self.sizes else 1
        ordered = [values[index].rjust(width) for index in self.indices()]
        rows = [ordered[start : start + columns] for start in range(0, len(ordered), columns)] if ordered else []
        return ["  " + " ".join(row) for row in rows]


def _table(view: _View) -> tuple[list[str], float, float]:
    """The elements as one matrix, or side by side as several: (parts, bottom, right)."""
    blocks, rows, columns = (1, 1, 1, *view.sizes)[-3:]
    parts, top = [], 34
    for index in view.indices():
        block, row, column = (0, 0, 0, *index)[-3:]
        x = LEFT + block * (columns * CELL + GAP) + column * CELL
        y = top + row * CELL
        parts.append(box(x, y, CELL, CELL, view.colour(index)))
        parts.append(label(x + CELL / 2, y + CELL / 2 + 4, view.cells[view.position(index)], fill=INK))
    right = LEFT + blocks * (columns * CELL + GAP)
    return parts, top + rows * CELL, right + LEFT


def _strip(view: _View, top: float) -> tuple[list[str], float, float]:
    """The storage, in lines of 24 cells, under the jumps of the first element: (parts, height, right)."""
    jumps, jump_height = _jumps(view, top)
    parts, read = list(jumps), view.readers()
    line_height = CELL + 24
    for place, cell in enumerate(view.cells):
        line, column = divmod(place, LINE_CELLS)
        x, y = LEFT + column * CELL, top + jump_height + line * line_height
        parts += _cell(x, y, cell, place, [view.colour(index) for index in read.get(place, [])])
    lines = -(-max(len(view.cells), 1) // LINE_CELLS)
    return parts, jump_height + lines * line_height, 2 * LEFT + min(len(view.cells), LINE_CELLS) * CELL


def _cell(x: float, y: float, cell: str, place: int, colours: list[str]) -> list[str]:
    """A storage cell: striped in the colours of the elements that read it, pale if none does."""
    parts = []
    for band, colour in enumerate(colours):
        height = CELL / len(colours)
        parts.append(box(x, y + band * height, CELL, height, colour, stroke_width=0.3))
    outline = {} if colours else {"stroke_dasharray": "2 3", "opacity": 0.7}
    parts.append(box(x, y, CELL, CELL, **outline))
    ink = {"fill": INK} if colours else {"opacity": 0.55}
    parts.append(label(x + CELL / 2, y + CELL / 2 + 4, cell, **ink))
    parts.append(label(x + CELL / 2, y + CELL + 13, str(place), size=9, opacity=0.7))
    return parts


def _jumps(view: _View, top: float) -> tuple[list[str], float]:
    """An arc a dimension, from the view's first element one step along: (parts, height)."""
    arcs = []
    for dim, (size, stride) in enumerate(zip(view.sizes, view.strides, strict=True)):
        last = max(view.offset, view.offset + stride)
        if size > 1 and stride != 0 and last < LINE_CELLS and 0 not in view.sizes:
            arcs.append((dim, stride))
    arcs.sort(key=lambda arc: abs(arc[1]))
    height = 30 + 20 * len(arcs) if arcs else 8
    base, parts = top + height - 3, []
    start = LEFT + (view.offset + 0.5) * CELL
    labels = start + max((stride * CELL for _, stride in arcs), default=0) + 10
    for level, (dim, stride) in enumerate(arcs, 1):
        end, peak = start + stride * CELL, base - 24 * level - 4
        parts.append(arrow(f"M{start},{base} C{start},{peak} {end},{peak} {end},{base}", dim))
        text = f"dim {dim}: {stride:+d}"
        parts.append(label(labels, base - 18 * level + 8, text, size=11, anchor="start", fill=line_colour(dim)))
    return parts, height
