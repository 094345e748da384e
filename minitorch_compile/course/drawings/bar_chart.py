"""Draw numbers as bars, one below the other: the speed of several ways to do the same.

>>> draw_bars({"naive": 0.75, "blocked": 3.0}, unit="GFLOP/s")
naive    #######                       0.75 GFLOP/s
blocked  ############################  3 GFLOP/s
"""

from __future__ import annotations

from collections.abc import Mapping

from minitorch_compile.svg import INK, PALETTE, Drawing, box, element, label

HEIGHT, LETTER, WIDTH, GAP = 24, 7.3, 420, 12
COLUMNS = 28  # of the longest bar in the text form


def draw_bars(values: Mapping[str, float], *, unit: str) -> Drawing:
    """A bar for each name, as long as its value. ValueError without values, or with a negative one."""
    if not values or min(values.values()) < 0:
        raise ValueError(f"draw_bars: expected at least one value, none below 0, got {dict(values)}")
    highest = max(values.values()) or 1.0
    left = LETTER * max(map(len, values)) + GAP
    parts: list[str] = []
    for number, (name, value) in enumerate(values.items()):
        y, length = number * (HEIGHT + 6) + 2, max(WIDTH * value / highest, 1.0)
        parts.append(label(left - GAP / 2, y + 16, name, anchor="end"))
        parts.append(box(left, y, length, HEIGHT, PALETTE[number % len(PALETTE)]))
        parts.append(_value(left, y, length, f"{_number(value)} {unit}"))
    return Drawing(left + WIDTH + 110, len(values) * (HEIGHT + 6) + 4, parts, _text(values, highest, unit))


def _value(left: float, y: float, length: float, text: str) -> str:
    """What the bar stands for: in it where there is room, else behind it."""
    if length > LETTER * len(text) + GAP:
        at = left + length - GAP / 2
        return element("text", text, x=at, y=y + 16, font_size=12, text_anchor="end", fill=INK)
    return label(left + length + GAP / 2, y + 16, text, anchor="start")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _text(values: Mapping[str, float], highest: float, unit: str) -> str:
    width = max(map(len, values))
    bars = {name: "#" * max(round(COLUMNS * value / highest), 1) for name, value in values.items()}
    return "\n".join(
        f"{name:<{width}}  {bars[name]:<{COLUMNS}}  {_number(value)} {unit}" for name, value in values.items()
    )
