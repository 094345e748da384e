"""Draw the frames of a program's run: one bar a frame, indented by its depth, coloured by what became of it.

>>> draw_frames([(0, "main", "passes"), (1, "step", "captured"), (1, "log", "off")])
main      passes
  step    captured
  log     off
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.svg import INK, PALETTE, Drawing, box, label

Row = tuple[int, str, str]
"""Depth, name, and what became of the frame."""

LEFT, ROW, BAR, INDENT, GAP = 12, 30, 22, 26, 18
CHARACTER = 7.4


def draw_frames(rows: Sequence[Row]) -> Drawing:
    """The frames in the order in which they began; a frame lies below and to the right of its caller."""
    verdicts = list(dict.fromkeys(verdict for _, _, verdict in rows))
    edge = max(LEFT + INDENT * depth + _width(name) for depth, name, _ in rows) + GAP
    parts: list[str] = []
    for number, (depth, name, verdict) in enumerate(rows):
        x, y = LEFT + INDENT * depth, 10 + ROW * number
        if depth:
            parts.append(box(x - INDENT / 2, y + BAR / 2, INDENT / 2, 0.5))
        parts.append(box(x, y, _width(name), BAR, PALETTE[verdicts.index(verdict) % len(PALETTE)], rx=5))
        parts.append(label(x + 10, y + 15, name, anchor="start", fill=INK))
        parts.append(label(edge, y + 15, verdict, anchor="start"))
    width = edge + CHARACTER * max(map(len, verdicts)) + LEFT
    return Drawing(width, 10 + ROW * len(rows), parts, _text(rows))


def _width(name: str) -> float:
    return 20 + CHARACTER * len(name)


def _text(rows: Sequence[Row]) -> str:
    names = ["  " * depth + name for depth, name, _ in rows]
    longest = max(map(len, names)) + 4
    return "\n".join(f"{name:<{longest}}{verdict}" for name, (_, _, verdict) in zip(names, rows, strict=True))
