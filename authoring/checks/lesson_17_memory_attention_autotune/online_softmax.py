"""Exercise 17.1: softmax of blocks, each corrected when a larger score comes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer

ONLINE_SOFTMAX = Exercise(
    "17.1",
    "a block of keys",
    answer="merge",
    minutes=15,
    hints=(
        "The new largest is that of the old one and of the block. What is exp(s - old) in terms of exp(s - new)?",
        "Both total and weighted are sums of exponentials, so both are multiplied by exp(old - new) before adding.",
        "If the new largest is still -inf, the difference of two infinities is NaN: return the state as it is.",
    ),
)
SECTION = "Attention without the scores"
State = tuple[float, float, np.ndarray]
Block = tuple[Sequence[float], Sequence[float]]
"""Scores, and values of one column."""


def merged(state: State, scores: np.ndarray, values: np.ndarray, total_too: bool = True, sum_too: bool = True) -> State:
    """The right answer, or one that forgets to correct one of the sums."""
    largest, total, weighted = state
    new = max(largest, float(scores.max()))
    if new == -math.inf:
        return state
    e, correction = np.exp(scores - new), math.exp(largest - new)
    return (
        new,
        total * (correction if total_too else 1) + float(e.sum()),
        weighted * (correction if sum_too else 1) + e @ values,
    )


def turned_round(state: State, scores: np.ndarray, values: np.ndarray) -> State:
    """The correction the wrong way."""
    largest, total, weighted = state
    new = max(largest, float(scores.max()))
    correction = math.exp(min(new - largest, 700.0)) if total else 0.0
    e = np.exp(scores - new)
    return new, total * correction + float(e.sum()), weighted * correction + e @ values


def own_reference(state: State, scores: np.ndarray, values: np.ndarray) -> State:
    """Each block against its own largest score."""
    _, total, weighted = state
    e = np.exp(scores - scores.max())
    return float(scores.max()), total + float(e.sum()), weighted + e @ values


IDEAS: tuple[tuple[Callable[..., State], str], ...] = (
    (
        own_reference,
        "Each block is measured against its own largest score. The sums so far have another one: correct them.",
    ),
    (
        lambda state, s, v: merged(state, s, v, total_too=False),
        "The weighted sum was corrected, and the total has still the old reference.",
    ),
    (
        lambda state, s, v: merged(state, s, v, sum_too=False),
        "The total was corrected, and the weighted sum has still the old reference.",
    ),
    (turned_round, "The correction goes the wrong way: a larger reference makes old exponentials smaller."),
)


def after(function: Callable[..., State], blocks: Sequence[Block]) -> np.ndarray:
    """The attention of one query to all blocks."""
    state: State = (-math.inf, 0.0, np.zeros(1))
    for scores, values in blocks:
        state = function(state, np.array(scores, float), np.array(values, float)[:, None])
    _, total, weighted = state
    with np.errstate(all="ignore"):
        return np.asarray(weighted / total)


def expected(blocks: Sequence[Block]) -> np.ndarray:
    scores = np.concatenate([np.array(s, float) for s, _ in blocks])
    e = np.exp(scores - scores.max())
    return np.asarray(e @ np.concatenate([np.array(v, float)[:, None] for _, v in blocks]) / e.sum())


def judge(answer: Callable[..., Any], blocks: Sequence[Block], why: str) -> None:
    text = f"merging the blocks of scores {', '.join(str(list(s)) for s, _ in blocks)}"
    try:
        with np.errstate(all="ignore"):
            got = after(answer, blocks)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        raise WrongAnswer(f"{text} raised {type(error).__name__}: {error}", why) from error
    wanted = expected(blocks)
    if got.shape == (1,) and np.allclose(got, wanted, rtol=1e-9):
        return
    with np.errstate(all="ignore"):
        ideas = (told for idea, told in IDEAS if np.allclose(after(idea, blocks), got, rtol=1e-9))
        raise WrongAnswer(f"{text}: weighted / total is {got}, expected {wanted}", next(ideas, why))


@ONLINE_SOFTMAX.case("one block", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "Return three: the largest score, the sum of exp(score - largest), and the same sum times values."
    judge(answer, [([0.0, 1.0], [10.0, 20.0])], why)


@ONLINE_SOFTMAX.case("a larger score comes later", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [([0.0, 1.0], [10.0, 20.0]), ([3.0, 2.0], [5.0, 1.0])], "What was the old reference?")
    judge(answer, [([3.0, 2.0], [5.0, 1.0]), ([0.0, 1.0], [10.0, 20.0])], "The largest may be an old one.")


@ONLINE_SOFTMAX.case("many blocks", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    generator = np.random.default_rng(0)
    blocks = [(generator.normal(size=n).round(2).tolist(), generator.normal(size=n).tolist()) for n in (3, 1, 4, 2)]
    judge(answer, blocks, "Each block corrects all that came before.")


@ONLINE_SOFTMAX.case("large scores", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "exp(1000) is infinity. Subtract the largest score before you take the exponential."
    judge(answer, [([1000.0, 999.0], [1.0, 2.0]), ([1001.0], [3.0])], why)
    judge(answer, [([-1000.0, -999.0], [1.0, 2.0])], why)


@ONLINE_SOFTMAX.case("masked blocks", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    masked: Block = ([-math.inf, -math.inf], [7.0, 7.0])
    first: Block = ([1.0, 2.0], [3.0, 4.0])
    judge(answer, [first, masked], "A score of -inf has the exponential 0: it adds nothing.")
    why = "-inf minus -inf is NaN. As long as no score was larger than -inf, there is nothing to correct or to add."
    judge(answer, [masked, first], why)
