"""Exercise 02.2: the strides of a stretched operand, and the package broadcasting by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, Misconception, WrongAnswer, agree, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.tensor.memory import strides as package

from .sizes import SECTION

Ints = tuple[int, ...]

EXPAND_STRIDES = Exercise(
    "02.2",
    "the strides of a stretched operand",
    answer="expand_strides",
    minutes=10,
    place="tensor.expand_strides",
    hints=(
        "A stretched dimension reads the same cell at every index. Which stride does that?",
        "Two kinds of dimensions get it: the new ones on the left, and those of size 1 whose target isn't 1.",
        "lead = len(target) - len(sizes); dimension d of the tensor becomes dimension lead + d of the result.",
    ),
)


def _kept(sizes: Ints, strides: Ints, goals: Ints) -> Ints:
    return tuple(
        0 if size == 1 and goal != 1 else stride for size, stride, goal in zip(sizes, strides, goals, strict=False)
    )


MISTAKES = (
    Misconception(
        "These are the strides of a tensor that was copied out to the target sizes. Stretching copies nothing.",
        lambda sizes, strides, target: package.contiguous_strides(target),
    ),
    Misconception(
        "A new dimension must not move: every index along it reads the same cells, so its stride is 0.",
        lambda sizes, strides, target: (
            (1,) * (len(target) - len(sizes)) + _kept(sizes, strides, target[len(target) - len(sizes) :])
        ),
    ),
    Misconception(
        "You gave stride 0 to a size of 1 that stays 1. Nothing is stretched there, so its stride is kept.",
        lambda sizes, strides, target: (
            (0,) * (len(target) - len(sizes))
            + tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides, strict=True))
        ),
    ),
    Misconception(
        "Your dimensions were compared with the wrong target sizes: they are aligned to the right.",
        lambda sizes, strides, target: (0,) * (len(target) - len(sizes)) + _kept(sizes, strides, target),
    ),
)


@EXPAND_STRIDES.case("a dimension of size 1 is stretched", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    inputs = [((1,), (1,), (3,)), ((3, 1), (1, 1), (3, 4)), ((1, 4), (4, 1), (3, 4)), ((1, 1), (1, 1), (2, 3))]
    agree(answer, package.expand_strides, inputs, MISTAKES)


@EXPAND_STRIDES.case("new dimensions on the left", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    inputs = [((), (), (3,)), ((4,), (1,), (3, 4)), ((4,), (2,), (2, 3, 4)), ((3, 1), (7, 5), (2, 3, 4))]
    agree(answer, package.expand_strides, inputs, MISTAKES)


@EXPAND_STRIDES.case("what isn't stretched keeps its stride", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    inputs = [((1,), (5,), (1,)), ((3, 1), (5, 7), (3, 1)), ((2, 3), (1, 2), (2, 3)), ((1, 3), (9, 1), (2, 1, 3))]
    agree(answer, package.expand_strides, inputs, MISTAKES)


@EXPAND_STRIDES.case("spliced in, the package broadcasts by it", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    def broadcast() -> Any:
        column, row = torch.arange(3).view(3, 1), torch.arange(4)
        return column.expand(3, 4).tolist(), row.expand(3, 4).tolist()

    with splice("tensor.expand_strides", answer):
        got = outcome(broadcast, ())
    expected = ([[i] * 4 for i in range(3)], [[0, 1, 2, 3]] * 3)
    if got != expected:
        raise WrongAnswer(
            f"torch.arange(3).view(3, 1).expand(3, 4): expected {expected[0]}, got"
            f" {got[0] if type(got) is tuple else got}",
            "The package called your function to stretch it. Get the three cases above to pass first.",
        )
