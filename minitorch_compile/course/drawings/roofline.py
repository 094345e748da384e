"""Draw a roofline: how fast work can be on a machine, over how many operations it does on each byte that it fetches.

Williams, Waterman and Patterson (2009). Both axes are logarithmic. The slope is what memory delivers, the flat part
what the arithmetic units can do.

>>> draw_roofline(40.0, 100.0, {"add": (0.083, 3.0), "product": (160.0, 80.0)})
up to 40 GB/s and 100 GFLOP/s; the roof bends at 2.5 operations a byte
  add      at  0.083:    3 of  3.32 GFLOP/s
  product  at    160:   80 of   100 GFLOP/s
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from math import log10

from minitorch_compile.svg import Drawing, element, label, line_colour

LEFT, TOP, WIDTH, HEIGHT = 56, 16, 540, 280
LINE = 13  # between two names that would lie on each other

Point = tuple[float, float]
"""Operations a byte, and GFLOP/s."""
Place = tuple[float, float, float]
"""Where a name begins and ends, and its height."""


def draw_roofline(bandwidth: float, peak: float, points: Mapping[str, Point]) -> Drawing:
    """The roof of `bandwidth` GB/s and `peak` GFLOP/s, with a named point for each measurement.

    ValueError for a number that isn't positive: a logarithm has no place for it.
    """
    numbers = [bandwidth, peak, *(number for point in points.values() for number in point)]
    if min(numbers) <= 0:
        raise ValueError(f"draw_roofline: all numbers must be positive, got {min(numbers)}")
    bend = peak / bandwidth
    across = _Scale(LEFT, WIDTH, [bend / 4, bend, *(x for x, _ in points.values())], room=8)  # for names at the right
    up = _Scale(TOP + HEIGHT, -HEIGHT, [peak, *(y for _, y in points.values())], room=2)
    parts = _axes(across, up) + [_roof(across, up, bandwidth, peak)] + _points(across, up, points)
    return Drawing(LEFT + WIDTH + 20, TOP + HEIGHT + 44, parts, _text(bandwidth, peak, points))


class _Scale:
    """A logarithmic axis from a power of ten to the largest of the values, and `room` times farther."""

    def __init__(self, start: float, length: float, values: Iterable[float], room: float) -> None:
        logarithms = [log10(value) for value in values]
        self.start, self.length = start, length
        self.low, self.high = min(logarithms) // 1, max(logarithms) + log10(room)

    def __call__(self, value: float) -> float:
        return self.start + self.length * (log10(value) - self.low) / (self.high - self.low)

    @property
    def powers(self) -> list[float]:
        return [10.0**n for n in range(int(self.low), int(self.high // 1) + 1)]


def _axes(across: _Scale, up: _Scale) -> list[str]:
    bottom = TOP + HEIGHT
    parts = [element("path", d=f"M{LEFT},{TOP} V{bottom} H{LEFT + WIDTH}", fill="none", stroke="currentColor")]
    parts += [label(across(power), bottom + 16, f"{power:g}", size=10, opacity=0.8) for power in across.powers]
    parts += [label(LEFT - 6, up(power) + 4, f"{power:g}", size=10, anchor="end", opacity=0.8) for power in up.powers]
    parts.append(label(LEFT + WIDTH / 2, bottom + 34, "operations on a byte"))
    parts.append(label(LEFT + 8, TOP + 4, "GFLOP/s", anchor="start"))
    return parts


def _roof(across: _Scale, up: _Scale, bandwidth: float, peak: float) -> str:
    bottom = 10.0 ** max(up.low, log10(bandwidth) + across.low)  # where the slope enters the picture
    corners = [(bottom / bandwidth, bottom), (peak / bandwidth, peak), (10.0**across.high, peak)]
    path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in corners)
    return element("polyline", points=path, fill="none", stroke=line_colour(1), stroke_width=2)


def _points(across: _Scale, up: _Scale, points: Mapping[str, Point]) -> list[str]:
    parts: list[str] = []
    taken: list[Place] = []
    for name, (x, y) in sorted(points.items(), key=lambda item: -item[1][1]):
        at, width = (across(x), up(y)), 7.3 * len(name)
        place = next(place for place in _places(at, width) if not any(_overlap(place, other) for other in taken))
        taken.append(place)
        parts.append(element("circle", cx=at[0], cy=at[1], r=4, fill=line_colour(0)))
        parts.append(label(place[0], place[2] + 4, name, size=11, anchor="start"))
    return parts


def _places(at: tuple[float, float], width: float) -> Iterator[Place]:
    """Where a name may stand: to the right of its point, to the left, and then farther and farther below."""
    for below in count():
        for left in (at[0] + 9, at[0] - 9 - width):
            yield left, left + width, at[1] + LINE * below


def _overlap(a: Place, b: Place) -> bool:
    return a[0] < b[1] and b[0] < a[1] and abs(a[2] - b[2]) < LINE


def _text(bandwidth: float, peak: float, points: Mapping[str, Point]) -> str:
    lines = [
        f"up to {bandwidth:.3g} GB/s and {peak:.3g} GFLOP/s; the roof bends at {peak / bandwidth:.2g} operations a byte"
    ]
    width = max(map(len, points), default=0)
    for name, (x, y) in points.items():
        lines.append(f"  {name:<{width}}  at {x:6.3g}: {y:4.3g} of {min(peak, bandwidth * x):5.3g} GFLOP/s")
    return "\n".join(lines)
