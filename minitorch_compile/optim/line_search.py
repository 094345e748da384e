"""A step length that satisfies the strong Wolfe conditions: enough descent, and a slope that has flattened enough.

Along a direction the loss is a function of one number t. The search first walks outwards until a good t must lie
between two it has seen, then narrows that bracket. Both choose the next t from the cubic through two points and their
slopes.

>>> from minitorch_compile import tensor
>>> def parabola(t):
...     return (t - 3.0) ** 2, tensor([2 * (t - 3.0)])
>>> point, calls = strong_wolfe(parabola, 0.1, tensor([1.0]), *parabola(0.0), slope=-6.0)
>>> point.t, point.value, calls
(1.0, 4.0, 2)

Source: Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6; the bounds and safeguards are minFunc's
(Schmidt 2005), which PyTorch's LBFGS follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch_compile.tensor import Tensor

ENOUGH_DESCENT, ENOUGH_FLATTENING = 1e-4, 0.9


class Point(NamedTuple):
    """The loss at step length t, its gradient, and the slope along the direction."""

    t: float
    value: float
    gradient: Tensor
    slope: float


Objective = Callable[[float], tuple[float, Any]]


def strong_wolfe(
    objective: Objective,
    t: float,
    direction: Tensor,
    value: float,
    gradient: Tensor,
    *,
    slope: float,
    smallest_change: float = 1e-9,
    most_iterations: int = 25,
) -> tuple[Point, int]:
    """The point that was found, and how often the objective was called; `t` is tried first.

    `value`, `gradient` and `slope` are those at t = 0.
    """
    search = _Search(objective, direction, Point(0.0, value, gradient.clone(), slope), smallest_change, most_iterations)
    bracket = search.outwards(t)
    return search.narrowed(bracket), search.calls


class _Search:
    """One search; `iterations` counts what `most_iterations` limits."""

    def __init__(
        self, objective: Objective, direction: Tensor, start: Point, smallest_change: float, most_iterations: int
    ) -> None:
        self.objective = objective
        self.direction = direction
        self.start = start
        self.smallest_change = smallest_change
        self.most_iterations = most_iterations
        self.iterations = 0
        self.calls = 0

    def at(self, t: float) -> Point:
        value, gradient = self.objective(t)
        self.calls += 1
        return Point(t, value, gradient.clone(), float((gradient * self.direction).sum()))

    def descends(self, point: Point) -> bool:
        return point.value <= self.start.value + ENOUGH_DESCENT * point.t * self.start.slope

    def is_flat(self, point: Point) -> bool:
        return abs(point.slope) <= -ENOUGH_FLATTENING * self.start.slope

    def outwards(self, t: float) -> list[Point]:
        """One point that will do, or two with such a one between them."""
        previous, point = self.start, self.at(t)
        while self.iterations < self.most_iterations:
            if not self.descends(point) or (self.iterations > 1 and point.value >= previous.value):
                return [previous, point]
            if self.is_flat(point):
                return [point]
            if point.slope >= 0:
                return [previous, point]
            bounds = point.t + 0.01 * (point.t - previous.t), point.t * 10
            previous, point = point, self.at(cubic_minimum(previous, point, bounds))
            self.iterations += 1
        return [self.start, point]

    def narrowed(self, bracket: list[Point]) -> Point:
        """The best point of the bracket after it was narrowed as far as it takes."""
        if len(bracket) == 1:
            return bracket[0]
        low, high = sorted(bracket, key=lambda point: point.value)
        step = float(self.direction.abs().max())
        stalled = False
        while self.iterations < self.most_iterations:
            if abs(high.t - low.t) * step < self.smallest_change:
                break
            first, second = sorted((low, high), key=lambda point: point.t)
            t, stalled = _kept_inside(cubic_minimum(first, second, None), first.t, second.t, stalled)
            point = self.at(t)
            self.iterations += 1
            if not self.descends(point) or point.value >= low.value:
                high = point
                if high.value < low.value:
                    low, high = high, low
                continue
            if self.is_flat(point):
                return point
            if point.slope * (high.t - low.t) >= 0:
                high = low
            low = point
        return low


def _kept_inside(t: float, least: float, most: float, stalled: bool) -> tuple[float, bool]:
    """A step length not too close to the ends of its bracket: twice in a row, or outside, is once too often."""
    margin = 0.1 * (most - least)
    if min(most - t, t - least) >= margin:
        return t, False
    if stalled or t >= most or t <= least:
        return (most - margin if abs(t - most) < abs(t - least) else least + margin), False
    return t, True


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None) -> float:
    """Where the cubic through two points with these slopes is least, within bounds: by default between the points."""
    least, most = bounds or (min(a.t, b.t), max(a.t, b.t))
    first, second = (a, b) if a.t <= b.t else (b, a)
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (least + most) / 2
    d2 = math.sqrt(square)
    width = second.t - first.t
    t = second.t - width * ((second.slope + d2 - d1) / (second.slope - first.slope + 2 * d2))
    return min(max(t, least), most)
