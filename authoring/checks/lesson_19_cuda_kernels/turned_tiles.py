"""Exercise 19.4: a transpose through shared memory, coalesced on both sides, without bank conflicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.cuda_simulator import LineCounts

from .launching import expect_close, launched, numbers

TURNED = Exercise(
    "19.4",
    "a transpose of any sizes",
    answer="transpose",
    minutes=25,
    hints=(
        "The lesson's `turn` does it for multiples of 32. Which of its reads and writes leave the matrix at the edges?",
        "Ask `if top + row < x.shape[0] and left + lane < x.shape[1]` when you read; out has them the other way round.",
        "The barrier stands between the two loops, under no `if`; and a row of the tile has 33 places.",
    ),
)
SECTION = "Shared memory, and its banks"
VALUES = "out[j, i] is x[i, j]: the block writes its tile to the place of rows that were columns."
EDGES = "A tile at the edge is not full: ask before each read from x, and before each write to out."
DOWN = "Whoever reads along rows and writes down columns fetches a sector for each number. Go through shared memory."
BANKS = (
    "A column of a tile with 32 places a row lies in one bank, and 32 threads queue up. Where does the next row begin?"
)
SHAPES = ((32, 64), (64, 32), (64, 64))


def judge(answer: Any, rows: int, columns: int) -> LineCounts:
    x, out = numbers(rows, columns), np.full((columns, rows), 99, np.float32)
    blocks = -(-columns // 32), -(-rows // 32)
    counts = launched("transpose", answer, blocks, 32, (x, out), {"out of bounds": EDGES})
    expect_close(f"transpose[{blocks}, 32] of {rows} by {columns} numbers", x.T, out, VALUES)
    return counts


@TURNED.case("multiples of 32", points=1, section=SECTION)
def _(answer: Any) -> None:
    for shape in SHAPES:
        judge(answer, *shape)


@TURNED.case("any sizes", points=1, section=SECTION)
def _(answer: Any) -> None:
    for shape in ((1, 1), (5, 40), (33, 32), (40, 70)):
        judge(answer, *shape)


@TURNED.case("no sector in vain", points=1, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, 64, 64)
    moved = counts.load_sectors + counts.store_sectors
    if counts.coalescing < 1 or moved > 2 * 512:
        raise WrongAnswer(f"transpose of 64 by 64 numbers moves {moved} sectors; 1024 would do", DOWN)


@TURNED.case("no bank asked twice", points=1, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, 64, 64)
    if not counts.shared_requests:
        raise WrongAnswer("transpose of 64 by 64 numbers uses no shared memory", DOWN)
    if counts.bank_conflicts:
        raise WrongAnswer(f"transpose of 64 by 64 numbers has {counts.bank_conflicts} bank conflicts", BANKS)
