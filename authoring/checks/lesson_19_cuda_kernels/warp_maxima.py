"""Exercise 19.6: the largest number of each row, by a warp that needs no memory for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.cuda_simulator import LineCounts

from .launching import expect_close, launched, numbers

MAXIMA = Exercise(
    "19.6",
    "a warp for each row",
    answer="row_max",
    minutes=15,
    hints=(
        "First a loop in which each lane keeps the largest of its numbers: from lane on, in steps of 32.",
        "After the loop all lanes exchange what they have, by steps of 16, 8, 4, 2, 1, also those without a number.",
        "largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step)); lane 0 writes. It begins as -inf.",
    ),
)
SECTION = "A sum, three ways"
ALL = "out[row] is the largest of the whole row: after steps of 16, 8, 4, 2 and 1 each lane knows of all 32."
LONG = "Rows may be longer than a warp: each lane goes on in steps of 32."
BELOW = "A largest number that begins at 0 hides all that are below. What is smaller than every number?"
OUTSIDE = "Lanes that are done with their numbers take part in no shuffle: put the shuffles after the loop."
MEMORY = "Right, but a warp needs no shared memory, and no barrier: a shuffle goes from register to register."
ALONE = "Right, but one lane walks along the row, a sector for each number. Let 32 neighbours load at once."
FEW = "Rows may be shorter than a warp: a lane without a number has nothing to load, and gives -inf."


def judge(answer: Any, x: np.ndarray, why: str) -> LineCounts:
    rows, columns = x.shape
    out = np.full(rows, 99, np.float32)
    counts = launched("row_max", answer, rows, 32, (x, out), {"inactive lane": OUTSIDE, "out of bounds": FEW})
    expect_close(f"row_max[{rows}, 32] of {rows} by {columns} numbers", x.max(1), out, why)
    return counts


@MAXIMA.case("rows of 32", points=0, section=SECTION)
def _(answer: Any) -> None:
    x = numbers(32, 32)
    x[np.arange(32), np.arange(32)] = 9  # each lane has the largest number once
    judge(answer, x, ALL)


@MAXIMA.case("longer and shorter rows", points=1, section=SECTION)
def _(answer: Any) -> None:
    for columns in (64, 1, 5, 33, 100):
        x = numbers(3, columns)
        x[:, -1] = 9
        judge(answer, x, LONG)


@MAXIMA.case("negative numbers", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, -np.abs(numbers(3, 40)) - 1, BELOW)
    judge(answer, np.full((1, 3), -np.inf, np.float32), BELOW)


@MAXIMA.case("no memory, no waiting", points=2, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, numbers(4, 128), LONG)
    if counts.shared_requests or counts.barriers or counts.atomics:
        fact = f"row_max[4, 32]: {counts.shared_requests} requests to shared memory, {counts.barriers} barriers"
        raise WrongAnswer(f"{fact}, {counts.atomics} atomics", MEMORY)
    if counts.load_sectors > 4 * 128 // 8:
        raise WrongAnswer(f"row_max[4, 32] loads {counts.load_sectors} sectors; 64 would do", ALONE)
