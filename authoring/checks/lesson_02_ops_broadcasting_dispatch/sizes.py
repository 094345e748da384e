"""Exercise 02.1: the sizes of a broadcast."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree
from minitorch_compile.tensor.memory import strides as package

Ints = tuple[int, ...]

SIZES = Exercise(
    "02.1",
    "the sizes of a broadcast",
    answer="broadcast_sizes",
    minutes=8,
    hints=(
        "Write (3, 1) and (4,) below each other, aligned to the right. What do you fill in where one has nothing?",
        "Pad the shorter one with 1 on the left. Then go column by column: equal, or one of them is 1.",
        "If x == 1 the column is y, otherwise it is x; and if neither is 1 and they differ, return None.",
    ),
)
SECTION = "Broadcasting: sizes that stretch"


def truth(a: Ints, b: Ints) -> Ints | None:
    try:
        return package.broadcast_sizes(a, b)
    except RuntimeError:
        return None


def _columns(a: Ints, b: Ints, left: bool = False) -> list[tuple[int, int]]:
    ndim = max(len(a), len(b))
    padded = [x + (1,) * (ndim - len(x)) if left else (1,) * (ndim - len(x)) + x for x in (a, b)]
    return list(zip(*padded, strict=True))


def _meet(columns: list[tuple[int, int]], choose: Callable[[int, int], int]) -> Ints | None:
    if any(x != y and 1 not in (x, y) for x, y in columns):
        return None
    return tuple(choose(x, y) for x, y in columns)


def _stretch(x: int, y: int) -> int:
    return y if x == 1 else x


MISTAKES = (
    Misconception(
        "You wrote the sizes aligned to the left. They are aligned to the right: the last dimensions meet.",
        lambda a, b: _meet(_columns(a, b, left=True), _stretch),
    ),
    Misconception(
        "Where they differ, the larger size isn't always the answer: next to a 0 it is the 1 that gives way, by being "
        "repeated no times.",
        lambda a, b: _meet(_columns(a, b), max),
    ),
    Misconception(
        "Only a 1 stretches. Two different sizes, neither of them 1, don't fit: None.",
        lambda a, b: tuple(_stretch(x, y) for x, y in _columns(a, b)),
    ),
    Misconception(
        "This drops the dimensions that only one operand has. The shorter one is filled up with 1 on the left.",
        lambda a, b: _meet(_columns(a[len(a) - min(len(a), len(b)) :], b[len(b) - min(len(a), len(b)) :]), _stretch),
    ),
)


def shapes(allowed: Ints, dimensions: Ints) -> list[Ints]:
    return [shape for ndim in dimensions for shape in itertools.product(allowed, repeat=ndim)]


def pairs(allowed: Ints, dimensions: Ints) -> list[tuple[Ints, Ints]]:
    every = [(a, b) for a in shapes(allowed, dimensions) for b in shapes(allowed, dimensions)]
    return sorted(every, key=lambda pair: (len(pair[0]) + len(pair[1]), pair))


@SIZES.case("equally many dimensions", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    equal = [(a, b) for a, b in pairs((1, 2, 3), (1, 2)) if len(a) == len(b)]
    agree(answer, truth, equal, MISTAKES)


@SIZES.case("one operand has more", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(answer, truth, pairs((1, 2, 3), (0, 1, 2, 3))[:400], MISTAKES)


@SIZES.case("sizes of 0", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(answer, truth, [pair for pair in pairs((0, 1, 2), (1, 2)) if 0 in (*pair[0], *pair[1])], MISTAKES)
