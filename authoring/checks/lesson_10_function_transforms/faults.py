"""Exercise 10.1: three transforms by hand, each wrong for some arguments; find the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.tensor import Tensor

from . import faulty_transforms

FAULTS = Exercise(
    "10.1",
    "find the bug: three transforms by hand",
    answer="faults",
    minutes=12,
    hints=(
        "For each: what would the loop do with one example? Which part of that is gone?",
        "times: what does a number of one dtype do to a vector of another, and what do two vectors do? turned: how"
        " often is the condition asked? moved: which of the four arguments is never read?",
        "float32 vectors with float64 numbers; two rows with sums of different signs; two different directions, and"
        " a sin(x) that is not 0.",
    ),
)
SECTION = "What a rule must not forget"


def about_times(vectors: Tensor, numbers: Tensor) -> str:
    if vectors.dtype is numbers.dtype:
        return "With one dtype there is nothing to promote. What do a number and a vector of two dtypes give?"
    return "Here the dtype of the vectors would win in any case. Let the other one be the wider."


def about_turned(xs: Tensor) -> str:
    return "All your examples are turned the same way. One question is asked for the whole batch: let them disagree."


def about_moved(x: Tensor, y: Tensor, v: Tensor, w: Tensor) -> str:
    if torch.equal(v, w):
        return "Your two directions are the same, so it doesn't matter which is used."
    return "A wrong direction for y is multiplied by sin(x), and that is 0 here."


ABOUT: dict[str, Callable[..., str]] = {"times": about_times, "turned": about_turned, "moved": about_moved}


def alike(expected: Tensor, got: Tensor) -> bool:
    """Up to rounding, and with NaN equal to itself: neither is the bug."""
    if expected.dtype is not got.dtype or expected.shape != got.shape:
        return False
    return bool(torch.allclose(expected, got, rtol=1e-4, atol=1e-6, equal_nan=True))


def judge(answer: Any, name: str) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"faults: expected a dict of three tuples of arguments, got {type(answer).__name__}")
    arguments = answer.get(name, ...)
    if arguments is ...:
        raise NotWritten(f"{name} is still `...`")
    if not isinstance(arguments, tuple) or not all(isinstance(x, Tensor) for x in arguments):
        raise WrongAnswer(f"{name}: expected a tuple of tensors, got {arguments!r}")
    try:
        expected = getattr(faulty_transforms, f"right_{name}")(*arguments)
    except Exception as error:
        raise WrongAnswer(
            f"{name}{arguments!r}: even the loop raised {type(error).__name__}: {error}",
            "Choose arguments that the function is meant for.",
        ) from error
    try:
        got = getattr(faulty_transforms, name)(*arguments)
    except Exception as error:
        raise WrongAnswer(
            f"{name}{arguments!r} raised {type(error).__name__}: {error}", "Look for a wrong answer, not for an error."
        ) from error
    if alike(expected, got):
        raise WrongAnswer(f"{name}{arguments!r}: both give {got!r}", ABOUT[name](*arguments))


@FAULTS.case("times", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "times")


@FAULTS.case("turned", points=1, section="The package's own")
def _(answer: Any) -> None:
    judge(answer, "turned")


@FAULTS.case("moved", points=1, section="Forwards, by two passes backwards")
def _(answer: Any) -> None:
    judge(answer, "moved")
