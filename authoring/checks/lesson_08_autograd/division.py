"""Exercise 08.1: the formula of a division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree

DIVISION = Exercise(
    "08.1",
    "the formula of a division",
    answer="division_backward",
    minutes=8,
    hints=(
        "Hold y still: z = x / y is x times the constant 1 / y. What is its slope in x?",
        "Hold x still: z is x times 1 / y, and the slope of 1 / y is -1 / y**2.",
        "Both slopes are multiplied by grad, the slope of the result with respect to z.",
    ),
)
SECTION = "A tape in thirty lines"
Numbers = tuple[float, float]


def truth(grad: float, x: float, y: float) -> Numbers:
    return grad / y, -grad * x / (y * y)


MISTAKES = (
    Misconception(
        "The more you divide by, the less there is: the slope in y has the sign of -x.",
        lambda g, x, y: (g / y, g * x / (y * y)),
    ),
    Misconception(
        "The slope of 1 / y falls off with the square of y: it is -1 / y**2.", lambda g, x, y: (g / y, -g * x / y)
    ),
    Misconception(
        "You left out grad. A formula passes on what arrives: local slope times grad.",
        lambda g, x, y: (1 / y, -x / (y * y)),
    ),
    Misconception(
        "Both formulas are right, the other way round: first the slope in x, then in y.",
        lambda g, x, y: (-g * x / (y * y), g / y),
    ),
)


def on_numbers(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function on numbers, rounded so that they can be compared."""

    def division_backward(grad: float, x: float, y: float) -> Any:
        slopes = answer(*(torch.tensor(n, dtype=torch.float64) for n in (grad, x, y)))
        return tuple(round(float(slope), 9) for slope in slopes)

    return division_backward


def rounded(function: Callable[..., Numbers]) -> Callable[..., Numbers]:
    return lambda *numbers: tuple(round(n, 9) for n in function(*numbers))


def judge(answer: Callable[..., Any], inputs: list[tuple[float, float, float]]) -> None:
    mistakes = [Misconception(mistake.message, rounded(mistake.gives)) for mistake in MISTAKES]
    agree(on_numbers(answer), rounded(truth), inputs, mistakes)


@DIVISION.case("with grad 1", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [(1.0, 6.0, 2.0), (1.0, 3.0, 4.0), (1.0, -1.5, 0.5)])


@DIVISION.case("with any grad", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [(3.0, 6.0, 2.0), (-2.0, 3.0, 4.0), (0.0, 1.0, 2.0)])
