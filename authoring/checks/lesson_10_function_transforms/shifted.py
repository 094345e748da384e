"""Exercise 10.1: dimensions of an example as those of the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, Misconception, agree

SHIFTED = Exercise(
    "10.1",
    "dimensions of a batch",
    answer="shifted",
    minutes=8,
    place="func.shifted",
    hints=(
        "Begin with one dimension, counted from the left: where is it once the batch stands in front?",
        "Turn -1 into a number from the left before you shift it: -1 of 3 dimensions is 2.",
        "For each d of the tuple: check -ndim <= d < ndim, then d % ndim + 1.",
    ),
)
SECTION = "Reductions: one further to the right"


def as_tuple(dim: Any) -> tuple[int, ...]:
    return (dim,) if isinstance(dim, int) else tuple(dim)


def truth(dim: Any, ndim: int) -> Any:
    if not all(-ndim <= d < ndim for d in as_tuple(dim)):
        return "IndexError"
    return tuple(d % ndim + 1 for d in as_tuple(dim))


MISTAKES = (
    Misconception(
        "Dimension 0 of the batch is the batch itself: a sum over it would mix the examples. Wrap -1 before you shift.",
        lambda dim, ndim: tuple(d + 1 for d in as_tuple(dim)),
    ),
    Misconception(
        "Numbers from the left were asked for: the rules go on to count with them. -1 of an example is ndim of the"
        " batch.",
        lambda dim, ndim: tuple(d if d < 0 else d + 1 for d in as_tuple(dim)),
    ),
    Misconception(
        "Always a tuple: one dimension is a tuple of one.",
        lambda dim, ndim: dim % ndim + 1 if isinstance(dim, int) else truth(dim, ndim),
    ),
    Misconception(
        "The example has no such dimension. Without an IndexError the wrong one is used, and nobody notices.",
        lambda dim, ndim: tuple(d % ndim + 1 for d in as_tuple(dim)),
    ),
)


def errors_told(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function, with an IndexError as a result."""

    def shifted(dim: Any, ndim: int) -> Any:
        try:
            return answer(dim, ndim)
        except IndexError:
            return "IndexError"

    return shifted


@SHIFTED.case("one dimension, or several", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(errors_told(answer), truth, [(0, 1), (0, 2), (1, 3), ((0, 2), 3), ((), 2)], MISTAKES)


@SHIFTED.case("counted from the right", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(errors_told(answer), truth, [(-1, 1), (-1, 3), (-2, 3), ((-1, 0), 2), ((-3, 2), 4)], MISTAKES)


@SHIFTED.case("dimensions that an example doesn't have", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    agree(errors_told(answer), truth, [(1, 1), (2, 2), (-3, 2), ((0, 3), 3)], MISTAKES)
