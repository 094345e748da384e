"""Exercise 12.3: log(1 - exp(-x)), accurate and in few prims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer, outcome
from minitorch_compile.course.far.there import there
from minitorch_compile.tensor import Tensor, empty_fake

from .accuracy import worst

FEW_AND_ACCURATE = Exercise(
    "12.3",
    "few and accurate",
    answer="log_opposite",
    minutes=15,
    hints=(
        "Which digits of exp(-x) survive in 1 - exp(-x) if x is 1e-6? And if x is 40?",
        "Near 0, expm1(-x) has all digits of exp(-x) - 1. Far out, log1p(-exp(-x)) has all digits of the result.",
        "torch.where(x < 0.7, log(-expm1(-x)), log1p(-exp(-x))): the two -x are merged into one by a pass.",
    ),
)
SECTION = "Equal on paper"
PAR = 10
ULPS = 4.0


def judge(answer: Callable[..., Any], numbers: list[float], why: str) -> None:
    x = torch.tensor(numbers)
    got = outcome(answer, (x,))
    if not isinstance(got, Tensor) or got.shape != x.shape:
        raise WrongAnswer(f"log_opposite of {numbers}: expected a tensor of {list(x.shape)}, got {got!r}", why)
    wide = x.double()
    truth = torch.where(wide < 0.7, torch.log(-torch.expm1(-wide)), torch.log1p(-torch.exp(-wide)))
    off, place = worst(got, truth)
    if off > ULPS:
        raise WrongAnswer(
            f"log_opposite({numbers[place]}): expected {truth.float()[place].item()}, got {got[place].item()}", why
        )


@FEW_AND_ACCURATE.case("numbers around 1", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [0.5, 1.0, 2.0], "The formula is log(1 - exp(-x)), for each element.")


@FEW_AND_ACCURATE.case("near 0", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(
        answer, [1e-2, 1e-4, 1e-6, 1e-20, 0.0], "1 - exp(-x) cancels here: its digits were lost when exp was rounded."
    )


@FEW_AND_ACCURATE.case("far out", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "exp(-x) is smaller than the last digit of 1, so adding the two forgets it. What is log1p for?"
    judge(answer, [5.0, 15.0, 25.0, 40.0, 80.0], why)


@FEW_AND_ACCURATE.case(f"at most {PAR} prims", points=1, section="Sweeping up")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [1e-6, 0.5, 25.0], "First it must be accurate on both sides; then count.")
    try:
        names = prims_of(answer)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    if len(names) > PAR:
        raise WrongAnswer(
            f"{len(names)} prims, and par is {PAR}: {', '.join(names)}",
            "What is made twice in different ways is not merged. Write -x both times, and compare with a number.",
        )


@there
def prims_of(answer: Callable[..., Any]) -> list[str]:
    graph = simplify(prims.decompose(trace(answer, [empty_fake((5,))]))).graph
    return [getattr(node.target, "name", str(node.target)) for node in graph.find_nodes(op="call_function")]
