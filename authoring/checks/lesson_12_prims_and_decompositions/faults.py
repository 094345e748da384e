"""Exercise 12.1: four decompositions that look right; find what breaks each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.tensor import Tensor

from . import faulty_rules

FAULTS = Exercise(
    "12.1",
    "find the bug: four rules that look right",
    answer="faults",
    minutes=12,
    hints=(
        "Try what nobody thinks of: halves, negative numbers, very large and very small ones, infinity, NaN.",
        "sigmoid: what is exp of 1000? rounded: what does round do halfway between two whole numbers? larger: what is"
        " every comparison with NaN? hypotenuse: what is the square of 1e30?",
        "1000; 0.5 or -1.5; a NaN in x; 1e30 beside anything.",
    ),
)
SECTION = "Equal on paper"
LIMIT = 1e-4  # relative; what is closer than this is rounding, not a fault
ABOUT: dict[str, Callable[..., str]] = {
    "sigmoid": lambda x: (
        "Downwards it is safe: exp goes to 0, and 0 / 1 is 0. What about the other side?"
        if bool((x < 0).all())
        else "These powers still fit into a float. How large may x be before exp(x) does not?"
    ),
    "rounded": lambda x: (
        "Halves are the right idea, and this one goes up in both. torch.round goes to the even neighbour."
        if bool((x - x.floor() == 0.5).any())
        else "Away from the middle every way of rounding agrees. Look at numbers exactly between two whole ones."
    ),
    "larger": lambda x, y: (
        "A NaN in y survives: x > NaN is False, so y is taken. Put it on the other side."
        if bool(torch.isnan(y).any())
        else "For numbers that can be compared it is right. Which number compares with nothing?"
    ),
    "hypotenuse": lambda x, y: (
        "The squares of these still fit. The largest float32 is about 3e38, and the smallest 1e-45."
    ),
}


def differ(expected: Tensor, got: Tensor) -> bool:
    """More than rounding could do."""
    return not torch.allclose(expected, got, rtol=LIMIT, atol=0.0, equal_nan=True)


def judge(answer: Any, name: str) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"faults: expected a dict of four tuples of tensors, got {type(answer).__name__}")
    arguments = answer.get(name, ...)
    if arguments is ...:
        raise NotWritten(f"{name} is still `...`")
    if not isinstance(arguments, tuple) or not all(isinstance(x, Tensor) for x in arguments):
        raise WrongAnswer(
            f"{name}: expected a tuple of tensors, got {arguments!r}", "Also one tensor is a tuple: (x,)."
        )
    try:
        expected = getattr(faulty_rules, f"right_{name}")(*arguments)
        got = getattr(faulty_rules, name)(*arguments)
    except Exception as error:
        raise WrongAnswer(
            f"{name}{arguments!r} raised {type(error).__name__}: {error}",
            "Look for a wrong number, not for an error.",
        ) from error
    if not differ(expected, got):
        raise WrongAnswer(f"{name}{arguments!r}: both give {got!r}", ABOUT[name](*arguments))


@FAULTS.case("sigmoid", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "sigmoid")


@FAULTS.case("rounded", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "rounded")


@FAULTS.case("larger", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "larger")


@FAULTS.case("hypotenuse", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "hypotenuse")
