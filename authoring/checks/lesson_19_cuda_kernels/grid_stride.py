"""Exercise 19.2: a x + y, for any grid and any length."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.cuda_simulator import LineCounts

from .launching import expect_close, launched, numbers

GRID_STRIDE = Exercise(
    "19.2",
    "any grid, any length",
    answer="axpy",
    minutes=10,
    hints=(
        "cuda.grid(1) is where this thread begins. Which number comes next, if each thread of the grid has taken one?",
        "A loop from cuda.grid(1) to x.size, in steps of cuda.gridsize(1): it ends at once if there is nothing to do.",
        "for i in range(cuda.grid(1), x.size, cuda.gridsize(1)): out[i] = a * x[i] + y[i]",
    ),
)
SECTION = "Which thread reads what, and when"
LEFT = "There are more numbers than threads: after its first one, each thread steps on by the whole grid."
APART = "At one step, neighbouring threads load numbers that are far apart. Let neighbours take neighbours."
TWICE = (
    "Right, but some numbers are computed more than once. A step of all threads is as wide as the grid, not the block."
)
FACTOR = np.float32(3)


def judge(answer: Any, count: int, blocks: int, threads: int, why: str) -> LineCounts:
    x, y, out = numbers(count), numbers(count, seed=1), np.full(count, 99, np.float32)
    counts = launched("axpy", answer, blocks, threads, (FACTOR, x, y, out), {})
    expect_close(f"axpy[{blocks}, {threads}] of {count} numbers", FACTOR * x + y, out, why)
    return counts


@GRID_STRIDE.case("a thread for each number", points=0, section="The package's machine")
def _(answer: Any) -> None:
    judge(answer, 64, 2, 32, "out[i] is a * x[i] + y[i].")


@GRID_STRIDE.case("more threads than numbers", points=1, section=SECTION)
def _(answer: Any) -> None:
    for count in (1, 33, 63):
        judge(answer, count, 2, 32, "out[i] is a * x[i] + y[i].")


@GRID_STRIDE.case("more numbers than threads", points=1, section=SECTION)
def _(answer: Any) -> None:
    for count in (65, 128, 1000):
        judge(answer, count, 2, 32, LEFT)


@GRID_STRIDE.case("no sector in vain", points=2, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, 1024, 2, 64, LEFT)
    needed = 2 * 1024 // 8
    fact = f"axpy[2, 64] of 1024 numbers loads {counts.load_sectors} sectors, of which {needed} would do"
    if counts.load_sectors > counts.ideal_load_sectors:
        raise WrongAnswer(fact, APART)
    if counts.load_sectors > needed:
        raise WrongAnswer(fact, TWICE)
