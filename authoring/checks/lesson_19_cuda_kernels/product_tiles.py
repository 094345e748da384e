"""Exercise 19.8: a product of any sizes, in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.cuda_simulator import LineCounts

from .launching import expect_close, launched, numbers

PRODUCT = Exercise(
    "19.8",
    "a product of any sizes",
    answer="product",
    minutes=20,
    hints=(
        "Begin with the lesson's product_in_tiles. Where a tile sticks out of its matrix, what can stand there?",
        "A zero adds nothing. So each thread writes both of its places in each round: a number, or zero.",
        "left[y, x] = a[row, first + x] if row < a.shape[0] and first + x < a.shape[1] else np.float32(0)",
    ),
)
SECTION = "A product in tiles"
VALUES = "out[i, j] is the sum of a[i, k] * b[k, j] over all k."
EDGES = "A tile that sticks out of its matrix must be filled with zeros: what is there from before would be added."
TOUCH = "Where a tile sticks out of its matrix, nothing may be read or written: ask first, for both indices."
TWO = (
    "A quick warp overwrites a tile that a slow one still reads, or reads one that isn't complete: wait twice a round."
)
GONE = (
    "Threads beyond the edge of out have no number to compute, but a tile to fill, and they must come to each barrier."
)
FAR = "Each number is loaded by sixteen threads, one by one. Fetch a tile together, and share it."
BANKS = "Right, but the way in which a tile is read or written asks one bank for several words. Let x count columns."
MANY = "Right, and slower than need be: a round has two barriers, one before and one after the multiplications."


def judge(answer: Any, n: int, k: int, m: int, why: str) -> LineCounts:
    a, b, out = numbers(n, k), numbers(k, m, seed=1), np.full((n, m), 99, np.float32)
    blocks = -(-m // 16), -(-n // 16)
    faults = {"out of bounds": TOUCH, "data race": TWO, "divergent barrier": GONE, "uninitialised read": EDGES}
    counts = launched("product", answer, blocks, (16, 16), (a, b, out), faults)
    expect_close(f"product of {n} by {k} and {k} by {m}", a @ b, out, why, rtol=1e-4)
    return counts


@PRODUCT.case("multiples of 16", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, 16, 16, 16, VALUES)
    judge(answer, 16, 48, 32, VALUES)


@PRODUCT.case("any sizes", points=2, section=SECTION)
def _(answer: Any) -> None:
    for sizes in ((1, 1, 1), (5, 20, 7), (20, 33, 17)):
        judge(answer, *sizes, EDGES)


@PRODUCT.case("each number once for a block", points=1, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, 32, 32, 32, VALUES)
    if counts.load_sectors > 512:
        raise WrongAnswer(f"product of 32 by 32 numbers loads {counts.load_sectors} sectors; 512 would do", FAR)


@PRODUCT.case("no bank asked twice, no barrier too many", points=1, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, 32, 32, 32, VALUES)
    if not counts.shared_requests:
        raise WrongAnswer("product of 32 by 32 numbers uses no shared memory", FAR)
    if counts.bank_conflicts:
        raise WrongAnswer(f"product of 32 by 32 numbers has {counts.bank_conflicts} bank conflicts", BANKS)
    if counts.barriers > 4 * 2 * 2:
        raise WrongAnswer(f"product of 32 by 32 numbers has {counts.barriers // 4} barriers a block; 4 would do", MANY)
