"""Exercise 19.3: a tournament whose barriers stand in the wrong places."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.cuda_simulator import LineCounts

from .launching import expect_close, launched, numbers

BARRIERS = Exercise(
    "19.3",
    "the barriers of a tournament",
    answer="block_sums",
    minutes=15,
    hints=(
        "Go through one round and ask of each number: who has written it, and was there a barrier since?",
        "Thread 0 reads what thread `step` has written: one barrier after the line that first writes the tile.",
        "The other one must be reached by all threads, also by those that have nothing to add: outside of the `if`.",
    ),
)
SECTION = "A sum, three ways"
VALUES = "out[b] is the sum of the block's numbers. Move barriers, and leave the additions as they are."
BEFORE = (
    "What a thread reads in a round, another one has written before it: does a barrier that both reach stand between?"
)
OF_A_WARP = "A block of one warp is right, and one of four isn't. syncwarp is for a warp; who waits for a whole block?"
SOME = "Only those with something to add come to this barrier. The others must come, too."
MANY = "Right, and slower than need be: between two rounds one barrier is enough, and so it is before the first."
ALONE = "Right, but one thread does the work of all. In a tournament half of them play in the first round."
MOST_STEPS = 60  # of each warp of a block of 128


def judge(answer: Any, threads: int, race: str) -> LineCounts:
    x, out = numbers(2 * threads), np.zeros(2, np.float32)
    why = {"data race": race, "divergent barrier": SOME}
    counts = launched("block_sums", answer, 2, threads, (x, out), why)
    expect_close(f"block_sums[2, {threads}]", x.reshape(2, threads).sum(1), out, VALUES, rtol=1e-4)
    return counts


@BARRIERS.case("blocks of one warp", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, 32, BEFORE)


@BARRIERS.case("blocks of four warps", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, 32, BEFORE)
    judge(answer, 128, OF_A_WARP)


@BARRIERS.case("no barrier too many", points=1, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, 128, BEFORE)
    if counts.warp_steps > 2 * 4 * MOST_STEPS:
        raise WrongAnswer(f"block_sums[2, 128] takes {counts.warp_steps} steps of warps", ALONE)
    if counts.barriers > 2 * 8:
        raise WrongAnswer(f"block_sums[2, 128] has {counts.barriers // 2} barriers a block; 8 are enough", MANY)
