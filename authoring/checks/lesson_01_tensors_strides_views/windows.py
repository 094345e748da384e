"""Exercise 01.4: overlapping windows as a view, at a par of 0 bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome

WINDOWS = Exercise(
    "01.4",
    "windows for free",
    answer="windows",
    minutes=12,
    hints=(
        "Write the windows of [10, 11, 12, 13] of size 2 below each other. Which cell does row 1, column 1 read? Row "
        "2, column 0?",
        "Going one window down moves one element along x; so does going one element to the right inside a window.",
        "x.as_strided((windows, size), (step, step)), where step is x.stride(0) and windows is len(x) - size + 1.",
    ),
)

WINDOW_COUNT = "A window starts at each element that has size - 1 more behind it: len(x) - size + 1 of them."


def judge_windows(answer: Callable[..., Any], x: torch.Tensor, text: str, size: int) -> None:
    result = outcome(answer, (x, size))
    values = x.tolist()
    expected = [values[start : start + size] for start in range(len(values) - size + 1)]
    if not isinstance(result, torch.Tensor):
        raise WrongAnswer(f"windows({text}, {size}): expected a tensor, got {result!r}")
    got = result.tolist()
    fact = f"windows({text}, {size}): expected {expected}, got {got}"
    if got == expected[:-1]:
        raise WrongAnswer(fact, "The last window is missing. " + WINDOW_COUNT)
    if len(got) != len(expected):
        raise WrongAnswer(fact, "The windows overlap: each starts one element after the one before. " + WINDOW_COUNT)
    if got != expected:
        skipping = (
            "Your strides count cells of the storage; x itself steps x.stride(0) cells from one element to the next."
        )
        raise WrongAnswer(fact, skipping)
    if result.storage is not x.storage:
        fact = (
            f"windows({text}, {size}): the numbers are right, but {result.numel() * x.dtype.itemsize} bytes were copied"
        )
        raise WrongAnswer(fact, "Par is 0 bytes: every number is already in x's storage. Which strides read it there?")


@WINDOWS.case("par: 0 bytes copied", points=2, section="Views: arithmetic on four things")
def _(answer: Callable[..., Any]) -> None:
    for length, size in ((2, 1), (5, 2), (5, 3), (4, 4)):
        judge_windows(answer, torch.arange(length), f"torch.arange({length})", size)


@WINDOWS.case("of a view that skips and starts late", points=1, section="Views: arithmetic on four things")
def _(answer: Callable[..., Any]) -> None:
    judge_windows(answer, torch.arange(6)[2:], "torch.arange(6)[2:]", 2)
    judge_windows(answer, torch.arange(8)[1::2], "torch.arange(8)[1::2]", 2)
