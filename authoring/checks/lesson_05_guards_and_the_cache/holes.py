"""Exercise 05.1: four versions whose guards have a hole each; find the arguments that fall through."""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.tensor import Tensor

from . import leaky_versions
from .leaky_versions import MISS

HOLES = Exercise(
    "05.1",
    "find the bug: four holes",
    answer="holes",
    minutes=15,
    hints=(
        "For each version, list what the function reads. Then strike out what is guarded. What is left?",
        "scaled: which other values equal 1? signed: what decides is_contiguous? chained: in which order does a loop"
        " over a dictionary go? bumped: what if a write to x is seen through y?",
        "An int tensor times 1.0; a transposed tensor; the same entries in the other order; the same tensor twice.",
    ),
)
SECTION = "What a graph leaves out"
LEFT_OPEN = {
    "scaled": "What equals 1 without being the int 1, and changes the dtype of a product?",
    "signed": "Two tensors of sizes (2, 3) can lie in memory in two ways.",
    "chained": "A loop over a dictionary reads its entries, and the order in which they were put in.",
    "bumped": "What is written to x may be seen through y.",
}


def found(value: Any) -> Any:
    """A result, or an argument after the call, in a form that can be compared."""
    return (str(value.dtype), tuple(value.shape), value.tolist()) if isinstance(value, Tensor) else value


def run(function: Any, arguments: tuple[Any, ...]) -> Any:
    """What a call gives and what it leaves in its arguments. The originals stay as they are, shared or not."""
    own = copy.deepcopy(arguments)
    result = function(*own)
    return result if result is MISS else (found(result), [found(argument) for argument in own])


def judge(answer: Any, name: str) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"holes: expected a dict of four tuples of arguments, got {type(answer).__name__}")
    arguments = answer.get(name, ...)
    if arguments is ...:
        raise NotWritten(f"{name} is still `...`")
    if not isinstance(arguments, tuple):
        raise WrongAnswer(f"{name}: expected a tuple of two arguments, got {arguments!r}")
    try:
        expected = run(getattr(leaky_versions, name), arguments)
        got = run(getattr(leaky_versions, f"{name}_version"), arguments)
    except Exception as error:
        raise WrongAnswer(
            f"{name}{arguments!r} raised {type(error).__name__}: {error}", "Both must run to their end."
        ) from error
    if got is MISS:
        raise WrongAnswer(
            f"{name}_version{arguments!r} is MISS", f"The guards of {name} notice that. {LEFT_OPEN[name]}"
        )
    if got == expected:
        raise WrongAnswer(
            f"{name}{arguments!r}: function and version agree on {got[0][2]}",
            f"Its guards let this pass, and rightly. {LEFT_OPEN[name]}",
        )


@HOLES.case("scaled", points=1, section="Everything you read")
def _(answer: Any) -> None:
    judge(answer, "scaled")


@HOLES.case("signed", points=1, section="Everything you read")
def _(answer: Any) -> None:
    judge(answer, "signed")


@HOLES.case("chained", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, "chained")


@HOLES.case("bumped", points=1, section="The package's own")
def _(answer: Any) -> None:
    judge(answer, "bumped")
