"""Exercise 18.2: three functions at which the stack gives up, each for a reason of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer
from minitorch_compile.course.checking.on_mini import OnMini, mini

GIVES_UP = OnMini(
    "18.2",
    "break it: where it gives up",
    answer="gives_up",
    minutes=15,
    hints=(
        "What can Python do with a tensor that can't be done without its numbers? That is one reason, however you ask.",
        "Your tracer does a call itself, goes into it, or gives up. Look for `raise Break` in your tracer.py.",
        "item() needs numbers, print is a call into the world, str(x) makes a text of a tensor.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "What the difference buys"
KINDS = ("needs a tensor's data", "a call of", "the text of", "of a tensor", "setting", "asks", "is alive")


def kind_of(reason: Any) -> str:
    """Reasons that differ in a name only are of one kind."""
    return next((kind for kind in KINDS if kind in str(reason)), str(reason))


def reasons(function: Any) -> list[str]:
    """Why the graphs of the function ended, but for the last."""
    compile = mini.front.compile  # first of all: a tensor gets its methods from the ops
    x, tensor = [1.0, 2.0, 3.0], mini.tensor.tensor
    try:
        expected = function(tensor(x)).numpy()
    except Exception as error:
        raise WrongAnswer(
            f"{function.__name__} of tensor({x}) raises {type(error).__name__}: {error}",
            "It must run without a compiler first.",
        ) from error
    region = compile(function, "eager")
    got = region(tensor(x)).numpy()
    if got.shape != expected.shape or not np.allclose(got, expected):
        raise WrongAnswer(
            f"{function.__name__} of tensor({x}) gives {expected} plainly and {got} compiled",
            "A function of its argument alone gives the same in both runs: does yours depend on something else?",
        )
    return [kind_of(entry.reason) for entry in region.entries() if entry.reason is not None]


def kinds(answer: Any) -> list[str]:
    """The first reason of each function."""
    if not isinstance(answer, list) or len(answer) != 3:
        raise WrongAnswer(f"gives_up: expected a list of three functions, got {answer!r}")
    if ... in answer:
        raise NotWritten("still `...`")
    found = []
    for function in answer:
        broken = reasons(function)
        if not broken:
            raise WrongAnswer(
                f"{function.__name__} became one graph, with nothing left for Python",
                "What is known while tracing breaks nothing: sizes, numbers of Python's own, its containers.",
            )
        found.append(broken[0])
    return found


@GIVES_UP.case("each breaks its graph", points=2, section=SECTION)
def _(answer: Any) -> None:
    kinds(answer)


@GIVES_UP.case("three reasons", points=2, section=SECTION)
def _(answer: Any) -> None:
    found = kinds(answer)
    if len(set(found)) < 3:
        raise WrongAnswer(
            f"the reasons are {found}",
            "Two of them are one: x.item() and x.tolist() both ask for a tensor's numbers, say.",
        )
