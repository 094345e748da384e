"""Draw series of numbers as lines: a loss over the steps, eager beside compiled.

>>> draw_lines({"eager": [2.3, 1.1, 0.6], "compiled": [2.3, 1.1, 0.6]}, x_label="epoch", y_label="loss")
loss over epoch
  eager     2.300 1.100 0.600
  compiled  2.300 1.100 0.600
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minitorch_compile.svg import Drawing, element, label, line_colour

LEFT, TOP, WIDTH, HEIGHT = 52, 14, 520, 200
SHOWN = 12

Series = Mapping[str, Sequence[float]]


def draw_lines(series: Series, *, x_label: str, y_label: str) -> Drawing:
    """One line a series, over 1, 2, 3, ...; the y axis begins at 0. Later series are drawn dashed over the first."""
    longest = max(map(len, series.values()))
    highest = max(max(values) for values in series.values()) or 1.0
    parts = _axes(longest, highest, x_label, y_label)
    for number, (name, values) in enumerate(series.items()):
        parts.append(_line(values, longest, highest, number))
        parts += _legend(name, number)
    return Drawing(LEFT + WIDTH + 20, TOP + HEIGHT + 44, parts, _text(series, x_label, y_label))


def _x(index: int, longest: int) -> float:
    return LEFT + WIDTH * index / max(longest - 1, 1)


def _y(value: float, highest: float) -> float:
    return TOP + HEIGHT * (1 - value / highest)


def _axes(longest: int, highest: float, x_label: str, y_label: str) -> list[str]:
    bottom = TOP + HEIGHT
    parts = [element("path", d=f"M{LEFT},{TOP} V{bottom} H{LEFT + WIDTH}", fill="none", stroke="currentColor")]
    for part in range(5):
        value = highest * part / 4
        parts.append(label(LEFT - 6, _y(value, highest) + 4, f"{value:.2f}", size=10, anchor="end", opacity=0.8))
    for index in sorted({round(part * (longest - 1) / 4) for part in range(5)}):
        parts.append(label(_x(index, longest), bottom + 16, str(index + 1), size=10, opacity=0.8))
    parts.append(label(LEFT + WIDTH / 2, bottom + 34, x_label))
    parts.append(label(LEFT + 8, TOP + 4, y_label, anchor="start"))
    return parts


def _line(values: Sequence[float], longest: int, highest: float, number: int) -> str:
    points = " ".join(f"{_x(i, longest):.1f},{_y(value, highest):.1f}" for i, value in enumerate(values))
    return element("polyline", points=points, fill="none", **_pen(number))


def _pen(number: int) -> dict[str, object]:
    """The first series is a broad pale band, so that another one on top of it can be seen."""
    if number == 0:
        return {"stroke": line_colour(0), "stroke_width": 8, "stroke_opacity": 0.4}
    return {"stroke": line_colour(number), "stroke_width": 2}


def _legend(name: str, number: int) -> list[str]:
    y = TOP + 14 + 18 * number
    return [element("path", d=f"M430,{y} h30", **_pen(number)), label(468, y + 4, name, anchor="start")]


def _text(series: Series, x_label: str, y_label: str) -> str:
    width = max(map(len, series))
    lines = [f"{y_label} over {x_label}"]
    for name, values in series.items():
        more = " ..." if len(values) > SHOWN else ""
        lines.append(f"  {name:<{width}}  {' '.join(f'{value:.3f}' for value in values[:SHOWN])}{more}")
    return "\n".join(lines)
