"""The names of frames, moved aside from arrows.

Graphviz leads arrows around boxes, but writes the name of a frame in the middle below its upper edge, wherever an
arrow enters. Here the name goes to the place nearest to the middle that no arrow comes near; where there is none, in
smaller letters.

>>> free_place((0, 100), 40, [50.0])
27.0
>>> free_place((0, 100), 40, [20.0, 50.0, 80.0]) is None
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.etree.ElementTree import Element

CHARACTER_WIDTH = 0.48  # of Helvetica's letters in a name, on average, in units of the font size
SIZES = (10.0, 9.0, 8.0, 7.0)  # the first that has room
BESIDE = 2.5  # room between a name and what is next to it
ABOVE, BELOW = 0.8, 0.25  # how far letters reach above their line and below it, in units of the font size
STEPS = 8  # that stand for each piece of a curve
NUMBERS = re.compile(r"-?[\d.]+")

Point = tuple[float, float]


def move_names_aside(root: Element, namespace: str) -> None:
    """Gives the name of each frame of Graphviz's picture a place of its own."""
    groups = list(root.iter(f"{{{namespace}}}g"))
    kind = lambda group: group.get("class", "").split(" ")[0]
    arrows = [points_of(group, namespace) for group in groups if kind(group) == "edge"]
    for group in groups:
        text = group.find(f"{{{namespace}}}text")
        corners = points_of(group, namespace) if kind(group) == "cluster" else []
        if corners and text is not None and text.text:
            left, right = min(x for x, _ in corners), max(x for x, _ in corners)
            y = float(text.get("y", 0))
            for size in SIZES:
                near = [x for points in arrows for x in crossings(points, y - ABOVE * size, y + BELOW * size)]
                found = free_place((left, right), size * CHARACTER_WIDTH * len(text.text), near)
                if found is not None:
                    text.set("x", f"{found:g}")
                    text.set("font-size", f"{size:g}")
                    break


def free_place(sides: Point, width: float, near: Sequence[float]) -> float | None:
    """The middle of a name of that width, between the sides of its frame, away from all that is near; None if there is
    no room."""
    half = width / 2 + BESIDE
    middle = (sides[0] + sides[1]) / 2
    reach = (sides[1] - sides[0]) / 2 - half
    moves = (sign * step for step in range(max(0, int(reach)) + 1) for sign in (-1, 1))
    return next((middle + move for move in moves if all(abs(middle + move - x) >= half for x in near)), None)


def crossings(points: Sequence[Point], top: float, bottom: float) -> Iterator[float]:
    """Where a line of points runs between two heights: the x where each piece comes in, and where it goes out.

    >>> list(crossings([(0, 0), (10, 10)], 2, 4))
    [2.0, 4.0]
    """
    for (x, y), (next_x, next_y) in pairwise(points):
        for height in sorted({min(max(end, top), bottom) for end in (y, next_y)}):
            if min(y, next_y) <= height <= max(y, next_y):
                yield x + (next_x - x) * ((height - y) / (next_y - y) if next_y != y else 0.5)


def points_of(group: Element, namespace: str) -> list[Point]:
    """Points on the curve that a frame or an arrow is drawn with, close enough together."""
    path = group.find(f"{{{namespace}}}path")
    numbers = [float(text) for text in NUMBERS.findall(path.get("d", ""))] if path is not None else []
    points = list(zip(numbers[::2], numbers[1::2]))
    curves = [points[start : start + 4] for start in range(0, len(points) - 3, 3)]
    return [bezier(curve, step / STEPS) for curve in curves for step in range(STEPS + 1)]


def bezier(curve: Sequence[Point], at: float) -> Point:
    """A point of a cubic curve; at=0 is its beginning, at=1 its end."""
    weights = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3)
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, curve)) for axis in (0, 1))
    return x, y
