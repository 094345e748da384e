"""Draw a roofline: how fast work can be on a machine, over how many operations it does on each byte that it fetches.

Williams, Waterman and Patterson (2009). Both axes are logarithmic. The slope is what memory delivers, the flat part
what the arithmetic units can do.

>>> draw_roofline(40.0, 100.0, {"add": (0.083, 3.0), "product": (160.0, 80.0)})
up to 40 GB/s and 100 GFLOP/s; the roof bends at 2.5 operations a byte
  add      at  0.083:    3 of  3.32 GFLOP/s
  product  at    160:   80 of   100 GFLOP/s
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING

from minitorch_compile.course.drawings.plot import draw_plot
from minitorch_compile.svg import Drawing, line_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER, LINE = 7.0, 13.0  # the room that a letter takes, and the distance between two names
BELOW = 7.0  # its point, so that the name of what reaches the roof doesn't lie on it

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

    def paint(axes: Axes) -> None:
        _axes(axes, bandwidth, peak, points)
        _roof(axes, bandwidth, peak)
        _points(axes, points)

    return draw_plot(paint, _text(bandwidth, peak, points))


def _axes(axes: Axes, bandwidth: float, peak: float, points: Mapping[str, Point]) -> None:
    """Both logarithmic, with room at the right for names, and below for the slope."""
    bend = peak / bandwidth
    across = [bend / 4, bend, *(x for x, _ in points.values())]
    up = [peak, *(y for _, y in points.values())]
    axes.set(xscale="log", yscale="log", xlabel="operations on a byte", ylabel="GFLOP/s")
    axes.set(xlim=(min(across) / 1.5, max(across) * 8), ylim=(min(up) / 2, max(up) * 2))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")


def _roof(axes: Axes, bandwidth: float, peak: float) -> None:
    (left, right), bend = axes.get_xlim(), peak / bandwidth
    axes.plot([left, bend, right], [left * bandwidth, peak, peak], color=line_colour(1), linewidth=2, gid="roof")
    for text, at in ((f"{bandwidth:.3g} GB/s", (bend / 2, peak / 2)), (f"{peak:.3g} GFLOP/s", (right, peak))):
        axes.annotate(text, at, (0, 5), textcoords="offset points", ha="right", color=line_colour(1))


def _points(axes: Axes, points: Mapping[str, Point]) -> None:
    """A dot for each, and its name where no other name is."""
    taken: list[Place] = []
    for name, point in sorted(points.items(), key=lambda item: -item[1][1]):
        across, up = axes.transData.transform(point)
        free = (
            each
            for each in _places((across, up), LETTER * len(name))
            if not any(_overlap(each, other) for other in taken)
        )
        taken.append(next(free))
        moved = (taken[-1][0] - across, taken[-1][2] - up)
        axes.annotate(name, point, moved, textcoords="offset points", va="center")
    axes.plot(*zip(*points.values()), "o", color=line_colour(0), gid="points")


def _places(at: Point, width: float) -> Iterator[Place]:
    """Where a name may stand: to the right of its point, to the left, and then farther and farther below."""
    for below in count():
        for left in (at[0] + 9, at[0] - 9 - width):
            yield left, left + width, at[1] - BELOW - LINE * below


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
