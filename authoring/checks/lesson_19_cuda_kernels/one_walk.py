"""Exercise 19.7: softmax of any row, in two walks over it: one for largest and sum, one for the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.cuda_simulator import LineCounts

from .launching import expect_close, launched, numbers

ONE_WALK = Exercise(
    "19.7",
    "softmax of masked rows",
    answer="shares",
    minutes=20,
    hints=(
        "Begin with the lesson's softmax. Which lanes have no number, or only -inf, and what is exp(-inf - -inf)?",
        "Where the new largest is -inf there is nothing to correct and nothing to add. It happens in both loops.",
        "In both loops: if new > -np.inf: total = ... . In the second one the shuffles stand before the `if`.",
    ),
)
SECTION = "Softmax in one walk"
VALUES = "Each row adds up to 1: exp(x - largest), divided by the sum of these over the whole row."
OWN = (
    "Each lane has a largest number of its own. Before two sums are added, both are corrected to the larger of the two."
)
LATER = "When a larger number comes, the sum so far was taken with the old reference: multiply it by exp(old - new)."
OVERFLOW = "exp(100) is no float32. Subtract the largest number of the row before you take the exponential."
NANS = "-inf minus -inf is NaN. A lane without a number, or with -inf only, has nothing to correct and nothing to add."
WALKS = "Right, but it loads each number three times. One walk can find largest and sum: correct the sum on the way."


def softmax(x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(1, keepdims=True))
        result: np.ndarray = e / e.sum(1, keepdims=True)
    return result


def judge(answer: Any, x: np.ndarray, why: str) -> LineCounts:
    out = np.full(x.shape, 99, np.float32)
    counts = launched("shares", answer, len(x), 32, (x, out), {})
    what = f"shares[{len(x)}, 32] of {x.shape[0]} by {x.shape[1]} numbers"
    expect_close(what, softmax(x), out, diagnosed(x, out) or why, rtol=1e-4)
    return counts


def forgetting(lanes: bool, merging: bool) -> Callable[[np.ndarray], np.ndarray]:
    """What comes out for whoever forgets to correct sums, within a lane or between them."""

    def idea(x: np.ndarray) -> np.ndarray:
        largest, total = np.full((len(x), 32), -np.inf), np.zeros((len(x), 32))
        for j in range(x.shape[1]):
            lane, value = j % 32, x[:, j].astype(np.float64)
            new = np.maximum(largest[:, lane], value)
            correction = np.exp(largest[:, lane] - new) if lanes else 1.0
            total[:, lane] = total[:, lane] * correction + np.exp(value - new)
            largest[:, lane] = new
        top = largest.max(1, keepdims=True)
        factor = np.exp(largest - top) if merging else np.ones_like(largest)
        result: np.ndarray = np.exp(x - top) / (total * factor).sum(1, keepdims=True)
        return result

    return idea


IDEAS = ((forgetting(lanes=False, merging=True), LATER), (forgetting(lanes=True, merging=False), OWN))


def diagnosed(x: np.ndarray, out: np.ndarray) -> str:
    """The idea that explains what came out."""
    with np.errstate(all="ignore"):
        found = (why for idea, why in IDEAS if np.allclose(idea(x), out, rtol=1e-3, atol=1e-6))
        return next(found, "")


@ONE_WALK.case("full rows", points=0, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, numbers(2, 32), VALUES)
    judge(answer, numbers(2, 96), VALUES)


@ONE_WALK.case("large numbers", points=1, section=SECTION)
def _(answer: Any) -> None:
    judge(answer, 100 * numbers(2, 64), OVERFLOW)


@ONE_WALK.case("short rows, and masked numbers", points=2, section="Softmax in one walk")
def _(answer: Any) -> None:
    for columns in (1, 2, 5, 40):
        judge(answer, numbers(2, columns), NANS)
    masked = numbers(4, 70)
    masked[np.arange(70) > np.array([[0], [20], [40], [69]])] = -np.inf
    judge(answer, masked, NANS)
    judge(answer, masked[:, ::-1].copy(), NANS)


@ONE_WALK.case("two loads of each number", points=1, section=SECTION)
def _(answer: Any) -> None:
    counts = judge(answer, numbers(2, 128), VALUES)
    if counts.load_sectors > 2 * 2 * 128 // 8 or counts.barriers:
        fact = f"shares[2, 32] of 2 by 128 numbers loads {counts.load_sectors} sectors, {counts.barriers} barriers"
        raise WrongAnswer(f"{fact}; 64 sectors and no barrier would do", WALKS)
