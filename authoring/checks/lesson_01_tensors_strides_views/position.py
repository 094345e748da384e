"""Exercise 01.1: index, strides and offset give a storage position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree

from .layouts import ANY_NUMBER_OF_DIMENSIONS, position

POSITION = Exercise(
    "01.1",
    "where an element lies",
    answer="position",
    minutes=5,
    hints=(
        "Take x of sizes (2, 3), strides (3, 1). One step along dimension 0 moves 3 places. How far do i steps move?",
        "Each dimension adds its own part: index times stride. The parts add up.",
        "Start with the offset; loop over zip(index, strides); add the product each time. An empty loop is right for "
        "0-d.",
    ),
)


NO_OFFSET = Misconception(
    "That is the way from the view's first element. A view may begin in the middle of the storage: the offset says "
    "where.",
    lambda index, strides, offset=0: position(index, strides),
)
LAST_STRIDE_ONE = Misconception(
    "You took the last stride to be 1. That holds for a fresh tensor; a column, or a transposed view, steps farther.",
    lambda index, strides, offset=0: position(index, (*strides[:-1], 1), offset),
)
STRIDES_ADDED = Misconception(
    "You added the stride once, however large the index is. Index i means i steps, each a stride long.",
    lambda index, strides, offset=0: offset + sum(i + stride for i, stride in zip(index, strides, strict=True)),
)
POSITION_MISTAKES = (NO_OFFSET, LAST_STRIDE_ONE, STRIDES_ADDED)


@POSITION.case("the rows and columns of a matrix", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((0, 1), (3, 1)), ((1, 0), (3, 1)), ((1, 2), (3, 1)), ((1, 2), (1, 2)), ((2, 1), (8, 2))]
    agree(answer, position, inputs, POSITION_MISTAKES)


@POSITION.case("a view that begins in the middle of the storage", points=1, section="Views: arithmetic on four things")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((0,), (1,), 5), ((1,), (2,), 3), ((1, 1), (4, 1), 6)]
    agree(answer, position, inputs, POSITION_MISTAKES)


@POSITION.case("any number of dimensions, also none", points=1, section="Strides say how far to jump")
def _(answer: Callable[..., Any]) -> None:
    inputs = [((), (), 7), ((3,), (2,)), ((1, 1, 1), (12, 4, 1)), ((1, 0, 2, 1), (24, 8, 2, 1), 1)]
    agree(answer, position, inputs, POSITION_MISTAKES, why=ANY_NUMBER_OF_DIMENSIONS)
