"""Exercise 15.2: the sum of ten million numbers in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.course.far.there import there

from .vector_code import learners_kernel, optimised

LONG_SUM = Exercise(
    "15.2",
    "ten million numbers",
    answer="total",
    minutes=20,
    hints=(
        "Sum blocks of 128 first. Then the question is how to add up 80,000 results of blocks.",
        "A tournament: a block is added to the one before, pairs to pairs. out[k] can hold the sum of 2**k blocks.",
        "It is counting in binary. While bit `level` of the number of blocks is 1: part += out[level], level += 1.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "Sums"
PLACES, ULPS = 64, 8


Make = Callable[[], np.ndarray]
"""How the numbers are made: ten million of them are made twice, here and where the answer is, rather than sent."""


def up_to(count: int) -> Make:
    return lambda: np.arange(1, count + 1, dtype=np.float32)


def summed(answer: Any, make: Make, lo: int, hi: int) -> np.float32:
    result: np.float32 = first_of(learners_kernel("total", answer), lo, hi, make)
    return result


@there
def first_of(kernel: Any, lo: int, hi: int, make: Make) -> np.float32:
    out = np.zeros(PLACES, np.float32)
    kernel(lo, hi, make(), out)
    result: np.float32 = out[0]
    return result


def judge(answer: Any, make: Make, why: str, lo: int = 0) -> None:
    x = make()
    got, truth = summed(answer, make, lo, len(x)), x[lo:].sum(dtype=np.float64)
    off = abs(got - truth) / np.spacing(np.abs(np.float32(truth)))
    if got != truth and not off <= ULPS:
        raise WrongAnswer(
            f"x has {len(x):,} numbers from {x.min():.7g} to {x.max():.7g}; total({lo}, {len(x)}, x, out):"
            f" expected {np.float32(truth):.8g}, got {got:.8g}",
            why,
        )


@LONG_SUM.case("three numbers", points=0, section=SECTION)
def _(answer: Any) -> None:
    judge(
        answer,
        lambda: np.array([1, 2, 4], np.float32),
        "out[0] is the sum of x[lo] up to x[hi - 1]: also of few numbers.",
    )
    judge(answer, lambda: np.array([1, 2, 4], np.float32), "The range begins at lo.", lo=1)


@LONG_SUM.case("ranges of any length", points=1, section=SECTION)
def _(answer: Any) -> None:
    why = "The last block may be shorter than the others."
    for count in (127, 128, 129, 1000, 4097):
        judge(answer, up_to(count), why)


@LONG_SUM.case("infinity stays infinity", points=1, section="Flags that keep NaN")
def _(answer: Any) -> None:
    got = summed(answer, lambda: np.array([1.0, np.inf, 2.0, 3.0], np.float32), 0, 4)
    if got != np.inf:
        raise WrongAnswer(
            f"the sum of [1, inf, 2, 3]: expected inf, got {got}",
            "A correction such as (t - total) - y is inf - inf here. A tournament needs none.",
        )


@LONG_SUM.case("ten million", points=2, section=SECTION)
def _(answer: Any) -> None:
    why = (
        "A total that has grown large rounds each small number that comes. How many additions does a number go through?"
    )
    judge(answer, lambda: np.full(10_000_000, 0.1, np.float32), why)
    judge(answer, lambda: np.random.default_rng(0).random(10_000_000, np.float32), why)


@LONG_SUM.case("in float32", points=1, section="What stops the compiler")
def _(answer: Any) -> None:
    if "double" in optimised(learners_kernel("total", answer)):
        raise WrongAnswer(
            "there is a float64 in the machine code",
            "That is accurate, and only half as many fit a register. This exercise does without.",
        )
    judge(answer, lambda: np.full(1_000_000, 0.1, np.float32), "In float32, and still accurate.")
