"""Exercise 13.1: how many loops, and how many bytes they move, before it is run."""

from __future__ import annotations

from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.measures.loops import bytes_moved, loops_of
from minitorch_compile.inductor.ir.loops import Loop

LOOPS_AND_BYTES = Exercise(
    "13.1",
    "loops and bytes: predict",
    answer="predicted",
    minutes=12,
    hints=(
        "How many of these numbers does a loop have to fetch, and how many does it put? A number is 4 bytes.",
        "Views and constants cost nothing. A reduction is a loop of its own, and what uses its result is another.",
        "x.mean(1): one loop reads 48 numbers and writes 8 sums; one reads 8 sums, divides, and writes 8 means.",
    ),
)
EXPLAINED = {
    "x + y": "One loop: it reads two arrays of 48 numbers and writes one.",
    "x + b": "b has 6 numbers. That each is read in every row doesn't make them more.",
    "x.t() + 1": "The transpose is in the address, and the 1 is in the code: one array in, one out.",
    "x[::2] * 2": "The loop runs over the 24 elements of the result, and reads no others.",
    "(x + 1).reshape(6, 8).relu()": "Everything in it is a function of one element: no array lies between.",
    "x.exp().sum(0)": "The exponential is computed inside the loop that adds up, and never stored.",
    "x.mean(1)": "The reduction is a loop of its own, and the division is another, over 8 sums.",
    "x - x.sum(1, keepdim=True)": "The row can't be used before its sum is known: two loops, and both read all of x.",
}


def truth(program: str) -> tuple[int, int]:
    """Loops and bytes of a program."""
    examples = [torch.ones(8, 6), torch.ones(8, 6), torch.ones(6)]
    loops = loops_of(lambda x, y, b: eval(program, {"x": x, "y": y, "b": b}), *examples)
    return len(loops), sum(bytes_moved(loop) for loop in loops if isinstance(loop, Loop))


def judge(answer: Any, programs: list[str]) -> None:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"predicted: expected a dict of programs and pairs, got {type(answer).__name__}")
    for program in programs:
        given = answer.get(program, ...)
        if given is ... or given == (..., ...):
            raise NotWritten(f"{program} is still `...`")
        if given != truth(program):
            loops, count = truth(program)
            raise WrongAnswer(
                f"{program}: you say {given!r}, and it is {loops} loops and {count} bytes", EXPLAINED[program]
            )


@LOOPS_AND_BYTES.case("one element after the other", points=1, section="An element, not an array")
def _(answer: Any) -> None:
    judge(answer, ["x + y", "x + b"])


@LOOPS_AND_BYTES.case("views", points=1, section="Lowering, rule by rule")
def _(answer: Any) -> None:
    judge(answer, ["x.t() + 1", "x[::2] * 2", "(x + 1).reshape(6, 8).relu()"])


@LOOPS_AND_BYTES.case("reductions", points=1, section="When a value has to be stored")
def _(answer: Any) -> None:
    judge(answer, ["x.exp().sum(0)", "x.mean(1)", "x - x.sum(1, keepdim=True)"])
