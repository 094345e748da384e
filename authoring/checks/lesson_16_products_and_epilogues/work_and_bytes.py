"""Exercise 16.1: operations, bytes, and what limits a program."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import Exercise

from ..predicting import judge_predictions

WORK_AND_BYTES = Exercise(
    "16.1",
    "under the roof: predict",
    answer="predicted",
    minutes=10,
    hints=(
        "x has 4096 numbers, 16384 bytes. v has 256 bytes. What is read once, what is written once?",
        "A number of x @ y is a sum of 64 products: 64 multiplications and 64 additions. There are 4096 such numbers.",
        "Divide operations by bytes. Below 4 it's memory. Only where two matrices are multiplied is it arithmetic.",
    ),
)
SECTION = "The roof"
N, NUMBER, BEND = 64, 4, 4
MATRIX, VECTOR = N * N, N  # numbers in each


def limited(operations: int, numbers: int) -> tuple[int, int, str]:
    nbytes = NUMBER * numbers
    return operations, nbytes, "memory" if operations < BEND * nbytes else "arithmetic"


TRUTH = {
    "x + y": limited(MATRIX, 3 * MATRIX),
    "x @ v": limited(2 * MATRIX, MATRIX + 2 * VECTOR),
    "x @ y": limited(2 * N**3, 3 * MATRIX),
    "(x @ y).relu()": limited(2 * N**3 + MATRIX, 3 * MATRIX),
    "(x @ y) @ v": limited(2 * N**3 + 2 * MATRIX, 4 * MATRIX + 2 * VECTOR),
    "x @ (y @ v)": limited(4 * MATRIX, 2 * MATRIX + 4 * VECTOR),
}
EXPLAINED = {
    "x + y": "An addition for each number. Two are read and one is written for it, 12 bytes, so memory is the limit.",
    "x @ v": "Each number of x is multiplied once, and added once. Read x and v, and write the result, 256 bytes, too.",
    "x @ y": "A multiplication and an addition are two operations, 64 times for each of the 4096 results.",
    "(x @ y).relu()": "The epilogue finds the product in the cache. So it costs operations, but no byte.",
    "(x @ y) @ v": "x @ y is a matrix. It's written, and read again by the second product.",
    "x @ (y @ v)": "y @ v is a vector of 256 bytes. So there is no product of matrices, only two with a vector.",
}


def judge(answer: Any, programs: list[str]) -> None:
    judge_predictions(answer, programs, TRUTH.__getitem__, lambda program, _: EXPLAINED[program])


@WORK_AND_BYTES.case("little to do", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, ["x + y", "x @ v"])


@WORK_AND_BYTES.case("a product of matrices", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, ["x @ y", "(x @ y).relu()"])


@WORK_AND_BYTES.case("two products", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, ["(x @ y) @ v", "x @ (y @ v)"])
