"""Draw where the elements of views lie: each view as a table of addresses, the deeper the colour the higher.

>>> draw_addresses({"x": [[0, 1], [2, 3]], "x.t()": [[0, 2], [1, 3]]})
x
  0 1
  2 3
x.t()
  0 2
  1 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minitorch_compile.svg import INK, Drawing, box, element, label

CELL, SPACE, CAPTION = 26, 24, 24
LIGHT, DEEP = (234, 243, 250), (111, 168, 214)  # both are read under dark ink

Addresses = Sequence[Sequence[int]]


def draw_addresses(views: Mapping[str, Addresses]) -> Drawing:
    """One table a view, side by side, under its caption. ValueError if there is nothing to draw."""
    if not views or any(len(rows) == 0 or len(rows[0]) == 0 for rows in views.values()):
        raise ValueError("draw_addresses: each view must have at least one row and one column")
    highest = max(address for rows in views.values() for row in rows for address in row)
    parts: list[str] = []
    left = 1
    for caption, rows in views.items():
        parts.append(label(left, 16, caption, size=13, anchor="start"))
        parts += _table(rows, left, highest)
        left += max(len(rows[0]) * CELL, 8 * len(caption)) + SPACE
    height = CAPTION + max(map(len, views.values())) * CELL + 2
    return Drawing(left, height, parts, _text(views))


def _table(rows: Addresses, left: float, highest: int) -> list[str]:
    parts = []
    for number, row in enumerate(rows):
        for column, address in enumerate(row):
            x, y = left + column * CELL, CAPTION + number * CELL
            parts.append(box(x, y, CELL, CELL, _colour(address / max(highest, 1))))
            parts.append(
                element("text", str(address), x=x + CELL / 2, y=y + 17, font_size=11, text_anchor="middle", fill=INK)
            )
    return parts


def _colour(depth: float) -> str:
    red, green, blue = (round(light + (deep - light) * depth) for light, deep in zip(LIGHT, DEEP))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _text(views: Mapping[str, Addresses]) -> str:
    lines = []
    for caption, rows in views.items():
        width = max(len(str(address)) for row in rows for address in row)
        lines += [caption, *("  " + " ".join(str(address).rjust(width) for address in row) for row in rows)]
    return "\n".join(lines)
