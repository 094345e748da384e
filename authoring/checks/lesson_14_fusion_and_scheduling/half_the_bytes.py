"""Exercise 14.2: a program that gets along with half of its bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.tensor import Tensor

from .schedules import planned

HALF_THE_BYTES = Exercise(
    "14.2",
    "half of the bytes",
    answer="glow",
    minutes=12,
    hints=(
        "share is read at two places, so it has to be in memory before the second read. x is there from the beginning.",
        "What is the mirror image of a softmax? Is it the softmax of something?",
        "A row's maximum and sum don't care for the order: x.softmax(1).flip(1) is x.flip(1).softmax(1).",
    ),
)
SECTION = "Side by side"
SIZES = (512, 512)
PAR = 2 * 4 * SIZES[0] * SIZES[1]
LINEAR = "Softmax isn't linear: mirror its argument, and add the two results."


def glow(x: Tensor) -> Tensor:
    """The program as it is given."""
    share = x.softmax(1)
    return share + share.flip(1)


def judge(answer: Callable[..., Any], x: Tensor, why: str) -> None:
    got, expected = outcome(answer, (x,)), glow(x)
    if not isinstance(got, Tensor) or not torch.allclose(got, expected, atol=1e-6):
        raise WrongAnswer(f"glow({x.tolist()}): expected {expected.tolist()}, got {got!r}", why)


@HALF_THE_BYTES.case("the same numbers", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, torch.tensor([[0.0, 1.0, 3.0]]), LINEAR)
    judge(answer, torch.tensor([[0.0, 1.0], [5.0, 3.0]]), "The rows are mirrored, each in itself: flip(1).")
    large = "exp(1000) is infinity in float32. Softmax subtracts each row's maximum first (lesson 12)."
    judge(answer, torch.tensor([[1000.0, 1001.0, 0.0]]), large)


@HALF_THE_BYTES.case("at most half of the bytes", points=3, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, torch.tensor([[0.0, 1.0, 3.0]]), LINEAR)
    found = planned(answer, SIZES)
    if found.bytes_moved > PAR:
        text = f"{found.kernel_count} kernels move {found.bytes_moved:,} bytes, and par is {PAR:,}"
        raise WrongAnswer(text, found.why_not[0].reason + "." if found.why_not else "Look at the schedule.")
